# SPDX-License-Identifier: Apache-2.0
"""The commands in the documentation exist, with the options that it shows.

Other tests run the commands of tutorials and guides. These tests check every
page, also where a command needs another server or root.
"""

from __future__ import annotations

import importlib.metadata
import pathlib
import re
import shlex
from collections.abc import Iterator

import pytest

from tests.unit.doc import extensions
from tests.unit.vobjects.cli import tree
from vobjects.cli.parser import Parser

ROOT = extensions.DOC.parent

PAGES = sorted(
    [
        *(extensions.DOC / 'source').rglob('*.rst'),
        *ROOT.glob('*.md'),
        *ROOT.glob('distributions/*/README.md'),
        *ROOT.glob('examples/*/README.md'),
    ]
)

COMMANDS: dict[tuple[str, ...], Parser] = dict(tree.parsers())

#: ``vobjects COMMAND`` in a sentence.
INLINE = re.compile(r'``?((?:vobjects|openstack cluster|make) [^`]+)``?')

#: A literal block, in reStructuredText or in Markdown.
BLOCK = re.compile(
    r'(?:::|code-block:: \w+)$\n((?:\n|[ ]+.*\n)+)'
    r'|^```console$\n((?:(?!```).*\n)+)',
    re.MULTILINE,
)

#: A command in a block, after the prompt if the block has prompts.
PROMPT = re.compile(r'^ *[$#] ', re.MULTILINE)
PROMPTED = re.compile(r'^ *[$#] (?:\S*/)?(.+)', re.MULTILINE)
PLAIN = re.compile(
    r'^ *((?:vobjects|openstack|make|python3?) .+)', re.MULTILINE
)

#: Words that stand for others.
PLACEHOLDER = re.compile(r'[A-Z]+|\.\.\.|\[.*|.*\]')

TARGETS = set(
    re.findall(r'^([a-z-]+):', (ROOT / 'Makefile').read_text(), re.MULTILINE)
)


def command_lines(page: pathlib.Path) -> Iterator[list[str]]:
    """Yield the words of each command of a page."""
    text = page.read_text().replace('\\\n', ' ')
    for match in INLINE.finditer(text):
        # A sentence may break the line within the literal.
        yield words(' '.join(match[1].split()))
    for match in BLOCK.finditer(text):
        block = match[1] or match[2]
        line = PROMPTED if PROMPT.search(block) else PLAIN
        for command in line.findall(block):
            yield words(command)


def words(line: str) -> list[str]:
    """Return the words of a command, without what the shell adds to it."""
    line = re.split(r'(?:^| )[|&;>)]|\) ?|[;"]$', line)[0]
    try:
        return shlex.split(line, comments=True) or ['']
    except ValueError:
        return shlex.split(line.replace("'", '').replace('"', ''))


def problem_of(line: list[str]) -> str:
    """Return what is wrong with a command; '' if nothing is."""
    program, *rest = line
    if program == 'vobjects':
        return vobjects_problem(rest)
    if program == 'openstack' and rest[:1] == ['cluster']:
        return openstack_problem(rest)
    if program == 'make':
        targets = [word for word in rest if re.fullmatch('[a-z-]+', word)]
        unknown = set(targets) - TARGETS
        return f'no target {", ".join(unknown)}' if unknown else ''
    script = rest[0] if rest else ''
    if program.startswith('python') and re.match(
        r'(benchmarks|tools|doc)/.*\.py$', script
    ):
        names = script == 'benchmarks/NAME.py' or (ROOT / script).exists()
        return '' if names else f'no file {script}'
    return ''


def vobjects_problem(rest: list[str]) -> str:
    """Check the words after ``vobjects``."""
    path: tuple[str, ...] = ()
    while rest and (*path, rest[0]) in COMMANDS:
        path, rest = (*path, rest[0]), rest[1:]
    if not path:
        known = not rest or rest[0].startswith('-') or is_placeholder(rest[0])
        return '' if known else f'no command {rest[0]}'
    parser = COMMANDS[path]
    if parser.commands and rest and not rest[0].startswith('-'):
        # `vobjects api` has a default command and no other arguments.
        return '' if is_placeholder(rest[0]) else f'no command {rest[0]}'
    listed = tree.arguments(parser.format_help())
    known_options = set(re.findall(r'--?[\w-]+', ' '.join(listed)))
    unknown = options_of(rest) - known_options - {'-h', '--help'}
    return f'no option {", ".join(unknown)}' if unknown else ''


def openstack_problem(rest: list[str]) -> str:
    """Check a command of python-senlinclient."""
    points = importlib.metadata.entry_points(group='openstack.clustering.v1')
    by_words = {tuple(point.name.split('_')): point for point in points}
    for length in range(len(rest), 0, -1):
        point = by_words.get(tuple(rest[:length]))
        if point is not None:
            help_text = point.load()(None, None).get_parser('').format_help()
            unknown = options_of(rest[length:]) - set(
                re.findall(r'--?[\w-]+', help_text)
            )
            return f'no option {", ".join(unknown)}' if unknown else ''
    known = len(rest) == 1 or any(is_placeholder(word) for word in rest)
    return '' if known else 'no such command'


def options_of(rest: list[str]) -> set[str]:
    """Return the names of options."""
    return {
        word.partition('=')[0] for word in rest if re.match(r'--?[a-z]', word)
    }


def is_placeholder(word: str) -> bool:
    """Return whether a word stands for others."""
    return PLACEHOLDER.fullmatch(word) is not None


@pytest.mark.parametrize(
    'page', PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_page_shows_existing_commands_and_options(page: pathlib.Path) -> None:
    problems = [
        f'{shlex.join(line)}: {problem}'
        for line in command_lines(page)
        if (problem := problem_of(line))
    ]
    assert problems == []


@pytest.mark.parametrize(
    'line',
    [
        'vobjects db synch',
        'vobjects fleet list --colour',
        'vobjects import-senlin',
        'openstack cluster resize --size 5 web',
        'openstack cluster enlarge web',
        'make everything',
        'python benchmarks/none.py',
    ],
)
def test_wrong_command_is_found(line: str) -> None:
    assert problem_of(words(line))


def test_most_commands_of_the_documentation_are_found() -> None:
    lines = [line for page in PAGES for line in command_lines(page)]
    programs = [line[0] for line in lines]
    assert programs.count('vobjects') > 100
    assert programs.count('openstack') > 30
    assert programs.count('make') > 30
