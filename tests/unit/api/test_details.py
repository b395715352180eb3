# SPDX-License-Identifier: Apache-2.0
"""What ``errors[0].detail`` says is for people."""

from __future__ import annotations

import re
from typing import Any

import pytest

from api import routes
from vobjects.clustering.requests import profiles
from vobjects.microversions import errors, query, schema
from vobjects.versions import Version

NEWEST = Version.parse('1.14')

#: Whatever a regular expression has that a sentence has not.
PATTERN = re.compile(r'\^|\\Z|\$|\[0-9\]|\(:|\{1,')


def patterned() -> list[Any]:
    """Return each field that a pattern checks, with its request type."""
    found = {
        (route.request, name)
        for route in routes.ROUTES
        for name, field in route.request.fields.items()
        if 'pattern' in schema.field_schema(field)
    }
    return [
        pytest.param(cls, name, id=f'{cls.obj_name()}.{name}')
        for cls, name in sorted(
            found, key=lambda item: (item[0].obj_name(), item[1])
        )
    ]


def refusal(cls: Any, name: str, value: Any) -> str:
    with pytest.raises(errors.ValidationError) as caught:
        query.coerce_query(cls, NEWEST, [name], [(name, value)])
    return caught.value.detail


@pytest.mark.parametrize(('cls', 'name'), patterned())
def test_value_that_breaks_a_pattern_is_answered_without_the_pattern(
    cls: Any, name: str
) -> None:
    for value in ('a b', '%', 'name:up', ',', 'x\n'):
        detail = refusal(cls, name, value)
        assert detail.startswith(f'query.{name}: ')
        assert 'must ' in detail
        assert not PATTERN.search(detail), detail


@pytest.mark.parametrize(
    ('name', 'value', 'detail'),
    [
        ('limit', 'abc', "query.limit: must be an integer, not 'abc'."),
        ('marker', 'abc', "query.marker: must be a UUID, not 'abc'."),
        (
            'sort',
            'nme:asc',
            "query.sort: the key must be one of 'type', 'name', 'created_at',"
            " 'updated_at', not 'nme'; did you mean 'name'?",
        ),
        (
            'sort',
            'name:up',
            "query.sort: the direction must be one of 'asc', 'desc', not"
            " 'up'.",
        ),
    ],
)
def test_query_of_a_list_is_answered_with_what_is_accepted(
    name: str, value: str, detail: str
) -> None:
    assert refusal(profiles.ProfileListRequest, name, value) == detail
