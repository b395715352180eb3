# SPDX-License-Identifier: Apache-2.0
"""What a client sends when it creates a resource, the resource shows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.engine import engine_harness, request_helpers
from vobjects.clustering import resources
from vobjects.clustering.requests import (
    clusters,
    nodes,
    policies,
    profiles,
    receivers,
)
from vobjects.microversions import schema

#: JSON type -> value of a field that needs no particular one.
VALUES: dict[str, Any] = {
    'boolean': True,
    'integer': 1,
    'number': 1.5,
    'string': 'text',
    'array': ['text'],
    'object': {'key': 'text'},
}

POLICY = {
    'type': 'senlin.policy.deletion',
    'version': '1.1',
    'properties': {},
}

#: Request, resource, and the values of fields that need particular ones; a
#: function gets the ID of a cluster and of its profile.
CASES: list[tuple[Any, Any, Any, dict[str, Any]]] = [
    (
        clusters.ClusterCreateRequest,
        clusters.ClusterGetRequest,
        resources.Cluster,
        {'profile_id': 'PROFILE', 'desired_capacity': 1, 'max_size': 3},
    ),
    (
        nodes.NodeCreateRequest,
        nodes.NodeGetRequest,
        resources.Node,
        {'profile_id': 'PROFILE', 'cluster_id': 'CLUSTER'},
    ),
    (
        profiles.ProfileCreateRequest,
        profiles.ProfileGetRequest,
        resources.Profile,
        {'spec': engine_harness.SPEC},
    ),
    (
        policies.PolicyCreateRequest,
        policies.PolicyGetRequest,
        resources.Policy,
        {'spec': POLICY},
    ),
    (
        receivers.ReceiverCreateRequest,
        receivers.ReceiverGetRequest,
        resources.Receiver,
        {
            'type': 'webhook',
            'cluster_id': 'CLUSTER',
            'action': 'CLUSTER_SCALE_OUT',
            'params': {'count': '1'},
            'actor': {},  # of a webhook; clients do not choose it
        },
    ),
]


def value_of(field: Any) -> Any:
    types = schema.field_schema(field)['type']
    names = [types] if isinstance(types, str) else types
    return VALUES[next(name for name in names if name in VALUES)]


@pytest.mark.parametrize(
    ('create', 'get', 'resource', 'particular'),
    CASES,
    ids=lambda value: getattr(value, '__name__', None),
)
def test_created_resource_shows_all_fields_of_its_request(
    harness: engine_harness.Harness,
    create: Any,
    get: Any,
    resource: Any,
    particular: dict[str, Any],
) -> None:
    engine = harness.engine()
    profile = request_helpers.create_profile(engine, name='of-cluster')
    ids = {
        'PROFILE': profile,
        'CLUSTER': request_helpers.create_cluster(
            engine, 1, profile_id=profile
        ),
    }
    particular = {
        name: ids.get(value, value) if isinstance(value, str) else value
        for name, value in particular.items()
    }
    shown = create.fields.keys() & resource.fields.keys()
    sent = {
        name: particular.get(name, value_of(create.fields[name]))
        for name in shown | particular.keys()
    }

    accepted = engine.call(create(**sent))
    engine.run_actions()

    created = getattr(accepted, resource.__name__.lower(), accepted)
    found = engine.call(get(identity=created.id))
    for name in shown:
        assert getattr(found, name) == sent[name], (
            f'{create.obj_name()}.{name} is lost: {resource.obj_name()} shows'
            f' {getattr(found, name)!r} instead of {sent[name]!r}; store'
            f" request.get('{name}') in engine/handlers"
        )
