# SPDX-License-Identifier: Apache-2.0
"""The pages about the commands are complete."""

from __future__ import annotations

import re

import pytest

from tests.unit.doc import extensions
from tests.unit.vobjects.cli import tree
from vobjects.cli import main
from vobjects.cli.parser import Parser

command_line = extensions.load('command_line')

PARSERS = list(tree.parsers())


def section(words: tuple[str, ...]) -> str:
    """Return the text about one command, without its subcommands."""
    text = command_line.page(words[0])
    if len(words) > 1:
        name = f'vobjects {" ".join(words)}'
        text = text.partition(f'\n{name}\n{"-" * len(name)}\n')[2]
    return text.partition('\n.. _command-')[0]


def as_in_help(argument: str) -> str:
    """Name the value once: ``-o, --output FORMAT``, as Python 3.13 does."""
    return re.sub(r' [A-Z]+,', ',', argument)


def test_each_command_has_a_page_and_is_in_the_overview() -> None:
    pages = extensions.DOC / 'source/commands'
    names = {path.stem for path in pages.glob('*.rst')} - {'index'}
    assert names == set(main.command_points())
    for name in names:
        assert (
            f'.. command-line:: {name}\n'
            in (pages / f'{name}.rst').read_text()
        )
        assert f':doc:`vobjects {name} <{name}>`' in command_line.overview()


@pytest.mark.parametrize(
    ('words', 'parser'),
    PARSERS,
    ids=[' '.join(words) for words, _ in PARSERS],
)
def test_page_has_each_argument_of_the_help(
    words: tuple[str, ...], parser: Parser
) -> None:
    text = section(words)
    listed = re.findall(r'^\.\. option:: (.*)$', text, re.MULTILINE)
    shown = tree.arguments(parser.format_help())
    shared = {'--config-file FILE', '--config-dir DIR', '--state-dir DIR'}
    if shared <= shown.keys():
        assert '<command-configuration>' in text
    else:
        assert '<command-configuration>' not in text
        shared = set()
    assert {as_in_help(argument) for argument in listed} == {
        as_in_help(argument)
        for argument in shown.keys() - {'-h, --help'} - shared
    }
    for example in parser.examples:
        assert f'    $ {example}\n' in text
    for name in parser.commands:
        assert f':ref:`{name} <command-vobjects-' in text


def test_page_states_required_options_defaults_and_codes() -> None:
    assert '**Required.** Minimum age' in section(('db', 'purge'))
    assert '(default: 8777).' in section(('up',))
    assert '* ``4``: must be contracted, when no' in section(('db', 'check'))
    assert '* ``3``: with ``--connect``' in section(('config', 'check'))
    assert '* ``2``: invalid arguments or configuration\n' in (
        section(('engine',))
    )


def test_overview_has_the_options_of_the_configuration() -> None:
    text = command_line.overview()
    for option in ('--config-file FILE', '--config-dir DIR', '--version'):
        assert f'.. option:: {option}\n' in text
    assert '130 interrupted by' in text


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('a *.conf file', 'a ``*.conf``\\  file'),
        ('see "vobjects up"', 'see ``vobjects up``'),
        ('the * of a_b', 'the \\* of a\\_b'),
        ('in [engine] stop_timeout', 'in ``[engine] stop_timeout``'),
        ('u+p://x:y@host/db', '``u+p://x:y@host/db``'),
        ('API and/or engine', 'API and/or engine'),
    ],
)
def test_escape_marks_literals_and_escapes_the_rest(
    text: str, expected: str
) -> None:
    assert command_line.escape(text) == expected
