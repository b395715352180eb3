# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects transfers``: send objects between two releases."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib

from vobjects.cli import output, terminal
from vobjects.cli.parser import Command, Parser


def _run(options: argparse.Namespace) -> int:
    # Imported here: the help and the completion need none of its modules.
    from vobjects_releases import transfers

    with terminal.Progress('transferring types') as progress:
        results = transfers.transfer_all(
            options.old,
            options.new,
            options.imports,
            options.convert,
            lambda transfer: progress.advance(detail=transfer.type_name),
        )
    output.show(
        options,
        [dataclasses.asdict(transfer) for transfer in results],
        transfers.as_text(results),
    )
    return 1 if any(item.severity != 'note' for item in results) else 0


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects transfers',
        description='Send an object of every type between two installed'
        ' releases of a service, in both directions.',
        notes='The service uses oslo.versionedobjects; it need not use this'
        ' library.\n\n'
        'Exit codes: 0 all data arrives; 1 data that one release sends to the'
        ' other does not arrive; 2 invalid arguments.',
        examples=['vobjects transfers venvs/1.0 venvs/1.1 --import shop'],
    )
    for name, summary in (
        ('old', 'virtual environment with the older release'),
        ('new', 'virtual environment with the newer release'),
    ):
        parser.add_argument(
            name, type=pathlib.Path, metavar=name.upper(), help=summary
        )
    parser.add_argument(
        '--import',
        dest='imports',
        action='append',
        required=True,
        metavar='IMPORT',
        help='code that registers the types in both: MODULE, MODULE:CALLABLE'
        ' or PACKAGE.*, for example nova.objects:register_all; may be'
        ' repeated',
    )
    parser.add_argument(
        '--no-convert',
        dest='convert',
        action='store_false',
        help='send the newest versions, as a service does that never passes a'
        ' target version',
    )
    output.add_option(parser)
    parser.set_defaults(run=_run)
    return parser


#: The command ``vobjects transfers``.
main = Command(_parser)
