# SPDX-License-Identifier: Apache-2.0
"""The routes match Senlin's API reference.

``tests/functional/test_api_reference.py`` requests them.
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
    [op for op in OPERATIONS if op.path not in DISCOVERY],
    ids=lambda op: f'{op.operation}-{op.path}',
)

#: Name of clients for the action that the reference calls update_policy.
UNDOCUMENTED = ['policy_update']


def route_of(operation: Operation) -> routes.Route:
    route = operation.route()
    assert route is not None
    return route


@documented
def test_operation_when_documented_has_a_route_since_its_version(
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
def test_parameters_when_documented_are_accepted_since_their_version(
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


#: Operation -> required parameters, from its first row.
NEEDS = {op.operation: set(op.needs) for op in reversed(OPERATIONS)}


@documented
def test_parameters_when_required_are_documented_so(
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
def test_response_when_described_has_the_fields_of_its_version(
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


def test_routes_when_listed_are_all_documented() -> None:
    known = [op.route() for op in OPERATIONS]
    left = [route for route in routes.ROUTES if route not in known]
    assert [route.params.key for route in left] == UNDOCUMENTED
