# SPDX-License-Identifier: Apache-2.0
"""What mypy says of the samples is what their comments say."""

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

Said = set[tuple[str, int, str]]

Run = Callable[[], Said]


@pytest.fixture(scope='module')
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return what runs mypy on a copy of the samples; its cache is kept."""
    there = tmp_path_factory.mktemp('typed')
    (there / 'mypy.ini').write_text(
        f'{CONFIG}mypy_path = {there}:{ROOT}\ncache_dir = {there}/cache\n'
    )
    shutil.copytree(SAMPLES, there / 'samples')

    def said() -> Said:
        out, err, _ = api.run(
            ['--config-file', str(there / 'mypy.ini'), '-p', 'samples']
        )
        assert err == ''
        return set(_parsed(out))

    said.there = there / 'samples'  # type: ignore[attr-defined]
    return said


@pytest.fixture(scope='module')
def said(run: Run) -> Said:
    """Return what mypy says without a cache."""
    return run()


def _parsed(out: str) -> list[tuple[str, int, str]]:
    """Return module, line and type or error code of each message."""
    found = []
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
        found.append((name, int(number), words.group(1)))
    return found


def _expected(name: str, text: str) -> Said:
    return {
        (name, number, match.group(1))
        for number, line in enumerate(text.splitlines(), start=1)
        if (match := re.search(r'# (?:reveals|reports): (.+)', line))
    }


@pytest.mark.parametrize('name', NAMES)
def test_attributes_when_checked_then_have_their_types(
    said: Said, name: str
) -> None:
    expected = _expected(name, (SAMPLES / f'{name}.py').read_text())
    assert expected
    assert {line for line in said if line[0] == name} == expected


def test_types_when_read_from_the_cache_then_are_the_same(
    run: Run, said: Said
) -> None:
    """A changed module sees types of modules that were not read again."""
    path = run.there / 'imported_types.py'  # type: ignore[attr-defined]
    text = path.read_text().replace('def read(', '\n\ndef read(')
    path.write_text(text)
    again = run()
    unchanged = {line for line in said if line[0] != 'imported_types'}
    assert again == unchanged | _expected('imported_types', text)
    assert {line[0] for line in again} == set(NAMES)
