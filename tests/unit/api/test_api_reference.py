# SPDX-License-Identifier: Apache-2.0
"""The routes are those that the API reference documents.

``tests/functional/test_api_reference.py`` asks them.
"""

from __future__ import annotations

from typing import Any

import pytest

from api import routes
from tests.api_reference import (
    BEYOND,
    DISCOVERY,
    LATER,
    OPERATIONS,
    SHAPES,
    Operation,
)
from vobjects import fields
from vobjects.clustering.history import HISTORY
from vobjects.versions import Version

VERSIONS = [Version.parse(version) for version in HISTORY]
NEWEST = VERSIONS[-1]

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
@pytest.mark.parametrize('version', VERSIONS, ids=str)
def test_documented_parameters_are_taken_since_their_microversion(
    operation: Operation, version: Version
) -> None:
    request = route_of(operation).request
    mapped = request.version_at(version)
    if mapped is None:
        return
    taken = {
        name
        for name in (*operation.takes, *operation.beyond)
        if name in request.fields_at(mapped)
    }
    since = dict.fromkeys(operation.takes, operation.since)
    since |= {**operation.later, **operation.beyond}
    assert taken == {
        name for name, came in since.items() if version >= Version.parse(came)
    }


#: What each operation needs, which the first of its rows says.
NEEDS = {one.operation: set(one.needs) for one in reversed(OPERATIONS)}


@documented
def test_required_parameters_are_the_documented_ones(
    operation: Operation,
) -> None:
    route = route_of(operation)
    known = route.request.fields
    required = {
        name
        for name in route.client_fields()
        if name in known and fields.is_required(known[name])
    }
    assert required == NEEDS[operation.operation]


@documented
@pytest.mark.parametrize('version', VERSIONS, ids=str)
def test_answer_has_the_fields_of_its_microversion_and_no_others(
    operation: Operation, version: Version
) -> None:
    route = route_of(operation)
    assert route.status == operation.status
    if route.request.version_at(version) is None:
        return
    answered = route.renderer.schema(version, False)
    for key, shape in operation.answers.items():
        since = dict.fromkeys(SHAPES[shape], '1.0')
        since |= {**LATER.get(shape, {}), **BEYOND.get(shape, {})}
        expected = {
            name
            for name, came in since.items()
            if version >= Version.parse(came)
        }
        assert answered is not None
        assert fields_of(answered['properties'][key]) == expected


def fields_of(schema: Any) -> set[str]:
    """Return the fields of a resource, or of each in a list."""
    return set(schema.get('items', schema).get('properties', ()))


def test_every_route_is_documented() -> None:
    known = [one.route() for one in OPERATIONS]
    left = [route for route in routes.ROUTES if route not in known]
    assert [route.params.key for route in left] == UNDOCUMENTED
