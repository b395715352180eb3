# SPDX-License-Identifier: Apache-2.0
"""Find a command and run it.

A command is an entry point of the group ``vobjects.commands``. It refers to a
function ``(argv: list[str]) -> int`` that receives the arguments after the
command's name and returns the exit code: 0 success, 1 failure, 2 bad input.
Listing the commands imports none of them.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
from collections.abc import Callable, Mapping, Sequence

from vobjects import exceptions, suggestions

GROUP = 'vobjects.commands'

BAD_INPUT = 2
FAILED = 1
INTERRUPTED = 130

#: Entry points that name a mapping of command -> one line of help, in the
#: order of `vobjects --help`. Commands without such a line follow.
SUMMARIES_GROUP = 'vobjects.summaries'

#: The commands of this library.
SUMMARIES: Mapping[str, str] = {
    'fleet': 'show live processes and their versions; hold or finalize',
    'lock': 'record released versions, and compare the code with them',
    'diff': 'show the changes between two releases, and breaking ones',
    'history': 'show the versions of a type',
    'matrix': 'test every microversion with every release',
}

#: Errors whose message is sufficient, without a traceback: module, class and
#: exit code. The first match counts.
_EXPLAINED = (
    ('vobjects.exceptions', 'FleetError', FAILED),
    ('vobjects.exceptions', 'Unreachable', FAILED),
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

Command = Callable[[list[str]], int]
Commands = Mapping[str, importlib.metadata.EntryPoint]


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``vobjects COMMAND ARGUMENT...``.

    :param argv: arguments without the program's name; None: those of this
        process
    :returns: the exit code
    :raises SystemExit: raised by argparse, with the exit code
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    commands = _commands()
    parser = _parser(commands)
    if arguments[:1] == ['help']:
        arguments = [*arguments[1:2], '--help']
    options, rest = parser.parse_known_args(arguments[:1])
    if rest:
        parser.error(f'unknown option {rest[0]!r}')
    if options.command is None:
        parser.print_help(sys.stderr)
        return BAD_INPUT
    if options.command not in commands:
        parser.error(_unknown(options.command, commands))
    return _run(options.command, commands, arguments[1:])


def _commands() -> Commands:
    points = importlib.metadata.entry_points(group=GROUP)
    return {point.name: point for point in points}


def _parser(commands: Commands) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects',
        usage='vobjects [--help | --version] COMMAND [ARGUMENT ...]',
        description=(
            'API microversions and versioned RPC objects from one declaration.'
        ),
        epilog=_listing(commands),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        '--version',
        action='version',
        version=f'vobjects {importlib.metadata.version("vobjects")}',
    )
    parser.add_argument('command', nargs='?', help=argparse.SUPPRESS)
    return parser


def _listing(commands: Commands) -> str:
    summaries: dict[str, str] = {}
    for point in importlib.metadata.entry_points(group=SUMMARIES_GROUP):
        summaries.update(point.load())
    summaries.update(SUMMARIES)
    described = [name for name in summaries if name in commands]
    others = sorted(set(commands) - set(described))
    lines = [f'  {name:<8} {summaries[name]}' for name in described]
    lines += [f'  {name:<8} from {commands[name].value}' for name in others]
    return '\n'.join(
        [
            'commands:',
            *lines,
            '',
            "'vobjects COMMAND --help' describes a command.",
        ]
    )


def _unknown(name: str, commands: Commands) -> str:
    near = suggestions.nearest(name, commands)
    advice = f'did you mean {near!r}?' if near else 'see vobjects --help'
    return f'unknown command {exceptions.cut(name)}; {advice}'


def _run(name: str, commands: Commands, argv: list[str]) -> int:
    try:
        command: Command = commands[name].load()
        return command(argv)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, closed the pipe. Without this, Python's
        # own flush at exit would raise the error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        code = _code_of(error)
        if code is None:
            raise
        print(f'vobjects {name}: {_first_line(error)}', file=sys.stderr)
        return code


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


def _first_line(error: Exception) -> str:
    """Return an error's message without the advice that libraries append."""
    return next(iter(str(error).splitlines()), '') or type(error).__name__
