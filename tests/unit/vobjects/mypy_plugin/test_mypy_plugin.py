# SPDX-License-Identifier: Apache-2.0
"""Compare the output of mypy with the comments in the samples."""

from __future__ import annotations

import pathlib
import re
import shutil
from collections.abc import Callable

import pytest
from mypy import api

import vobjects

SAMPLES = pathlib.Path(__file__).parent / 'samples'
ROOT = pathlib.Path(vobjects.__path__[0]).parent
NAMES = [path.stem for path in sorted(SAMPLES.glob('[a-z]*.py'))]

CONFIG = """
[mypy]
strict = true
ignore_missing_imports = true
plugins = vobjects.mypy_plugin
"""

Messages = set[tuple[str, int, str]]

Run = Callable[[], Messages]


@pytest.fixture(scope='module')
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs mypy on the samples with a cache."""
    directory = tmp_path_factory.mktemp('typed')
    (directory / 'mypy.ini').write_text(
        f'{CONFIG}mypy_path = {directory}:{ROOT}\n'
        f'cache_dir = {directory}/cache\n'
    )
    shutil.copytree(SAMPLES, directory / 'samples')

    def run_mypy() -> Messages:
        out, err, _ = api.run(
            ['--config-file', str(directory / 'mypy.ini'), '-p', 'samples']
        )
        assert err == ''
        return set(_parsed(out))

    run_mypy.directory = directory / 'samples'  # type: ignore[attr-defined]
    return run_mypy


@pytest.fixture(scope='module')
def messages(run: Run) -> Messages:
    """Return the messages of mypy without a cache."""
    return run()


def _parsed(out: str) -> list[tuple[str, int, str]]:
    """Return module, line and type or error code of each message."""
    parsed = []
    for line in out.splitlines():
        match = re.match(r'.*samples/(\w+)\.py:(\d+): (\w+): (.*)', line)
        if match is None:
            assert line.startswith(('Found ', 'Success')), line
            continue
        name, number, kind, text = match.groups()
        revealed = re.fullmatch('Revealed type is "(.*)"', text)
        code = re.search(r'\[([\w-]+)\]$', text)
        assert revealed or (kind == 'error' and code), line
        words = revealed or code
        assert words is not None
        parsed.append((name, int(number), words.group(1)))
    return parsed


def _expected(name: str, text: str) -> Messages:
    return {
        (name, number, match.group(1))
        for number, line in enumerate(text.splitlines(), start=1)
        if (match := re.search(r'# (?:reveals|reports): (.+)', line))
    }


@pytest.mark.parametrize('name', NAMES)
def test_attributes_have_the_types_of_their_fields(
    messages: Messages, name: str
) -> None:
    expected = _expected(name, (SAMPLES / f'{name}.py').read_text())
    assert expected
    assert {line for line in messages if line[0] == name} == expected


def test_types_when_cached_are_the_same(run: Run, messages: Messages) -> None:
    """A changed module sees types of modules that were not read again."""
    path = run.directory / 'imported_types.py'  # type: ignore[attr-defined]
    text = path.read_text().replace('def read(', '\n\ndef read(')
    path.write_text(text)
    cached = run()
    unchanged = {line for line in messages if line[0] != 'imported_types'}
    assert cached == unchanged | _expected('imported_types', text)
    assert {line[0] for line in cached} == set(NAMES)
