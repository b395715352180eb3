# SPDX-License-Identifier: Apache-2.0
"""Tables, JSON and YAML."""

from __future__ import annotations

import json

import pytest
import yaml

from vobjects.cli import output


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv('NO_COLOR', '1')


def test_table_aligns_columns_and_numbers():
    assert list(
        output.table(
            ('NAME', 'SIZE', 'STATE'),
            [('a', 5, 'up'), ('longer', 1200, '')],
            right=['SIZE'],
        )
    ) == [
        'NAME    SIZE  STATE',
        'a          5  up',
        'longer  1200',
    ]


def test_table_without_rows_has_its_titles():
    assert list(output.table(('NAME', 'SIZE'), [])) == ['NAME  SIZE']


def test_table_when_coloured_keeps_the_columns_aligned(monkeypatch):
    monkeypatch.delenv('NO_COLOR')
    monkeypatch.setenv('FORCE_COLOR', '1')
    lines = output.table(
        ('STATE', 'ID'),
        [('up, 3 s ago', 'x'), ('gone', 'y')],
        styles={'up': 'good'},
    )
    assert list(lines) == [
        '\x1b[1mSTATE\x1b[0m        \x1b[1mID\x1b[0m',
        '\x1b[32mup, 3 s ago\x1b[0m  x',
        'gone         y',
    ]


@pytest.mark.parametrize('character', ['\x9b', '\x7f', '\u202e', '\udc80'])
def test_dump_as_json_has_no_character_that_controls_a_terminal(character):
    text = output.dump({'name': f'a{character}b'}, 'json')
    assert character not in text
    assert json.loads(text) == {'name': f'a{character}b'}


def test_dump_has_the_same_data_in_both_formats():
    data = {'b': ('ü', None, 1.5), 'a': {'x': '1.10', 'y': True}}
    expected = {'b': ['ü', None, 1.5], 'a': {'x': '1.10', 'y': True}}
    for parse, text in (
        (json.loads, output.dump(data, 'json')),
        (yaml.safe_load, output.dump(data, 'yaml')),
    ):
        assert parse(text) == expected
        assert list(parse(text)) == ['b', 'a']
        assert 'ü' in text
        assert text.endswith('\n')


@pytest.mark.parametrize(
    'character', ['\n', '\x1b', '\x9b', '\u2028', '\u202e']
)
def test_table_escapes_characters_that_control_a_terminal(
    character: str,
) -> None:
    lines = [*output.table(('HOST',), [(f'a{character}b',), ('c',)])]
    assert len(lines) == 3
    assert all(line.isprintable() for line in lines)
    assert lines[1] == 'a' + character.encode('unicode_escape').decode() + 'b'
