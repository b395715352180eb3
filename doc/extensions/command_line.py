# SPDX-License-Identifier: Apache-2.0
"""Sphinx directive that describes the commands from their parsers.

``.. command-line:: db`` describes ``vobjects db`` and each of its subcommands:
usage, arguments, notes, exit codes and examples. Without an argument, it lists
the commands, and the options that most of them share.

sphinx-argparse reads help texts as reStructuredText; those of this project are
plain text for a terminal.
"""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from vobjects.cli import main, settings
from vobjects.cli.parser import Parser, sentence

#: Group of the arguments that the first page describes for all commands.
SHARED = 'configuration'

#: Columns of a usage line, which fit into the text on a desktop screen.
_USAGE_WIDTH = 72

_CODES = re.compile(r'exit codes?:', re.IGNORECASE)

#: Literals in help texts: commands, options, variables, sections and files.
_LITERAL = re.compile(
    r'"(?P<quoted>[^"]+)"'
    r'|(?<![\w-])(?P<plain>--[a-z][\w-]*'
    r'|\$[A-Z_]+'
    r'|\[[a-z_]+\](?: [a-z]+_[a-z_]+)?'
    r'|(?:~|\*)?[/.][\w./*-]*\w'
    r'|[\w+]+://\S+[\w/])'
)


class Section(NamedTuple):
    """A titled group of arguments in the help of a command."""

    title: str
    arguments: list[argparse.Action]


class _Recorder(argparse.HelpFormatter):
    """Records the arguments that the help of a parser shows."""

    def __init__(self, sections: list[Section], prog: str) -> None:
        super().__init__(prog)
        self._recorded = sections

    def start_section(self, heading: str | None) -> None:
        self._recorded.append(Section(heading or '', []))
        super().start_section(heading)

    def add_argument(self, action: argparse.Action) -> None:
        shown = action.help != argparse.SUPPRESS
        if shown and '--help' not in action.option_strings:
            self._recorded[-1].arguments.append(action)
        super().add_argument(action)


def sections_of(parser: Parser) -> list[Section]:
    """Return the arguments of a parser by section, without ``--help``."""
    sections: list[Section] = []
    before = parser.formatter_class
    parser.formatter_class = lambda prog, **_keywords: _Recorder(
        sections, prog
    )
    try:
        parser.format_help()
    finally:
        parser.formatter_class = before
    return [section for section in sections if section.arguments]


def page(name: str) -> str:
    """Return the description of a command as reStructuredText.

    :param name: the command after ``vobjects``
    :raises KeyError: there is no such command
    """
    return '\n'.join(_command(main.command_points()[name].load().parser()))


def overview() -> str:
    """Return the list of all commands, and the options that they share."""
    root = main.root_parser()
    shared = Parser(prog='vobjects')
    settings.add_options(shared)
    notes = inspect.cleandoc(main.__doc__ or '').split('\n\n')
    lines = [
        escape(root.description or ''),
        '',
        *_usage(root),
        *_arguments(sections_of(root)),
        *(
            f'* :doc:`vobjects {name} <{name}>`: {escape(summary)}'
            for name, summary in root.summaries.items()
        ),
        '',
        *(escape(text) for text in notes if _CODES.match(text)),
        '',
        '.. _command-configuration:',
        '',
        'Options of the configuration',
        '----------------------------',
        '',
        'Each command that needs the configuration accepts these options. See'
        ' :ref:`configuration-files` for the order in which it looks for'
        ' files.',
        '',
        *_arguments(sections_of(shared), shared=True),
    ]
    return '\n'.join(lines)


def escape(text: str) -> str:
    """Return plain text as reStructuredText, with literals marked."""
    parts = []
    end = 0
    for match in _LITERAL.finditer(text):
        literal = match['quoted'] or match['plain']
        parts += [_escape(text[end : match.start()]), f'``{literal}``\\ ']
        end = match.end()
    return ''.join([*parts, _escape(text[end:])]).removesuffix('\\ ')


def _escape(text: str) -> str:
    return re.sub(r'([\\*`|_])', r'\\\1', text)


def _command(parser: Parser) -> Iterator[str]:
    """Yield the lines about a command and, as sections, its subcommands."""
    yield from (escape(parser.description or ''), '')
    yield from _usage(parser)
    for name, summary in parser.summaries.items():
        target = _label(f'{parser.prog} {name}')
        yield f'* :ref:`{name} <{target}>`: {escape(summary)}'
    yield ''
    sections = sections_of(parser)
    yield from _arguments(sections)
    if any(section.title == SHARED for section in sections):
        yield from (
            'The command also accepts the :ref:`options of the configuration'
            ' <command-configuration>`.',
            '',
        )
    yield from _notes(parser)
    for name, command in parser.commands.items():
        title = f'{parser.prog} {name}'
        yield from (f'.. _{_label(title)}:', '')
        yield from (title, '-' * len(title), '')
        yield from _command(command)


def _label(command: str) -> str:
    return f'command-{command.replace(" ", "-")}'


def _usage(parser: Parser) -> Iterator[str]:
    """Yield a block with the usage, without ``--help``."""
    usage = ' '.join(parser.format_usage().split())
    usage = usage.removeprefix('usage: ').replace(' [-h]', '')
    # A line never ends within brackets, or between an option and its value.
    words = re.findall(r'\[[^]]*\]|-\S+ [A-Z]+|\S+', usage)
    lines = textwrap.wrap(
        ' '.join(word.replace(' ', '\0') for word in words),
        _USAGE_WIDTH,
        subsequent_indent=' ' * (len(parser.prog) + 1),
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from ('.. code-block:: text', '')
    yield from (f'    {line.replace(chr(0), " ")}' for line in lines)
    yield from ('', f'.. program:: {parser.prog}', '')


def _arguments(
    sections: Iterable[Section], *, shared: bool = False
) -> Iterator[str]:
    """Yield an ``option`` directive for each argument."""
    for section in sections:
        if (section.title == SHARED) != shared:
            continue
        for action in section.arguments:
            value = str(action.metavar or action.dest.upper())
            names = [
                name if action.nargs == 0 else f'{name} {value}'
                for name in action.option_strings
            ]
            text = (action.help or '') % vars(action)
            text = escape(sentence(text))
            if action.option_strings and action.required:
                text = f'**Required.** {text}'
            yield from (f'.. option:: {", ".join(names) or value}', '')
            yield from (f'    {text}', '')


def _notes(parser: Parser) -> Iterator[str]:
    """Yield the text below the options: notes, exit codes, examples."""
    notes = parser.epilog or ''
    if parser.examples:
        notes = re.sub(r'(?:^|\n\n)examples?:\n(?:  .*\n?)+$', '', notes)
    for paragraph in filter(None, notes.split('\n\n')):
        yield from (*_paragraph(paragraph), '')
    if parser.examples:
        yield from ('.. code-block:: console', '')
        yield from (f'    $ {example}' for example in parser.examples)
        yield ''


def _paragraph(text: str) -> list[str]:
    """Return a paragraph, or the list that its indented lines are."""
    lines = text.splitlines()
    if not any(line.startswith('  ') for line in lines):
        if not _CODES.match(text):
            return [escape(' '.join(lines))]
        rows = []
        for item in ' '.join(lines).partition(':')[2].split(';'):
            code, _, meaning = item.strip().rstrip('.').partition(' ')
            # The last item may be about a subcommand, without a number.
            rows.append((code, meaning) if code.isdecimal() else ('', item))
        return _codes(rows)
    intro = [line for line in lines if not line.startswith(' ')]
    rows = []
    for line in lines[len(intro) :]:
        match = re.fullmatch(r'  (\S.*?)  +(.*)', line)
        if match:
            rows.append((match[1], match[2]))
        else:
            rows[-1] = (rows[-1][0], f'{rows[-1][1]} {line.strip()}')
    if intro and _CODES.match(intro[0]):
        return _codes(rows)
    return [*(escape(line) for line in intro), '', *_definitions(rows)]


def _codes(rows: Iterable[tuple[str, str]]) -> list[str]:
    lines = ['Exit codes:', '']
    for code, text in rows:
        text = text.strip().rstrip('.')
        if code:
            lines.append(f'* ``{code}``: {escape(text)}')
        else:
            lines += ['', escape(sentence(text))]
    return lines


def _definitions(rows: Iterable[tuple[str, str]]) -> list[str]:
    lines = []
    for term, text in rows:
        lines += [f'``{term}``', f'    {escape(sentence(text))}']
    return lines


class CommandLine(SphinxDirective):
    """Insert the description of a command, or the list of all commands."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the description.

        :raises docutils.parsers.rst.DirectiveError: there is no such command
        """
        # The parsers are spread over many modules.
        self.env.note_reread()
        try:
            text = page(self.arguments[0]) if self.arguments else overview()
        except KeyError as error:
            raise self.error(f'there is no command {error}') from None
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive('command-line', CommandLine)
    return {'parallel_read_safe': True}
