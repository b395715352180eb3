# SPDX-License-Identifier: Apache-2.0
"""Phrases of error messages."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from vobjects import phrases


class Word(enum.StrEnum):
    A = 'a'
    B = 'b'


@pytest.mark.parametrize(
    ('steps', 'path'),
    [
        ([], 'body'),
        (['nodes', 0], 'body.nodes[0]'),
        (['a name', 'x'], "body['a name'].x"),
        (['x' * 61], f"body['{'x' * 58}…]"),
    ],
)
def test_path_names_each_step(steps: list[str | int], path: str) -> None:
    assert phrases.format_path('body', steps) == path


@pytest.mark.parametrize(
    ('value', 'accepted', 'text'),
    [
        ('x', ('ab', 'cd'), "must be one of 'ab', 'cd', not 'x'"),
        ('Ab', ('ab',), "must be one of 'ab', not 'Ab'; did you mean 'ab'?"),
        ('x', ('AB', 'ab', 'Ab'), "must be one of 'AB', not 'x'"),
        (True, (1, 'a', None), "must be one of 1, 'a', null, not true"),
        ('x', tuple(Word), "must be one of 'a', 'b', not 'x'"),
        (Word.B, ('a',), "must be one of 'a', not 'b'"),
    ],
)
def test_not_one_of_lists_accepted_values(
    value: Any, accepted: tuple[Any, ...], text: str
) -> None:
    assert phrases.not_one_of(value, accepted) == text


def test_unknown_name_suggests_a_known_one() -> None:
    assert phrases.unknown_name('x', ()) == 'unknown; nothing is expected here'
    assert (
        phrases.unknown_name('nam', ['name'])
        == "unknown; did you mean 'name'?"
    )
