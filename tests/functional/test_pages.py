# SPDX-License-Identifier: Apache-2.0
"""Pages of the documentation whose commands are run in order.

A block with a caption is a file. A line that begins with ``$`` is a command;
its output must contain each line below it.
"""

from __future__ import annotations

import os
import pathlib
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator

import pytest

from tests import machine_speed
from tests.programs import run_program

SOURCE = pathlib.Path(__file__).parents[2] / 'doc' / 'source'

#: Returns the command that starts a program.
Programs = Callable[[str], list[str]]


def module(name: str) -> list[str]:
    """Return the command of a program of this environment."""
    return [sys.executable, '-m', name]


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Yield (caption, text) of each block; a console has no caption."""
    lines = page.splitlines()
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if '.. code-block::' not in line:
            continue
        indent = len(line) - len(line.lstrip())
        inside = []
        while position < len(lines) and (
            not lines[position].strip()
            or len(lines[position]) - len(lines[position].lstrip()) > indent
        ):
            inside.append(lines[position])
            position += 1
        text = textwrap.dedent('\n'.join(inside))
        first, _, rest = text.partition('\n')
        if first.startswith(':caption:'):
            yield first.split()[1], rest.strip() + '\n'
        else:
            yield '', text


def commands(console: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command and the lines below it."""
    for part in f'\n{console}'.split('\n$ ')[1:]:
        command, *expected = part.splitlines()
        yield command, [line.strip() for line in expected if line.strip()]


def run(command: str, directory: pathlib.Path, programs: Programs) -> str:
    program, *words = shlex.split(command)
    result = run_program(
        [*programs(program), *words],
        cwd=directory,
        env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'},
        timeout=200 * machine_speed.scale(),
    )
    assert result.returncode in (0, 1), result.stderr
    assert 'Traceback' not in result.stderr, result.stderr
    return result.stdout + result.stderr


def follow(name: str, directory: pathlib.Path, programs: Programs) -> None:
    """Create the files of a page in a directory, and run its commands."""
    count = 0
    for caption, text in blocks((SOURCE / f'{name}.rst').read_text()):
        if caption:
            (directory / caption).write_text(text)
            continue
        for command, shown in commands(text):
            count += 1
            output = run(command, directory, programs)
            for line in shown:
                assert line in output, f'{command}\n{output}'
    assert count > 3


@pytest.mark.parametrize(
    'name',
    ['adopt-lock', pytest.param('upgrade-test', marks=pytest.mark.long)],
)
def test_commands_of_a_page_print_the_documented_output(
    name: str, tmp_path: pathlib.Path
) -> None:
    follow(name, tmp_path, module)
