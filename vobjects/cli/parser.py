# SPDX-License-Identifier: Apache-2.0
"""Argument parsers of commands, all with the same help and the same errors.

An entry point of the group ``vobjects.commands`` refers to a
:class:`Command`. Its :class:`Parser` wraps text at the width of the terminal,
lists subcommands and examples, and suggests a known name for an unknown
subcommand or option.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from vobjects import exceptions, suggestions

#: A command's function: receives the parsed arguments, returns the exit code.
Run = Callable[[argparse.Namespace], int]

#: Widest terminal that help text uses, in columns.
_MAX_WIDTH = 100

_OPTION = re.compile(r'(?<![\w-])--?[a-zA-Z][\w-]*')


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines that :class:`Parser` has wrapped."""

    def __init__(self, prog: str, **keywords: Any) -> None:
        super().__init__(
            prog, **{'max_help_position': 30, 'width': width(), **keywords}
        )


class Parser(argparse.ArgumentParser):
    """An argument parser with subcommands, examples and suggestions.

    :param prog: the command as the user types it, such as ``vobjects db``
    :param description: what the command does; one paragraph
    :param notes: further paragraphs below the options; indented lines are
        printed as they are
    :param examples: command lines, each with an optional ``# comment``

    Other arguments are those of :class:`argparse.ArgumentParser`.
    """

    def __init__(
        self,
        prog: str | None = None,
        *,
        description: str | None = None,
        notes: str = '',
        examples: Sequence[str] = (),
        **keywords: Any,
    ) -> None:
        keywords.setdefault('formatter_class', _HelpFormatter)
        keywords.setdefault('allow_abbrev', False)
        super().__init__(prog, description=description, **keywords)
        #: Subcommand -> its parser.
        self.commands: dict[str, Parser] = {}
        #: Subcommand -> one line about it.
        self.summaries: Mapping[str, str] = {}
        #: Command lines, each with an optional comment.
        self.examples: Sequence[str] = ()
        self.describe(notes=notes, examples=examples)

    def add_commands(
        self,
        definitions: Mapping[str, tuple[str, Callable[[Parser], None]]],
        *,
        required: bool = True,
        **keywords: Any,
    ) -> None:
        """Add subcommands.

        :param definitions: name -> (one line, as the summary; a function that
            adds the arguments to the parser of the subcommand, and describes
            it)
        :param required: whether the user must name one of them
        """
        if self.usage is None:
            self.usage = '%(prog)s [-h] COMMAND ...'
        parsers = self.add_subparsers(
            prog=self.prog,
            metavar='COMMAND',
            required=required,
            help=argparse.SUPPRESS,  # format_help() lists them
            **keywords,
        )
        for name, (summary, configure) in definitions.items():
            command = parsers.add_parser(name, description=sentence(summary))
            configure(command)
            self.commands[name] = command
        self.summaries = {
            name: summary for name, (summary, _) in definitions.items()
        }

    def describe(
        self, more: str = '', *, notes: str = '', examples: Sequence[str] = ()
    ) -> None:
        """Extend the description, and set the text below the options.

        :param more: sentences that follow the description
        """
        self.description = ' '.join(
            [*(self.description or '').split(), *more.split()]
        )
        self.examples = tuple(examples)
        title = 'examples:' if len(examples) > 1 else 'example:'
        listed = '\n'.join([title, *(f'  {line}' for line in examples)])
        self.epilog = '\n\n'.join(
            filter(None, (inspect.cleandoc(notes), listed if examples else ''))
        )

    def parse_known_args(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse arguments; an unknown one ends the command with exit code 2.

        argparse calls this method for each level of subcommands, so the error
        shows the usage of the level that does not know the argument.
        """
        word = args[0] if args and self.commands else '-'
        if not word.startswith('-') and word not in self.commands:
            self.error(
                f'unknown command {exceptions.cut(word)};'
                f' {suggestions.suggest(word, self.commands)}'
            )
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown(unknown[0]))
        return options, []

    def format_help(self) -> str:
        """Return the help, wrapped at the width of the terminal."""
        before = self.description, self.epilog
        parts = (listing(self.summaries), self.epilog)
        self.description = wrap(self.description or '')
        self.epilog = wrap('\n\n'.join(filter(None, parts)))
        try:
            return super().format_help()
        finally:
            self.description, self.epilog = before

    def _unknown(self, word: str) -> str:
        name = word.partition('=')[0]
        if not name.startswith('-'):
            return f'unexpected argument {exceptions.cut(word)}'
        options = _OPTION.findall(self.format_usage())
        near = suggestions.nearest(name, options)
        advice = f'did you mean {near!r}?' if near else f'see {self.prog} -h'
        return f'unknown option {exceptions.cut(name)}; {advice}'


class Command:
    """A command of ``vobjects``: call it with arguments, get an exit code.

    :param make_parser: returns the parser; it sets ``run``, a function of the
        parsed arguments that returns the exit code
    """

    def __init__(self, make_parser: Callable[[], Parser]) -> None:
        self.parser = make_parser

    def __call__(self, argv: Sequence[str]) -> int:
        """Parse arguments and run the command.

        :param argv: the arguments after the command's name
        :returns: the exit code: 0 success, 1 failure or findings, 2 bad input,
            or as the help of the command states
        :raises vobjects.exceptions.VobjectsError: an error that the user can
            fix
        :raises oslo_config.cfg.Error: the configuration is invalid
        :raises SystemExit: raised by argparse
        """
        options = self.parser().parse_args(argv)
        run: Run = options.run
        return run(options)


def configured(
    run: Callable[..., Any],
    *arguments: Callable[[Parser], None],
    more: str = '',
    **texts: Any,
) -> Callable[[Parser], None]:
    """Return a function that configures the parser of a subcommand.

    :param run: runs the subcommand with the parsed arguments
    :param arguments: functions that add arguments to the parser
    :param more: see :meth:`Parser.describe`, also for ``texts``
    """

    def configure(parser: Parser) -> None:
        parser.describe(more, **texts)
        parser.set_defaults(run=run)
        for add_arguments in arguments:
            add_arguments(parser)

    return configure


def late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports a function when it is called.

    The help of a command then needs none of the modules that it works with.
    """

    def call(*args: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args)

    return call


def one_of(names: Iterable[str], noun: str) -> Callable[[str], str]:
    """Return a ``type`` for an argument that accepts some names only.

    :param noun: what the names are, such as ``format``
    """
    known = tuple(names)

    def read(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(
                f'unknown {noun} {exceptions.cut(text)};'
                f' {suggestions.suggest(text, known)}'
            )
        return text

    return read


def whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    """Return a ``type`` for an argument that accepts numbers in a range."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = lowest - 1
        if not lowest <= number <= highest:
            raise argparse.ArgumentTypeError(
                f'{exceptions.cut(text)} is not a whole number from {lowest}'
                f' to {highest}'
            )
        return number

    return read


def width() -> int:
    """Return the columns that help text uses."""
    return min(shutil.get_terminal_size().columns - 2, _MAX_WIDTH)


def wrap(text: str) -> str:
    """Wrap the paragraphs of a text, except those with an indented line."""
    return '\n\n'.join(
        paragraph
        if re.search('^ ', paragraph, re.MULTILINE)
        else textwrap.fill(paragraph, width())
        for paragraph in text.split('\n\n')
    )


def listing(summaries: Mapping[str, str]) -> str:
    """Return the help about subcommands: a line for each; '' if none."""
    if not summaries:
        return ''
    longest = max(map(len, summaries))
    lines = [
        textwrap.fill(
            f'{name:<{longest}}  {summary}',
            width(),
            initial_indent='  ',
            subsequent_indent=' ' * (longest + 4),
        )
        for name, summary in summaries.items()
    ]
    return '\n'.join(['commands:', *lines])


def sentence(summary: str) -> str:
    """Turn the summary of a command into a sentence."""
    return f'{summary[:1].upper()}{summary[1:]}.'
