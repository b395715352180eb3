# SPDX-License-Identifier: Apache-2.0
"""All commands of ``vobjects``, from their entry points."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from vobjects.cli import main
from vobjects.cli.parser import Command, Parser


def parsers() -> Iterator[tuple[tuple[str, ...], Parser]]:
    """Yield the words of each command and subcommand, and its parser."""
    for name, point in sorted(main.command_points().items()):
        command = point.load()
        assert isinstance(command, Command), name
        yield from _below((name,), command.parser())


def _below(
    words: tuple[str, ...], parser: Parser
) -> Iterator[tuple[tuple[str, ...], Parser]]:
    yield words, parser
    for name, child in parser.commands.items():
        yield from _below((*words, name), child)


def example_words(example: str) -> list[str]:
    """Return the words after ``vobjects`` in an example of a command line."""
    substituted = re.search(r'\$\((vobjects [^)]*)\)', example)
    words = shlex.split(
        substituted[1] if substituted else example, comments=True
    )
    assert words[0] == 'vobjects', example
    return words[1 : words.index('>') if '>' in words else None]


def arguments(help_text: str) -> dict[str, str]:
    """Return the arguments that a help text lists -> their description."""
    listed: dict[str, str] = {}
    section = name = ''
    for line in help_text.splitlines():
        if line and not line.startswith(' '):
            section, name = line, ''
        elif section not in (
            'positional arguments:',
            'options:',
            'configuration:',
        ):
            continue
        elif match := re.fullmatch(r'  (-\S.*?|[A-Z]+)(?:  +(\S.*))?', line):
            name = match[1]
            listed[name] = match[2] or ''
        elif name:
            listed[name] += f' {line.strip()}'
    return {name: text.strip() for name, text in listed.items()}
