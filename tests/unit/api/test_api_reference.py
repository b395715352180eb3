# SPDX-License-Identifier: Apache-2.0
"""The routes are those that the API reference documents.

``tests/functional/test_api_reference.py`` asks them.
"""

from __future__ import annotations

from typing import Any

import pytest

from api import routes
from tests.api_reference import DISCOVERY, OPERATIONS, SHAPES, Operation
from vobjects.versions import Version

NEWEST = Version.parse('1.14')

documented = pytest.mark.parametrize(
    'operation',
    [one for one in OPERATIONS if one.path not in DISCOVERY],
    ids=lambda one: f'{one.operation}-{one.path}',
)

#: What clients say for what the reference calls update_policy.
UNDOCUMENTED = ['policy_update']


def route_of(operation: Operation) -> routes.Route:
    found = operation.route()
    assert found is not None
    return found


@documented
def test_operation_has_a_route_since_its_microversion(
    operation: Operation,
) -> None:
    request = route_of(operation).request
    since = next(
        (
            version
            for version, mapped in request.VERSION_MAP.items()
            if mapped == '1.0'
        ),
        '1.0',
    )
    assert since == operation.since


@documented
def test_documented_parameters_are_taken(operation: Operation) -> None:
    assert set(operation.takes) <= {*route_of(operation).client_names()}


@documented
def test_answer_has_the_status_and_the_fields(operation: Operation) -> None:
    route = route_of(operation)
    assert route.status == operation.status
    schema = route.render.schema(NEWEST)
    for key, shape in operation.answers.items():
        assert schema is not None
        assert set(SHAPES[shape]) <= fields_of(schema['properties'][key])


def fields_of(schema: Any) -> set[str]:
    """Return the fields of a resource, or of each in a list."""
    return set(schema.get('items', schema).get('properties', ()))


def test_every_route_is_documented() -> None:
    known = [one.route() for one in OPERATIONS]
    left = [route for route in routes.ROUTES if route not in known]
    assert [route.given.key for route in left] == UNDOCUMENTED
