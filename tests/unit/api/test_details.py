# SPDX-License-Identifier: Apache-2.0
"""Details of errors have no regular expressions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from api import routes
from vobjects.clustering import history
from vobjects.clustering.requests import profiles
from vobjects.microversions import errors, query, schema

#: Parts of regular expressions that sentences do not have.
PATTERN = re.compile(r'\^|\\Z|\$|\[0-9\]|\(:|\{1,')


def fields_with_pattern() -> list[Any]:
    """Return each field that a pattern checks, with its request type."""
    pairs = {
        (route.request, name)
        for route in routes.ROUTES
        for name, field in route.request.fields.items()
        if 'pattern' in schema.field_schema(field)
    }
    return [
        pytest.param(cls, name, id=f'{cls.obj_name()}.{name}')
        for cls, name in sorted(
            pairs, key=lambda item: (item[0].obj_name(), item[1])
        )
    ]


def validation_error(cls: Any, name: str, value: Any) -> str:
    with pytest.raises(errors.ValidationError) as caught:
        query.coerce_query(cls, history.MAXIMUM, (name,), [(name, value)])
    return caught.value.detail


@pytest.mark.parametrize(('cls', 'name'), fields_with_pattern())
def test_detail_when_a_pattern_fails_does_not_show_it(
    cls: Any, name: str
) -> None:
    for value in ('a b', '%', 'name:up', ',', 'x\n'):
        detail = validation_error(cls, name, value)
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
def test_detail_when_a_query_is_invalid_lists_accepted_values(
    name: str, value: str, detail: str
) -> None:
    assert validation_error(profiles.ProfileListRequest, name, value) == detail
