# SPDX-License-Identifier: Apache-2.0
"""The list of bugs, and its choice."""

from __future__ import annotations

import pathlib

import pytest

from recall import adapters, bugs, draw

ENTRY = """
[[bugs]]
id = 'shop-1'
project = 'shop'
repository = 'https://example.org/shop'
link = 'https://example.org/shop/1'
kind = 'default'
what = 'The shop charged twice.'
half = 'development'
expected = 'missed'
before = ['1.0']
subjects = ['Order']
parent = 'aaaa'
fix = 'bbbb'
"""


def written(directory: pathlib.Path, content: str) -> pathlib.Path:
    path = directory / 'bugs.toml'
    path.write_text(content)
    return path


def test_list_has_thirty_bugs_of_ten_projects_in_drawn_halves() -> None:
    found = bugs.load(bugs.DEFAULT)

    seed = draw.load(draw.FIRST)['seed']
    by_draw = sorted(found, key=lambda bug: draw.place(seed, 'half', bug.id))

    assert len(found) == 30
    assert len({bug.project for bug in found}) >= 10
    assert [bug.half for bug in by_draw] == (
        ['development'] * 15 + ['held out'] * 15
    )


def test_list_no_project_has_more_than_three_bugs() -> None:
    projects = [bug.project for bug in bugs.load(bugs.DEFAULT)]

    assert max(map(projects.count, projects)) == 3


def test_adapters_mention_no_bug() -> None:
    file = pathlib.Path(adapters.__file__).with_name('projects.toml')
    source = file.read_text('utf-8')

    for bug in bugs.load(bugs.DEFAULT):
        assert bug.fix[:7] not in source or not bug.fix
        for subject in bug.subjects:
            assert f"'{subject}'" not in source


def test_load_complete_entry_returns_bug(tmp_path: pathlib.Path) -> None:
    (bug,) = bugs.load(written(tmp_path, ENTRY))

    assert bug.before == ('1.0',)
    assert bug.subjects == ('Order',)
    assert (bug.parent, bug.fix, bug.pull) == ('aaaa', 'bbbb', 0)


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        ("half = 'development'", "half = 'spare'", 'half must be'),
        ("expected = 'missed'", "expected = 'perhaps'", 'expected must be'),
        ("subjects = ['Order']", 'subjects = []', 'subjects must not'),
        ("fix = 'bbbb'", '', 'set either pull'),
        ("fix = 'bbbb'", "fix = 'bbbb'\npull = 7", 'set either pull'),
        ("link = 'https://example.org/shop/1'", '', 'link'),
        ("fix = 'bbbb'", 'unknown = 1', 'unknown'),
        ("kind = 'default'", 'kind = default', 'Invalid value'),
    ],
)
def test_load_malformed_entry_raises(
    tmp_path: pathlib.Path, old: str, new: str, message: str
) -> None:
    path = written(tmp_path, ENTRY.replace(old, new))

    with pytest.raises(bugs.ListError, match=message):
        bugs.load(path)


def test_load_same_identifier_twice_raises(tmp_path: pathlib.Path) -> None:
    with pytest.raises(bugs.ListError, match='shop-1 appears twice'):
        bugs.load(written(tmp_path, ENTRY * 2))
