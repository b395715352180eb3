# SPDX-License-Identifier: Apache-2.0
"""Advice about a wrong name."""

from __future__ import annotations

import pytest

from vobjects import suggestions

KNOWN = ('force', 'identity', 'NODE_CREATE')


@pytest.mark.parametrize(
    ('wrong', 'right'),
    [
        ('forse', 'force'),
        ('FORCE', 'force'),
        ('node_create', 'NODE_CREATE'),
        ('colour', None),
        ('', None),
        ('force' + 'x' * 1_000_000, None),
    ],
)
def test_nearest_returns_the_similar_name(
    wrong: str, right: str | None
) -> None:
    assert suggestions.nearest(wrong, KNOWN) == right


def test_suggest_names_the_similar_one() -> None:
    assert suggestions.suggest('forse', KNOWN) == "did you mean 'force'?"


def test_suggest_lists_the_known_names_when_none_is_similar() -> None:
    text = suggestions.suggest('colour', KNOWN)
    assert text == "known here: 'NODE_CREATE', 'force', 'identity'"


def test_suggest_lists_only_some_of_many_names() -> None:
    names = [f'name{number:03}' for number in range(100)]
    text = suggestions.suggest('colour', names)
    assert text.count('name') == suggestions.MAX_LISTED
    assert text.endswith(', …')


def test_suggest_without_known_names_is_empty() -> None:
    assert suggestions.suggest('colour', ()) == ''
