# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects matrix``: try every microversion and release."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any

from vobjects import service as services
from vobjects.cli import arguments, output, terminal
from vobjects.cli.parser import Command, Parser
from vobjects.versions import Version

#: Outcome of a microversion with a release -> style.
_STYLES = {'served': 'good', 'refused': 'warning', 'broken': 'bad'}


def _run(options: argparse.Namespace) -> int:
    # Imported here, so that the help does not need them.
    from vobjects.lock import (
        installed_locks,
        lock_names,
        losses,
        parse,
        snapshot,
    )
    from vobjects_testing import matrix

    service = options.service or services.only()
    lock = (
        parse.load(options.file)
        if options.file
        else installed_locks.of_service(service)
    )
    lock_names.load(lock, options.file or parse.DEFAULT_PATH)
    microversions = _microversions(service)
    cells = []
    total = len(lock.releases) * len(microversions)
    with terminal.Progress('testing microversions', total) as progress:
        for cell in matrix.matrix(lock, microversions):
            cells.append(cell)
            progress.advance(detail=f'{cell.microversion}, {cell.release}')
    opaque = [*losses.opaque(snapshot.snapshot(lock.imports, lock))]
    data = {
        'service': service,
        'cells': [_cell_data(cell) for cell in cells],
        'opaque': opaque,
    }
    lines = [f'service {service}', *_lines(cells)]
    output.show(
        options, data, [*lines, *filter(None, [losses.opaque_text(opaque)])]
    )
    return 1 if any(cell.outcome == 'broken' for cell in cells) else 0


def _lines(cells: list[Any]) -> Iterator[str]:
    """Yield a table with coloured outcomes, then the details of the cells."""
    releases: dict[str, dict[Version, str]] = {}
    for cell in cells:
        releases.setdefault(cell.release, {})[cell.microversion] = cell.outcome
    rows = [
        (
            microversion,
            *(outcomes[microversion] for outcomes in releases.values()),
        )
        for microversion in sorted({cell.microversion for cell in cells})
    ]
    yield from output.table(
        ('microversion', *releases), rows, right=releases, styles=_STYLES
    )
    for cell in cells:
        for note in cell.details:
            yield f'{cell.release} at {cell.microversion}: {note}'


def _cell_data(cell: Any) -> dict[str, Any]:
    return {**dataclasses.asdict(cell), 'microversion': str(cell.microversion)}


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
        notes='Exit codes: 0 all data arrives; 1 data that the API offers does'
        ' not arrive; 2 invalid arguments.',
        examples=['vobjects matrix'],
    )
    arguments.add_service(parser)
    parser.add_argument(
        '--file',
        type=pathlib.Path,
        metavar='FILE',
        help='lock file (default: the one installed with the service)',
    )
    output.add_option(parser)
    parser.set_defaults(run=_run)
    return parser


#: The command ``vobjects matrix``.
main = Command(_parser)
