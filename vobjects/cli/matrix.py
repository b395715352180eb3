# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects matrix``: try every microversion and release."""

from __future__ import annotations

import argparse
import pathlib

from vobjects import service as services
from vobjects.lock import installed_locks, lock_names, parse
from vobjects.versions import Version


def main(argv: list[str]) -> int:
    """Run ``vobjects matrix``.

    :param argv: the arguments after ``matrix``
    :returns: 0; 1 if data that the API offers, or that one release sends to
        another, does not arrive
    :raises vobjects.exceptions.VobjectsError: an error that the user can fix
    :raises SystemExit: raised by argparse
    """
    parser = _parser()
    options = parser.parse_args(argv)
    if options.old or options.new or options.imports:
        if not (options.old and options.new and options.imports):
            parser.error('use --old, --new and --import together')
        return _transfer(options)
    service = options.service or services.only()
    lock = (
        parse.load(options.file)
        if options.file
        else installed_locks.of_service(service)
    )
    lock_names.load(lock, options.file or parse.DEFAULT_PATH)
    from vobjects.testing import matrix, matrix_page

    cells = list(matrix.matrix(lock, _microversions(service)))
    if options.html:
        title = f'Microversions and releases of {service}'
        options.html.write_text(matrix_page.render(title, cells))
        print(f'{options.html}: {len(cells)} cells')
    else:
        print(f'service {service}')
        for line in matrix.as_text(cells):
            print(line)
    return 1 if any(cell.outcome == 'broken' for cell in cells) else 0


def _transfer(options: argparse.Namespace) -> int:
    from vobjects.testing import cross_release, matrix_page

    transfers = cross_release.transfer_all(
        options.old, options.new, options.imports, options.convert
    )
    if options.html:
        title = f'Transfers between {options.old.name} and {options.new.name}'
        options.html.write_text(matrix_page.render_transfers(title, transfers))
        print(f'{options.html}: {len(transfers)} transfers')
    else:
        for line in cross_release.as_text(transfers):
            print(line)
    return 1 if any(item.severity != 'note' for item in transfers) else 0


def _microversions(service: str) -> list[Version]:
    """Return the microversions of a service, oldest first.

    :raises vobjects.exceptions.VobjectsError: the service is not installed
    """
    return list(map(Version.parse, services.find(service).history))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects matrix',
        description='Test every microversion of the API with an engine of'
        ' every release in the lock. The exit code is 1 if data that a'
        ' microversion offers does not arrive. With --old and --new, transfer'
        ' every type of a service that uses oslo.versionedobjects between two'
        ' installed releases of the service.',
    )
    for name, summary in (
        ('old', 'virtual environment with the older release'),
        ('new', 'virtual environment with the newer release'),
    ):
        parser.add_argument(
            f'--{name}', type=pathlib.Path, metavar='ENV', help=summary
        )
    parser.add_argument(
        '--import',
        dest='imports',
        action='append',
        metavar='IMPORT',
        help='code that registers the types in both: MODULE, MODULE:CALLABLE'
        ' or PACKAGE.*, for example nova.objects:register_all; may be'
        ' repeated',
    )
    parser.add_argument(
        '--no-convert',
        dest='convert',
        action='store_false',
        help='with --old and --new: send the newest versions, as a service'
        ' does that never passes a target version',
    )
    parser.add_argument(
        '--service',
        metavar='NAME',
        help=f'an entry point of {services.GROUP}'
        ' (default: the only one that is installed)',
    )
    parser.add_argument(
        '--file',
        type=pathlib.Path,
        metavar='FILE',
        help='lock file (default: the one installed with the service)',
    )
    parser.add_argument(
        '--html',
        type=pathlib.Path,
        metavar='FILE',
        help='write an HTML page instead of printing a table',
    )
    return parser
