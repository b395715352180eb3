# SPDX-License-Identifier: Apache-2.0
"""Describe ``vobjects lock``, ``vobjects diff`` and ``vobjects history``.

Exit codes: 0 no findings, 1 findings, 2 bad input.
"""

from __future__ import annotations

import functools
import pathlib

from vobjects.cli import completion, output
from vobjects.cli.parser import Command, Parser, configured, late
from vobjects.lock import parse
from vobjects.lock.rules import DIRECTIONS

_add_format = functools.partial(
    output.add_option, formats=(*output.FORMATS, 'github')
)

#: The names of locks, see vobjects.lock.lock_names.
_SOURCES = """\
  tree        the code that the lock file imports
  PATH        a lock file
  RELEASE     the lock file, as of one of its releases
  REVISION    the lock file, as of a git revision of its repository
  IMPORT      an installed package: MODULE or MODULE:CALLABLE

The first match in this order is used.
B defaults to the code."""

_late = functools.partial(late, 'vobjects.cli.lock_commands')


# Arguments


def _add_file(parser: Parser) -> None:
    parser.add_argument(
        '--file',
        type=pathlib.Path,
        default=parse.DEFAULT_PATH,
        metavar='FILE',
        help='lock file (default: %(default)s in the working directory)',
    )


def _add_imports(parser: Parser) -> None:
    parser.add_argument(
        '--import',
        dest='imports',
        action='append',
        required=True,
        metavar='IMPORT',
        help='code that registers the types: MODULE, MODULE:CALLABLE or'
        ' PACKAGE.*, for example nova.objects:register_all; may be repeated',
    )


def _add_release(parser: Parser) -> None:
    parser.add_argument(
        'name', metavar='NAME', help='name of the release, for example 1.2.0'
    )
    parser.add_argument(
        '--again',
        action='store_true',
        help='freeze the newest release again, if it is not published yet',
    )


def _add_write(parser: Parser) -> None:
    parser.add_argument(
        '--write',
        action='store_true',
        help='change the source code; without it, the command prints the'
        ' difference',
    )


def _add_below(parser: Parser) -> None:
    parser.add_argument(
        '--below',
        metavar='MICROVERSION',
        required=True,
        help='the new minimum microversion of the API',
    )
    parser.add_argument(
        '--metrics',
        type=pathlib.Path,
        metavar='FILE',
        help='the response of an API to GET /metrics: name the clients that'
        ' use older microversions',
    )


_COMMANDS = {
    'init': (
        'write a lock of the types that are registered now',
        configured(
            _late('init_lock'),
            _add_file,
            _add_imports,
            examples=['vobjects lock init --import shop.objects:register_all'],
        ),
    ),
    'check': (
        'compare the code with the lock',
        configured(
            _late('check_code'),
            _add_file,
            _add_format,
            more='The exit code is 1 if a check fails.',
            examples=[
                'vobjects lock check',
                'vobjects lock check -o github  # annotations, for CI',
            ],
        ),
    ),
    'update': (
        'record the versions in the code that no release has frozen',
        configured(
            _late('update_lock'),
            _add_file,
            examples=['vobjects lock update'],
        ),
    ),
    'release': (
        'update the lock, and freeze all versions under the name of a release',
        configured(
            _late('release_lock'),
            _add_file,
            _add_release,
            examples=['vobjects lock release 1.2.0'],
        ),
    ),
    'drop': (
        'drop the versions that only older microversions need, in the source'
        ' code',
        configured(
            _late('drop_versions'),
            _add_file,
            _add_below,
            _add_write,
            more='The command folds the history of types, removes old entries'
            ' of version maps, and removes the versions from the lock.',
            examples=[
                'vobjects lock drop --below 1.5',
                'vobjects lock drop --below 1.5 --metrics metrics.txt --write',
            ],
        ),
    ),
    'rules': (
        'list the rules that the checks apply',
        configured(
            _late('list_rules'),
            output.add_option,
            examples=['vobjects lock rules -o json'],
        ),
    ),
}


# The parsers


def _lock_parser() -> Parser:
    parser = Parser(
        prog='vobjects lock',
        description='Keep a record of every released version of every type,'
        ' and compare the code with it.',
        notes='The checks cover four cases:'
        f' {"; ".join(DIRECTIONS.values())}.\n\n'
        'Exit codes: 0 no findings; 1 findings; 2 invalid arguments.',
    )
    parser.add_commands(_COMMANDS)
    return parser


def _diff_parser() -> Parser:
    parser = Parser(
        prog='vobjects diff',
        description='Show the changes from A to B and the peers that they'
        ' break.',
        notes=f'A and B are one of:\n\n{_SOURCES}\n\n'
        'The exit code is 1 if no conversion covers a breaking change.',
        examples=[
            'vobjects diff HEAD~5  # and the code',
            'vobjects diff 0.1.0 tree -o json',
        ],
    )
    parser.add_argument('old', metavar='A', help='old side of the comparison')
    parser.add_argument(
        'new',
        metavar='B',
        nargs='?',
        default='tree',
        help='new side of the comparison (default: the code)',
    )
    _add_file(parser)
    _add_format(parser)
    parser.set_defaults(run=_late('diff_locks'))
    return parser


def _history_parser() -> Parser:
    parser = Parser(
        prog='vobjects history',
        description='Show the versions of a type in the lock, and their'
        ' differences.',
        examples=['vobjects history ClusterDeleteRequest'],
    )
    completion.offer(
        parser.add_argument(
            'type', metavar='TYPE', help='name of a type in the lock'
        ),
        lambda: parse.load(parse.DEFAULT_PATH).types,
    )
    _add_file(parser)
    output.add_option(parser)
    parser.set_defaults(run=_late('show_history'))
    return parser


#: The commands ``vobjects lock``, ``vobjects diff`` and ``vobjects history``.
main = Command(_lock_parser)
diff = Command(_diff_parser)
history = Command(_history_parser)
