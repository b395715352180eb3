# SPDX-License-Identifier: Apache-2.0
"""Errors of the engine are short, whatever a request contains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine import spec_schema
from engine.policies import base as policies
from engine.profiles import base as profiles
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine
from vobjects import exceptions
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters, nodes, receivers
from vobjects.clustering.requests import policies as policy_requests
from vobjects.clustering.requests import profiles as profile_requests

LONG = 'é' * 3000


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if depth % 2 else {LONG: value}
    return value


HOSTILE = [
    LONG,
    'a\n\0\ud800' * 300,
    10**4000,
    -(10**300),
    1e308,
    [LONG] * 30,
    {LONG: LONG},
    {f'{number}\n': LONG for number in range(300)},
    nested(30),
    nested(31),
    ['\ud800'],
    {'type': LONG, 'name': LONG, 'params': LONG},
]


def with_hostile_parts(schema: spec_schema.Schema) -> Iterator[dict[str, Any]]:
    """Yield maps of which one value, at any depth, is hostile."""
    for name, prop in schema.items():
        for value in HOSTILE:
            yield {name: value}
            if prop.items is not None:
                yield {name: [value]}
        for inner in with_hostile_parts(prop.keys or {}):
            yield {name: inner}
        if prop.items is not None:
            for inner in with_hostile_parts(prop.items.keys or {}):
                yield {name: [inner]}


def check(call: Callable[[], Any]) -> None:
    try:
        call()
    except errors.ClusteringError as error:
        for text in (error.message, error.compat_message):
            assert len(text) <= exceptions.MAX_MESSAGE_LENGTH, ascii(text)


@pytest.mark.parametrize(
    ('registry', 'request_type'),
    [
        (policies.Registry.load(), policy_requests.PolicyValidateRequest),
        (profiles.Registry.load(), profile_requests.ProfileValidateRequest),
    ],
)
def test_error_when_a_spec_is_hostile_is_short(
    engine: Engine, registry: Any, request_type: Any
) -> None:
    for value in HOSTILE:
        for spec in (
            {'type': value, 'version': '1.0', 'properties': {}},
            {'type': 'x', 'version': value, 'properties': {}},
            {'type': 'x', 'version': '1.0', 'properties': value},
            {LONG: value},
        ):
            check(lambda spec=spec: engine.call(request_type(spec=spec)))
    for kind in registry.all():
        specs = [
            *with_hostile_parts(kind.properties),
            *HOSTILE,
            *({LONG: value} for value in HOSTILE),
        ]
        for properties in specs:
            spec = {
                'type': kind.name,
                'version': kind.version,
                'properties': properties,
            }
            check(lambda spec=spec: engine.call(request_type(spec=spec)))


def requests_with(value: Any) -> Iterator[Callable[[], Any]]:
    yield lambda: clusters.ClusterCreateRequest(
        name='d', profile_id='p', config={'node.name.format': value}
    )
    yield lambda: clusters.ClusterCreateRequest(
        name='d', profile_id=value, config=value
    )
    yield lambda: clusters.ClusterGetRequest(identity=value)
    yield lambda: clusters.ClusterResizeRequest(
        identity='c', adjustment_type='CHANGE_IN_CAPACITY', number=value
    )
    yield lambda: clusters.ClusterResizeRequest(
        identity='c', adjustment_type='CHANGE_IN_PERCENTAGE', number=value
    )
    yield lambda: clusters.ClusterScaleOutRequest(identity='c', count=value)
    yield lambda: clusters.ClusterRecoverRequest(
        identity='c', operation='REBOOT', operation_params={'type': value}
    )
    yield lambda: clusters.ClusterOperationRequest(
        identity='c', operation=value, params=value, filters=value
    )
    yield lambda: clusters.ClusterOperationRequest(
        identity='c', operation='reboot', params=value, filters={'name': value}
    )
    yield lambda: clusters.ClusterCollectRequest(
        identity='c', path=f'$.{value}'
    )
    yield lambda: clusters.ClusterAddNodesRequest(identity='c', nodes=[value])
    yield lambda: clusters.ClusterAddNodesRequest(
        identity='c', nodes=[f'{number}{value}' for number in range(50)]
    )
    yield lambda: clusters.ClusterDelNodesRequest(identity='c', nodes=[value])
    yield lambda: clusters.ClusterReplaceNodesRequest(
        identity='c', nodes={str(value): value}
    )
    yield lambda: clusters.ClusterListRequest(sort=value)
    yield lambda: nodes.NodeCreateRequest(
        name='n', profile_id='p', cluster_id=value
    )
    yield lambda: nodes.NodeAdoptRequest(
        identity=value, type='os.nova.server-1.0', overrides=value
    )
    yield lambda: nodes.NodeAdoptRequest(identity='x', type=value)
    yield lambda: receivers.ReceiverCreateRequest(
        name='r', type='webhook', cluster_id=value, action=value
    )
    yield lambda: receivers.ReceiverCreateRequest(
        name='r',
        type='webhook',
        cluster_id='c',
        action='CLUSTER_SCALE_OUT',
        params={'count': value, LONG: value},
    )
    yield lambda: receivers.ReceiverCreateRequest(
        name='r',
        type='webhook',
        cluster_id='c',
        action='CLUSTER_SCALE_OUT',
        params={'count': value},
    )
    yield lambda: receivers.ReceiverCreateRequest(
        name='r',
        type='webhook',
        cluster_id='c',
        action='CLUSTER_RESIZE',
        params={'number': value, 'adjustment_type': 'EXACT_CAPACITY'},
    )


@pytest.mark.parametrize('number', range(len(HOSTILE)))
def test_error_when_a_request_is_hostile_is_short(
    engine: Engine, number: int
) -> None:
    request_helpers.create_cluster(engine, 1)
    for build in requests_with(HOSTILE[number]):
        try:
            request = build()
        except (ArithmeticError, ValueError, TypeError):
            continue  # the API rejects this value
        check(lambda request=request: engine.call(request))
