# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest

from engine import jsonpath
from tests import memory_limit
from vobjects.clustering import errors

#: The number of their matches grows exponentially with the length.
BOMBS = [
    '$' + '.*.`parent`' * 30 + '.nothing',
    '$' + '.*.$' * 90 + '.nothing',
    '$' + '..*' * 90 + '..nothing',
    '$.lists' + '[0,0,0,0,0]' * 30 + '.nothing',
    '$.mappings' + "['a','a','a','a']" * 21 + '.nothing',
    '(' * 40 + '*' + ' where *..*..*)' * 20,
]

DOCUMENT = {
    'name': 'web',
    'metadata': {f'key{number}': {'value': number} for number in range(30)},
    'addresses': [{'ip': '192.0.2.1'}, {'ip': '192.0.2.2'}],
}


@pytest.mark.parametrize(
    ('path', 'values'),
    [
        ('name', ['web']),
        ('$.metadata.key3.value', [3]),
        ('addresses[1].ip', ['192.0.2.2']),
        ('addresses[-1,0].ip', ['192.0.2.2', '192.0.2.1']),
        ('addresses[:1]', [{'ip': '192.0.2.1'}]),
        ('$..ip', ['192.0.2.1', '192.0.2.2']),
        ('addresses[*].ip.`parent`.ip', ['192.0.2.1', '192.0.2.2']),
        ('(* where [0]).[0].ip', ['192.0.2.1']),
        ('(* wherenot [*])[0]', []),
        ("['name','none']", ['web']),
        ('addresses.ip', []),
        ('addresses[7]', []),
        ('addresses[0].$.name', ['web']),
    ],
)
def test_find_yields_the_matches_in_order(
    path: str, values: list[object]
) -> None:
    assert list(jsonpath.Path(path).find(DOCUMENT)) == values


def test_bombs_are_stopped_in_little_memory() -> None:
    lists: object = 1
    mappings: object = 1
    for _ in range(60):
        lists = [lists]
        mappings = {'a': mappings}
    memory_limit.run(
        f"""
from engine import jsonpath
from vobjects.clustering import errors
document = {{**{DOCUMENT!r}, 'lists': {lists!r}, 'mappings': {mappings!r}}}
for bomb in {BOMBS!r}:
    try:
        for value in jsonpath.Path(bomb).find(document):
            break
    except errors.BadRequest as error:
        print(error)
""",
        memory=16 * 2**20,
    )


def test_find_when_too_many_values_are_visited_is_rejected() -> None:
    path = jsonpath.Path(BOMBS[0])
    with pytest.raises(errors.BadRequest, match='visits more than 500000'):
        list(path.find(DOCUMENT))


def test_find_in_many_documents_shares_the_limit() -> None:
    path = jsonpath.Path('$..nothing')
    documents = [{'values': [0] * 1000}] * 1000
    with pytest.raises(errors.BadRequest, match='visits more than'):
        [list(path.find(document)) for document in documents]


@pytest.mark.parametrize(
    ('path', 'message'),
    [
        ('..', "'..' is not expected at character 1"),
        ('a b', "'b' is not expected at character 3"),
        ('a.', 'it ends too early'),
    ],
)
def test_malformed_path_is_explained(path: str, message: str) -> None:
    with pytest.raises(errors.BadRequest, match=re.escape(message)) as caught:
        jsonpath.Path(path)
    assert 'DOUBLEDOT' not in str(caught.value)
