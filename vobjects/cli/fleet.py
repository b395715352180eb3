# SPDX-License-Identifier: Apache-2.0
"""Describe ``vobjects fleet``: show the live processes and their versions.

A server responds, over the transport that the configuration names. Its service
is declared by a :class:`vobjects.service.Service`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from vobjects.cli import arguments, output, settings, stored
from vobjects.cli.parser import Command, Parser, late, whole_number

#: Number of processes that ``list`` shows, and the largest ``--limit``.
LISTED, MAX_LISTED = 100, 10_000

_run = late('vobjects.cli.fleet_commands', 'run')


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects fleet',
        description='Show the live processes and the versions that they'
        ' support.',
        notes='Exit codes: 0 success; 1 no server responds; 2 invalid'
        ' arguments or configuration.',
    )
    parser.add_commands(_COMMANDS)
    return parser


#: The command ``vobjects fleet``.
main = Command(_parser)


# Arguments


def _command(
    name: str,
    more: str = '',
    *,
    examples: Sequence[str],
    add_arguments: Callable[[Parser], None] = lambda parser: None,
    is_local: bool = False,
    default: str = output.TABLE,
) -> Callable[[Parser], None]:
    """Return a function that configures the parser of a command.

    :param is_local: whether the command needs no running service
    """

    def configure(parser: Parser) -> None:
        parser.describe(more, examples=examples)
        parser.set_defaults(run=functools.partial(_run, name))
        add_arguments(parser)
        output.add_option(parser, default=default)
        arguments.add_service(parser)
        if not is_local:
            settings.add_options(parser)

    return configure


def _add_limit(parser: Parser) -> None:
    parser.add_argument(
        '--limit',
        type=whole_number(1, MAX_LISTED),
        default=LISTED,
        metavar='N',
        help='list at most N processes, those with the oldest heartbeats'
        ' (default: %(default)s)',
    )


def _add_type(parser: Parser) -> None:
    parser.add_argument(
        'type',
        nargs='?',
        metavar='TYPE',
        help='show only the versions of this type',
    )


def _add_origin(parser: Parser) -> None:
    parser.add_argument(
        '--owner',
        metavar='NAME',
        help='who holds the versions, for the other operators (default: your'
        ' login name and this host)',
    )
    parser.add_argument(
        '--reason',
        metavar='TEXT',
        default='',
        help='why, for the other operators',
    )


def _configure_can_roll_back(parser: Parser) -> None:
    parser.describe(
        'The release is one of the schema lock. The command reads what the'
        ' service has stored. Messages do not stand in the way: a server that'
        ' joins lowers the versions in use.',
        notes='Exit codes: 0 yes; 1 no, or not known because rows were not'
        ' read; 2 invalid arguments or configuration.',
        examples=['vobjects fleet can-roll-back 1.0.0'],
    )
    parser.set_defaults(
        run=late('vobjects.cli.fleet_commands', 'can_roll_back')
    )
    parser.add_argument(
        'release', metavar='RELEASE', help='the release to go back to'
    )
    stored.add_options(parser)
    output.add_option(parser)
    arguments.add_service(parser)
    settings.add_options(parser)


def _add_microversion(parser: Parser) -> None:
    parser.add_argument(
        'microversion',
        nargs='?',
        metavar='MICROVERSION',
        help='print only the versions of this microversion of the API, such'
        ' as 1.7 (default: the newest versions)',
    )


_COMMANDS = {
    'list': (
        'list the live processes, and the highest microversion they support',
        _command(
            'list',
            examples=['vobjects fleet list -o json'],
            add_arguments=_add_limit,
        ),
    ),
    'explain': (
        'explain why microversions are not served, and name the processes',
        _command(
            'explain',
            examples=[
                'vobjects fleet explain',
                'vobjects fleet explain ClusterDeleteRequest',
            ],
            add_arguments=_add_type,
        ),
    ),
    'hold': (
        'keep the object versions in use from rising',
        _command(
            'hold',
            'Use a hold while you may have to roll back an upgrade: processes'
            ' send and store nothing in a version that the older release'
            ' cannot read.',
            examples=[
                'vobjects fleet hold --reason "2.0 is under test"',
            ],
            add_arguments=_add_origin,
        ),
    ),
    'finalize': (
        'end a hold: the versions in use follow the live processes again',
        _command('finalize', examples=['vobjects fleet finalize']),
    ),
    'can-roll-back': (
        'tell whether an older release can read what is stored',
        _configure_can_roll_back,
    ),
    'manifest': (
        'print the manifest of this build, without contacting a server',
        _command(
            'manifest',
            '"vobjects engine --manifest" and the option "engine" of'
            ' [upgrade_levels] read the JSON form.',
            examples=['vobjects fleet manifest 1.7 > old.json'],
            add_arguments=_add_microversion,
            is_local=True,
            default=output.JSON,
        ),
    ),
}
