# SPDX-License-Identifier: Apache-2.0
"""Describe ``vobjects fleet``: show the live processes and their versions.

A server responds, over the transport that the configuration names. Its service
is declared by a :class:`vobjects.service.Service`.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata

from vobjects import exceptions
from vobjects.cli import arguments, output, settings
from vobjects.cli.parser import (
    Command,
    Parser,
    Run,
    configured,
    late,
    whole_number,
)

#: Number of processes that ``list`` shows, and the largest ``--limit``.
LISTED, MAX_LISTED = 100, 10_000

#: Entry points of the subcommands that another distribution runs: each refers
#: to a function of the parsed arguments that returns the exit code.
GROUP = 'vobjects.fleet_commands'

_run = late('vobjects.cli.fleet_commands', 'run')


def _can_roll_back(options: argparse.Namespace) -> int:
    for point in importlib.metadata.entry_points(
        group=GROUP, name='can-roll-back'
    ):
        run: Run = point.load()
        return run(options)
    raise exceptions.VobjectsError(
        'can-roll-back reads the database of the service; install what it'
        ' needs with "pip install vobjects-sql"'
    )


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

#: Arguments of each command that needs a running service.
_ALL = (output.add_option, arguments.add_service, settings.add_options)


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


def _add_release(parser: Parser) -> None:
    parser.add_argument(
        'release', metavar='RELEASE', help='the release to go back to'
    )


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
        configured(
            functools.partial(_run, 'list'),
            _add_limit,
            *_ALL,
            examples=['vobjects fleet list -o json'],
        ),
    ),
    'explain': (
        'explain why microversions are not served, and name the processes',
        configured(
            functools.partial(_run, 'explain'),
            _add_type,
            *_ALL,
            examples=[
                'vobjects fleet explain',
                'vobjects fleet explain ClusterDeleteRequest',
            ],
        ),
    ),
    'hold': (
        'keep the object versions in use from rising',
        configured(
            functools.partial(_run, 'hold'),
            _add_origin,
            *_ALL,
            more='Use a hold while you may have to roll back an upgrade:'
            ' processes send and store nothing in a version that the older'
            ' release cannot read.',
            examples=[
                'vobjects fleet hold --reason "2.0 is under test"',
            ],
        ),
    ),
    'finalize': (
        'end a hold: the versions in use follow the live processes again',
        configured(
            functools.partial(_run, 'finalize'),
            *_ALL,
            examples=['vobjects fleet finalize'],
        ),
    ),
    'can-roll-back': (
        'tell whether an older release can read what is stored',
        configured(
            _can_roll_back,
            _add_release,
            arguments.add_database,
            *_ALL,
            more='The release is one of the schema lock. The command reads'
            ' what the service has stored. Messages do not stand in the way:'
            ' a server that joins lowers the versions in use.',
            notes='Exit codes: 0 yes; 1 no, or not known because rows were'
            ' not read; 2 invalid arguments or configuration.',
            examples=['vobjects fleet can-roll-back 1.0.0'],
        ),
    ),
    'manifest': (
        'print the manifest of this build, without contacting a server',
        configured(
            functools.partial(_run, 'manifest'),
            _add_microversion,
            functools.partial(output.add_option, default=output.JSON),
            arguments.add_service,
            more='"vobjects engine --manifest" and the option "engine" of'
            ' [upgrade_levels] read the JSON form.',
            examples=['vobjects fleet manifest 1.7 > old.json'],
        ),
    ),
}
