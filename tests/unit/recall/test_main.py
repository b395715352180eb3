# SPDX-License-Identifier: Apache-2.0
"""``python -m recall`` with a list that others wrote."""

from __future__ import annotations

import pathlib

import pytest

from recall import __main__ as command
from tests.programs import run_program

ENTRY = """
[[bugs]]
id = '{id}'
project = 'shop'
repository = 'https://example.org/{repository}'
link = 'https://example.org/shop/1'
kind = 'default'
what = 'The shop charged twice.'
half = 'held out'
expected = 'missed'
before = {before}
subjects = ['Order']
parent = '{parent}'
fix = '{fix}'
"""

#: A module in a layout of its own: no package, and files nobody can parse.
ORDER = """
class Order:
    VERSION = '{version}'
    fields = {{{fields}}}
"""


def git(folder: pathlib.Path, *words: str) -> str:
    return run_program(
        ['git', '-C', str(folder), *words], check=True
    ).stdout.strip()


def commit(folder: pathlib.Path, version: str, *fields: str) -> str:
    names = ', '.join(f"'{name}': StringField()" for name in fields)
    source = ORDER.format(version=version, fields=names)
    (folder / 'code' / 'order.py').write_text(source)
    git(folder, 'add', '--all')
    identity = ('-c', 'user.name=a', '-c', 'user.email=a@example.org')
    git(folder, *identity, 'commit', '--message', version)
    return git(folder, 'rev-parse', 'HEAD')


@pytest.fixture
def repositories(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a repository, and one without Python code."""
    for name in ('shop', 'prose'):
        folder = tmp_path / 'repositories' / name
        (folder / 'code').mkdir(parents=True)
        git(folder, 'init', '--quiet')
    code = folder.with_name('shop') / 'code'
    (code / 'old.py').write_text("print 'Python 2'")
    (code / 'latin.py').write_bytes(b'# \xe9')
    (code / 'deep.py').write_text('-' * 100_000 + '1')
    (code / 'gone.py').symlink_to('tests/gone.py')
    (folder / 'README').write_text('no code')
    git(folder, 'add', '--all')
    identity = ('-c', 'user.name=a', '-c', 'user.email=a@example.org')
    git(folder, *identity, 'commit', '--message', 'prose')
    git(folder, 'tag', '1.0')
    return folder.parent


def run(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, entries: str
) -> int:
    path = tmp_path / 'bugs.toml'
    path.write_text(entries)
    words = {
        '--list': path,
        '--repositories': tmp_path / 'repositories',
        '--cache': tmp_path / 'cache',
    }
    arguments = [str(word) for pair in words.items() for word in pair]
    monkeypatch.setattr('sys.argv', ['recall', *arguments])
    return command.main()


def test_main_invented_entries_each_have_a_result_or_a_reason(
    tmp_path: pathlib.Path,
    repositories: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shop, prose = repositories / 'shop', repositories / 'prose'
    commit(shop, '1.0', 'item')
    git(shop, 'tag', '1.0')
    parent = commit(shop, '1.1', 'item', 'gift')
    fix = commit(shop, '1.0', 'item')
    entry = {'repository': 'shop', 'parent': parent, 'fix': fix}
    entries = [
        {'id': 'found', 'before': ['0.9', '1.0'], **entry},
        {'id': 'unknown', 'before': [], **entry, 'fix': 'cccc'},
        {
            'id': 'no-code',
            'repository': 'prose',
            'before': [],
            **dict.fromkeys(('parent', 'fix'), '1.0'),
        },
        {'id': 'no-clone', 'before': [], **entry, 'repository': 'lost'},
    ]

    code = run(
        tmp_path, monkeypatch, ''.join(ENTRY.format(**it) for it in entries)
    )

    output = capsys.readouterr().out.splitlines()
    commit_of_prose = git(prose, 'rev-parse', '--short=12', 'HEAD')
    assert code == 0
    assert [
        line.strip()
        for line in output
        if 'OBJECT_FIELD_CONVERTED Order.gift' in line
        or 'not measured:' in line
    ] == [
        'releases OBJECT_FIELD_CONVERTED Order.gift (from 1.0): is new in'
        ' version 1.1, but no conversion to version 1.0 removes it'
        ' (code/order.py:2)',
        f'not measured: 0.9: {shop} has no commit 0.9',
        f'not measured: {shop} has no commit cccc',
        f'not measured: commit {commit_of_prose} of {prose} has no files'
        ' :(glob)**/*.py',
        f'not measured: {repositories} has no lost',
    ]
    summary = '  1 of 4 found; 1 could be measured;'
    assert any(line.startswith(summary) for line in output)


@pytest.mark.parametrize(
    ('entries', 'message'),
    [
        ('', 'has no table'),
        ('[[bugs]]\nid = 1\n', '1: id must be a string'),
        ("[[bugs]]\nid = 'a'\n", 'a: project is missing'),
        ("[[bugs]]\nid = 'a'\nbefore = '1.0'", 'before must be a list'),
        ("[[bugs]]\nid = 'a'\nnote = ''\n", 'a: note must be one of'),
    ],
)
def test_main_malformed_list_is_a_message(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    entries: str,
    message: str,
) -> None:
    with pytest.raises(SystemExit, match='2'):
        run(tmp_path, monkeypatch, entries)

    assert message in capsys.readouterr().err
