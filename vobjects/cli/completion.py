# SPDX-License-Identifier: Apache-2.0
"""Complete commands, options and names in bash, zsh and fish.

``vobjects completion SHELL`` prints a script for the shell. At each Tab, the
script runs ``vobjects`` with the environment variable ``_ARGCOMPLETE``
(https://kislyuk.github.io/argcomplete/), and :func:`complete` prints the
possible words. It imports only the command that the user is typing.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint
from typing import NoReturn

from vobjects import exceptions
from vobjects.cli.parser import Command, Parser, one_of

SHELLS = ('bash', 'zsh', 'fish')

_PROGRAM = 'vobjects'

#: How the user installs the script of each shell.
_EXAMPLES = (
    'eval "$(vobjects completion bash)"  # in ~/.bashrc',
    'eval "$(vobjects completion zsh)"   # in ~/.zshrc, after compinit',
    'vobjects completion fish > ~/.config/fish/completions/vobjects.fish',
)


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects completion',
        description='Print a script that completes commands, options, and'
        ' names of types and releases when you press Tab.',
        notes='Load the script when the shell starts:',
        examples=_EXAMPLES,
    )
    parser.add_argument(
        'shell',
        metavar='SHELL',
        type=one_of(SHELLS, 'shell'),
        choices=SHELLS,
        help=f'your shell: {", ".join(SHELLS)}',
    )
    parser.set_defaults(run=_print_script)
    return parser


#: The command ``vobjects completion``.
main = Command(_parser)


def _print_script(options: argparse.Namespace) -> int:
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise exceptions.VobjectsError(
            'argcomplete is not installed; run: pip install'
            ' "vobjects[completion]"'
        ) from None

    print(shellcode([_PROGRAM], shell=options.shell))
    return 0


def complete(root: Parser, commands: Mapping[str, EntryPoint]) -> NoReturn:
    """Print the possible next words of the command line, and exit.

    :param root: parser of ``vobjects`` itself
    :param commands: name of a command -> its entry point
    """
    import argcomplete

    line = os.environ['COMP_LINE'][: int(os.environ['COMP_POINT'])]
    words = line.split()
    parser: argparse.ArgumentParser
    if len(words) > 2 or (len(words) == 2 and line[-1].isspace()):
        command = commands[words[1]].load() if words[1] in commands else None
        if not isinstance(command, Command):
            raise SystemExit(0)
        parser = command.parser()
        # The first word that the parser knows is the second one of the line.
        os.environ['_ARGCOMPLETE'] = '2'
    else:
        parser = argparse.ArgumentParser(_PROGRAM)
        parser.add_argument('--version', action='version', version='')
        parser.add_argument('command', choices=[*root.summaries, 'help'])
    argcomplete.autocomplete(parser)
    raise SystemExit(0)


def offer(action: argparse.Action, names: Callable[[], Iterable[str]]) -> None:
    """Complete an argument with names that are known at run time.

    :param action: the argument, as returned by ``add_argument``
    :param names: returns the names; called when the user presses Tab
    """
    # argcomplete passes the text so far, and filters the names by it.
    action.completer = lambda **_: [*names()]  # type: ignore[attr-defined]
