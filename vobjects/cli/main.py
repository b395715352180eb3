# SPDX-License-Identifier: Apache-2.0
"""Find a command and run it.

A command is an entry point of the group ``vobjects.commands``. It refers to a
:class:`vobjects.cli.parser.Command`, or to a function ``(argv: list[str]) ->
int`` that receives the arguments after the command's name and returns the exit
code. Listing the commands imports none of them.

Exit codes: 0 success, 1 failure or findings, 2 bad input, 130 interrupted by
Ctrl-C, 141 the reader of a pipe stopped; others as the help of a command
states.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
from collections.abc import Callable, Mapping, Sequence

from vobjects import exceptions, suggestions
from vobjects.cli import parser as parsers
from vobjects.cli.parser import Parser

GROUP = 'vobjects.commands'

BAD_INPUT = 2
FAILED = 1
INTERRUPTED = 130
#: As a shell reports a process that SIGPIPE ended: 128 + 13.
PIPE_CLOSED = 141

#: Entry points that name a mapping of command -> one line of help, in the
#: order of `vobjects --help`. Commands without such a line follow.
SUMMARIES_GROUP = 'vobjects.summaries'

#: The commands of this library.
SUMMARIES: Mapping[str, str] = {
    'fleet': 'show live processes and their versions; hold or finalize',
    'lock': 'record released versions, and compare the code with them',
    'diff': 'show the changes between two releases, and breaking ones',
    'history': 'show the versions of a type',
    'completion': 'print a script that completes commands in your shell',
}

#: Errors whose message is sufficient, without a traceback: module, class and
#: exit code. The first match counts.
_EXPLAINED = (
    ('vobjects.exceptions', 'FleetError', FAILED),
    ('vobjects.exceptions', 'Unreachable', FAILED),
    ('vobjects.lock.edit', 'ReleasedVersionChanged', FAILED),
    ('vobjects.exceptions', 'VobjectsError', BAD_INPUT),
    ('oslo_config.cfg', 'Error', BAD_INPUT),
    ('oslo_config.cfg', 'ConfigFileValueError', BAD_INPUT),
    ('oslo_messaging', 'InvalidTransportURL', BAD_INPUT),
    ('oslo_messaging', 'DriverLoadFailure', BAD_INPUT),
    ('oslo_messaging', 'MessagingException', FAILED),
    ('sqlalchemy.exc', 'ArgumentError', BAD_INPUT),
    ('sqlalchemy.exc', 'SQLAlchemyError', FAILED),
    ('oslo_db.exception', 'DBError', FAILED),
    ('builtins', 'IsADirectoryError', BAD_INPUT),
    ('builtins', 'OSError', FAILED),
)

#: Commands of other distributions -> the distribution.
_ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(
        ('up', 'api', 'engine', 'db', 'queue', 'config'), 'vobjects-clustering'
    ),
    'contract': 'vobjects-contract',
    **dict.fromkeys(('releases', 'transfers'), 'vobjects-releases'),
    'matrix': 'vobjects-testing',
    'stored': 'vobjects-sql',
}

Command = Callable[[list[str]], int]
CommandPoints = Mapping[str, importlib.metadata.EntryPoint]

#: Environment variable that asks for completions of a command line.
COMPLETION = '_ARGCOMPLETE'


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``vobjects COMMAND ARGUMENT...``.

    :param argv: arguments without the program's name; None: those of this
        process
    :returns: the exit code
    :raises SystemExit: raised by argparse, with the exit code
    :raises KeyboardInterrupt: by Ctrl-C; :mod:`vobjects.__main__` handles it
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if COMPLETION in os.environ:
            # Imported here, because it imports the library that completes.
            from vobjects.cli import completion

            completion.complete(root_parser(), command_points())
        if arguments[:1] == ['help']:
            arguments = [*arguments[1:], '--help']
        try:
            return _run(arguments)
        finally:
            # Here, also after --help, so that an error of the reader is not
            # reported at exit.
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, closed the pipe. Without this, Python's
        # own flush at exit would raise the error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:
        code_of_error = _code_of(error)
        if code_of_error is None:
            raise
        command = ' '.join(['vobjects', *arguments[:1]])
        # Without the advice that libraries append.
        line = str(error).partition('\n')[0] or type(error).__name__
        print(f'{command}: {line}', file=sys.stderr)
        return code_of_error


def _run(arguments: list[str]) -> int:
    parser = root_parser()
    options, _ = parser.parse_known_args(arguments[:1])
    if options.command is None:
        parser.print_help(sys.stderr)
        return BAD_INPUT
    commands = command_points()
    if options.command not in commands:
        parser.error(_unknown(options.command, commands))
    command: Command = commands[options.command].load()
    return command(arguments[1:])


def command_points() -> CommandPoints:
    """Return the entry points of the installed commands, by name."""
    points = importlib.metadata.entry_points(group=GROUP)
    return {point.name: point for point in points}


def root_parser() -> Parser:
    """Return the parser of ``vobjects`` itself, which lists the commands."""
    parser = Parser(
        prog='vobjects',
        usage='vobjects [--help | --version] COMMAND [ARGUMENT ...]',
        description=(
            'API microversions and versioned RPC objects from one declaration.'
        ),
        notes="'vobjects COMMAND --help' describes a command.",
    )
    parser.add_argument(
        '--version',
        action='version',
        version=f'vobjects {importlib.metadata.version("vobjects")}',
        help='print the version, and exit',
    )
    parser.add_argument('command', nargs='?', help=argparse.SUPPRESS)
    parser.summaries = _summaries()
    return parser


def _summaries() -> dict[str, str]:
    commands = command_points()
    summaries: dict[str, str] = {}
    for point in importlib.metadata.entry_points(group=SUMMARIES_GROUP):
        summaries.update(point.load())
    summaries.update(SUMMARIES)
    described = [name for name in summaries if name in commands]
    others = sorted(set(commands) - set(described))
    return {name: summaries[name] for name in described} | {
        name: f'from {commands[name].value}' for name in others
    }


def _unknown(name: str, commands: CommandPoints) -> str:
    if distribution := _ELSEWHERE.get(name):
        return (
            f'{name!r} is a command of {distribution}; install it with "pip'
            f' install {distribution}"'
        )
    found = [
        f'{command} {name}'
        for command, point in sorted(commands.items())
        if isinstance(loaded := point.load(), parsers.Command)
        and name in loaded.parser().commands
    ]
    if not found and (near := suggestions.nearest(name, commands)):
        found = [near]
    advice = (
        f'did you mean {" or ".join(map(repr, found))}?'
        if found
        else 'see vobjects --help'
    )
    return f'unknown command {exceptions.cut(name)}; {advice}'


def _code_of(error: Exception) -> int | None:
    """Return the exit code of an error that explains itself.

    :returns: None for an unexpected error, which needs its traceback
    """
    for module, name, code in _EXPLAINED:
        # An error of a module that was never imported cannot occur.
        cls = getattr(sys.modules.get(module), name, None)
        if cls is not None and isinstance(error, cls):
            return code
    return None
