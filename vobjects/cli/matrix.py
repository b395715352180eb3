# SPDX-License-Identifier: Apache-2.0
"""``vobjects matrix``: every microversion with every release in the lock."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import pathlib

from vobjects import exceptions
from vobjects.lock import parse, shipped, sources
from vobjects.versions import Version

DEFAULT_SERVICE = 'clustering'


def main(argv: list[str]) -> int:
    """Run ``vobjects matrix``.

    :param argv: the arguments after ``matrix``
    :returns: 0; 1 when something that is offered does not arrive
    :raises vobjects.exceptions.VobjectsError: for what the caller can mend
    :raises SystemExit: from argparse
    """
    parser = _parser()
    options = parser.parse_args(argv)
    if options.old or options.new or options.imports:
        if not (options.old and options.new and options.imports):
            parser.error('--old, --new and --import go together')
        return _versus(options)
    lock = (
        parse.load(options.file)
        if options.file
        else shipped.lock_of(options.service)
    )
    sources.load(lock, options.file or sources.DEFAULT)
    from vobjects.testing import matrix, page

    cells = list(matrix.matrix(lock, _microversions(options.service)))
    if options.html:
        title = f'Microversions and releases of {options.service}'
        options.html.write_text(page.page(title, cells))
        print(f'{options.html}: {len(cells)} cells')
    else:
        for line in matrix.as_text(cells):
            print(line)
    return 1 if any(cell.outcome == 'broken' for cell in cells) else 0


def _versus(options: argparse.Namespace) -> int:
    from vobjects.testing import versus

    passages = versus.versus(options.old, options.new, options.imports)
    for line in versus.as_text(passages):
        print(line)
    return 1 if any(one.outcome != 'fine' for one in passages) else 0


def _microversions(service: str) -> list[Version]:
    """Return the microversions of a service, oldest first.

    :raises vobjects.exceptions.VobjectsError: there is no such service
    """
    for point in importlib.metadata.entry_points(group=shipped.GROUP):
        if point.name == service:
            history = importlib.import_module(f'{point.module}.history')
            return [Version.parse(text) for text in history.HISTORY]
    raise exceptions.VobjectsError(
        f'no service {exceptions.cut(service)} is installed'
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects matrix',
        description='Try every microversion of the API with an engine of'
        ' every release in the lock: exit code 1 if something that is'
        ' offered does not arrive. With --old and --new: send every type of'
        ' any service on oslo.versionedobjects between two installed'
        ' releases of it.',
    )
    for name, summary in (
        ('old', 'a virtual environment with the older release'),
        ('new', 'a virtual environment with the newer release'),
    ):
        parser.add_argument(
            f'--{name}', type=pathlib.Path, metavar='ENV', help=summary
        )
    parser.add_argument(
        '--import',
        dest='imports',
        action='append',
        metavar='IMPORT',
        help='what registers the types in both: MODULE, MODULE:CALLABLE or'
        ' PACKAGE.*, for example nova.objects:register_all; may be repeated',
    )
    parser.add_argument(
        '--service',
        default=DEFAULT_SERVICE,
        metavar='NAME',
        help=f'an entry point of {shipped.GROUP} (default: %(default)s)',
    )
    parser.add_argument(
        '--file',
        type=pathlib.Path,
        metavar='FILE',
        help='a lock (default: the one that the service is installed with)',
    )
    parser.add_argument(
        '--html',
        type=pathlib.Path,
        metavar='FILE',
        help='write a page instead of printing a table',
    )
    return parser
