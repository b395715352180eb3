# SPDX-License-Identifier: Apache-2.0
"""The contract of the service, whole at every microversion."""

from __future__ import annotations

import jsonschema_rs
import pytest

from api import routes
from api.contract import contract
from vobjects.contract import registry

CONTRACT = contract()


def test_no_route_lacks_a_schema_at_any_version():
    assert list(CONTRACT.undeclared()) == []


def test_every_route_is_in_the_contract():
    discovery = [one for one in CONTRACT.operations if one.tag == 'discovery']

    assert len(CONTRACT.operations) - len(discovery) == len(routes.ROUTES)
    for route in routes.ROUTES:
        key = f' ({route.given.key})' if route.given.selects else ''
        name = f'{route.method} {route.path}{key}'
        since, last = CONTRACT.since(name)
        introduced = route.request.introduced() or CONTRACT.policy.minimum
        assert (since, last) == (introduced, None)


@pytest.mark.parametrize('version', CONTRACT.versions, ids=str)
def test_schemas_are_valid_and_objects_closed(version):
    for name, shape in CONTRACT.at(version).items():
        for place, schema in registry.parts(shape):
            jsonschema_rs.meta.validate(schema)
            is_open = place.startswith('path.') or schema.get('title') in (
                'Error',
                'Version',
            )
            assert is_open or not schema['additionalProperties'], (name, place)


def test_route_that_starts_an_action_promises_where_it_is():
    shape = CONTRACT.at(CONTRACT.versions[0])['DELETE /v1/clusters/{identity}']

    assert shape.responses[202] is None
    assert shape.headers == {
        202: {'Location': {'type': 'string', 'format': 'uri'}}
    }
    assert not shape.body_required
