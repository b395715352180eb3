# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects matrix``: try every microversion and release."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import sys
from typing import Any

from vobjects import exceptions
from vobjects import service as services
from vobjects.cli import arguments, output, terminal
from vobjects.cli.parser import Command, Parser
from vobjects.lock import installed_locks, lock_names, parse
from vobjects.versions import Version

#: A line of the table: a microversion, and its outcome with each release.
_ROW = re.compile(r'[0-9]+\.[0-9]+ +(served|refused|broken)')

#: Outcome of a microversion with a release -> style.
_STYLES = {'served': 'good', 'refused': 'warning', 'broken': 'bad'}


def _run(options: argparse.Namespace) -> int:
    if options.old or options.new or options.imports:
        if not (options.old and options.new and options.imports):
            raise exceptions.VobjectsError(
                'use --old, --new and --import together'
            )
        return _transfer(options)
    service = options.service or services.only()
    lock = (
        parse.load(options.file)
        if options.file
        else installed_locks.of_service(service)
    )
    lock_names.load(lock, options.file or parse.DEFAULT_PATH)
    from vobjects.testing import matrix, matrix_page

    microversions = _microversions(service)
    cells = []
    total = len(lock.releases) * len(microversions)
    with terminal.Progress('testing microversions', total) as progress:
        for cell in matrix.matrix(lock, microversions):
            cells.append(cell)
            progress.advance(detail=f'{cell.microversion}, {cell.release}')
    if options.html:
        title = f'Microversions and releases of {service}'
        options.html.write_text(matrix_page.render(title, cells))
        print(f'{options.html}: {len(cells)} cells')
    else:
        data = {
            'service': service,
            'cells': [_cell_data(cell) for cell in cells],
        }
        output.show(
            options, data, [f'service {service}', *_lines(matrix, cells)]
        )
    return 1 if any(cell.outcome == 'broken' for cell in cells) else 0


def _lines(matrix: Any, cells: list[Any]) -> list[str]:
    """Return the matrix as text, with coloured outcomes."""
    screen = terminal.Terminal(sys.stdout)
    lines = []
    for line in matrix.as_text(cells):
        if _ROW.match(line):
            for outcome, style in _STYLES.items():
                line = line.replace(outcome, screen.styled(style, outcome))
        lines.append(line)
    return lines


def _cell_data(cell: Any) -> dict[str, Any]:
    return {**dataclasses.asdict(cell), 'microversion': str(cell.microversion)}


def _transfer(options: argparse.Namespace) -> int:
    from vobjects.testing import cross_release, matrix_page

    with terminal.Progress('transferring types') as progress:
        transfers = cross_release.transfer_all(
            options.old,
            options.new,
            options.imports,
            options.convert,
            lambda transfer: progress.advance(detail=transfer.type_name),
        )
    if options.html:
        title = f'Transfers between {options.old.name} and {options.new.name}'
        options.html.write_text(matrix_page.render_transfers(title, transfers))
        print(f'{options.html}: {len(transfers)} transfers')
    else:
        output.show(
            options,
            [dataclasses.asdict(transfer) for transfer in transfers],
            cross_release.as_text(transfers),
        )
    return 1 if any(item.severity != 'note' for item in transfers) else 0


def _microversions(service: str) -> list[Version]:
    """Return the microversions of a service, oldest first.

    :raises vobjects.exceptions.VobjectsError: the service is not installed
    """
    return list(map(Version.parse, services.find(service).history))


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects matrix',
        description='Test every microversion of the API with an engine of'
        ' every release in the lock.',
        notes="""
With --old and --new, transfer every type of a service that uses
oslo.versionedobjects between two installed releases of the service.

Exit codes: 0 all data arrives; 1 data that the API offers, or that one release
sends to another, does not arrive; 2 invalid arguments.
""",
        examples=[
            'vobjects matrix --html matrix.html',
            'vobjects matrix --old venvs/1.0 --new venvs/1.1 --import shop',
        ],
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
    arguments.add_service(parser)
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
    output.add_option(parser)
    parser.set_defaults(run=_run)
    return parser


#: The command ``vobjects matrix``.
main = Command(_parser)
