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
from vobjects.microversions import presets
from vobjects.versions import Version

#: The microversions of Senlin; its reference has no later fields.
VERSIONS = [
    version
    for version in map(Version.parse, HISTORY)
    if version <= presets.SENLIN.maximum
]
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
def test_parameters_when_documented_are_accepted_since_their_version(
    operation: Operation,
) -> None:
    request = route_of(operation).request
    introduced = dict.fromkeys(operation.takes, operation.since)
    introduced |= {**operation.later, **operation.beyond}
    for version in VERSIONS:
        mapped = request.version_at(version)
        if mapped is None:
            continue
        accepted = introduced.keys() & request.fields_at(mapped).keys()
        assert accepted == at_version(introduced, version), version


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
def test_response_when_described_has_the_fields_of_its_version(
    operation: Operation,
) -> None:
    route = route_of(operation)
    assert route.status == operation.status
    for version in VERSIONS:
        if route.request.version_at(version) is None:
            continue
        response = route.renderer.schema(version, False)
        for key, shape in operation.answers.items():
            introduced = dict.fromkeys(SHAPES[shape], '1.0')
            introduced |= {**LATER.get(shape, {}), **BEYOND.get(shape, {})}
            expected = at_version(introduced, version)
            assert response is not None
            actual = fields_of(response['properties'][key])
            assert actual == expected, (version, key)


def at_version(introduced: dict[str, str], version: Version) -> set[str]:
    """Return the names that a version has.

    :param introduced: name -> the microversion that introduced it
    """
    return {
        name
        for name, since in introduced.items()
        if version >= Version.parse(since)
    }


def fields_of(schema: Any) -> set[str]:
    """Return the fields of a resource, or of each in a list."""
    return set(schema.get('items', schema).get('properties', ()))


def test_routes_when_listed_are_all_documented() -> None:
    known = [op.route() for op in OPERATIONS]
    left = [route for route in routes.ROUTES if route not in known]
    assert [route.params.key for route in left] == UNDOCUMENTED
