# SPDX-License-Identifier: Apache-2.0
"""Created and updated resources have the values of the requests."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine
from vobjects.clustering import errors, resources
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

#: Requests, resource, and the values of fields that need particular ones. The
#: test replaces the values in capitals by IDs.
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


#: Update request, resource, and values as in CASES.
UPDATES: list[tuple[Any, Any, dict[str, Any]]] = [
    (
        clusters.ClusterUpdateRequest,
        resources.Cluster,
        {'profile_id': 'OTHER'},
    ),
    (nodes.NodeUpdateRequest, resources.Node, {'profile_id': 'OTHER'}),
    (profiles.ProfileUpdateRequest, resources.Profile, {}),
    (policies.PolicyUpdateRequest, resources.Policy, {}),
    (
        receivers.ReceiverUpdateRequest,
        resources.Receiver,
        {'action': 'CLUSTER_SCALE_IN', 'params': {'count': '2'}},
    ),
]


def value_of(field: Any) -> Any:
    types = schema.field_schema(field)['type']
    names = [types] if isinstance(types, str) else types
    return VALUES[next(name for name in names if name in VALUES)]


def with_ids(
    engine: Engine, *particular: dict[str, Any]
) -> list[dict[str, Any]]:
    """Create a cluster and two profiles, and insert their IDs in values."""
    profile, other = (
        request_helpers.create_profile(engine, name=name)
        for name in ('of-cluster', 'other')
    )
    ids = {
        'PROFILE': profile,
        'OTHER': other,
        'CLUSTER': request_helpers.create_cluster(
            engine, 1, profile_id=profile
        ),
    }
    return [
        {
            name: ids.get(value, value) if isinstance(value, str) else value
            for name, value in values.items()
        }
        for values in particular
    ]


def create_resource(engine: Engine, resource: Any, request: Any) -> str:
    """Create a resource and return its ID."""
    accepted = engine.run(request)
    created = getattr(accepted, resource.__name__.lower(), accepted)
    resource_id: str = created.id
    return resource_id


@pytest.mark.parametrize(
    ('create', 'get', 'resource', 'particular'),
    CASES,
    ids=lambda value: getattr(value, '__name__', None),
)
def test_created_resource_shows_all_fields_of_its_request(
    engine: Engine,
    create: Any,
    get: Any,
    resource: Any,
    particular: dict[str, Any],
) -> None:
    (particular,) = with_ids(engine, particular)
    names = create.fields.keys() & resource.fields.keys()
    values = {
        name: particular.get(name, value_of(create.fields[name]))
        for name in names | particular.keys()
    }

    resource_id = create_resource(engine, resource, create(**values))

    read = engine.call(get(identity=resource_id))
    for name in names:
        assert getattr(read, name) == values[name], (
            f'{create.obj_name()}.{name} is lost: {resource.obj_name()} shows'
            f' {getattr(read, name)!r} instead of {values[name]!r}; store'
            f" request.get('{name}') in engine/handlers"
        )


@pytest.mark.parametrize(
    ('update', 'resource', 'particular'),
    UPDATES,
    ids=lambda value: getattr(value, '__name__', None),
)
def test_updated_resource_shows_each_field_of_its_request(
    engine: Engine, update: Any, resource: Any, particular: dict[str, Any]
) -> None:
    create, get, needed = next(
        (create, get, needed)
        for create, get, shown, needed in CASES
        if shown is resource
    )
    needed, particular = with_ids(engine, needed, particular)
    resource_id = create_resource(
        engine, resource, create(name='before', **needed)
    )

    for name in update.fields.keys() & resource.fields.keys():
        value = particular.get(name, value_of(update.fields[name]))
        # An update that changes nothing is an error.
        with contextlib.suppress(errors.BadRequest):
            engine.call(update(identity=resource_id, **{name: value}))
        engine.run_actions()
        read = engine.call(get(identity=resource_id))
        assert getattr(read, name) == value, (
            f'{update.obj_name()}.{name} is lost: {resource.obj_name()} shows'
            f' {getattr(read, name)!r} instead of {value!r}; apply'
            f" request.get('{name}') in engine/handlers and engine/actions"
        )
