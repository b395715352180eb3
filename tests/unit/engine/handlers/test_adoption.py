# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects.clustering.requests import nodes
from vobjects_simulated import tables

TYPE = 'os.nova.server-1.0'


@pytest.fixture
def server(harness: Harness) -> str:
    """A server that the service did not create."""
    server_id: str = harness.cloud.servers.create(
        'by-hand', 'srv', {'flavor': 'm1.big', 'image': 'cirros'}
    ).id
    return server_id


def test_adopted_server_is_a_node_with_a_profile(
    harness: Harness, engine: Engine, server: str
) -> None:
    node = engine.call(
        nodes.NodeAdoptRequest(
            identity=server,
            type=TYPE,
            name='mine',
            role='master',
            overrides={'flavor': 'm1.small'},
        )
    )
    assert (node.status, node.physical_id) == ('ACTIVE', server)
    assert (node.name, node.role) == ('mine', 'master')
    profile = harness.row(models.Profile, node.profile_id)
    assert profile.name == 'prof-mine'
    assert profile.spec['properties'] == {
        'name': 'srv',
        'availability_zone': 'nova',
        'flavor': 'm1.small',
        'image': 'cirros',
    }
    engine.run(nodes.NodeDeleteRequest(identity='mine'))
    assert harness.count(tables.SimulatedServer) == 0
    harness.assert_idle()


def test_preview_shows_the_spec_and_makes_nothing(
    harness: Harness, server: str
) -> None:
    shown = harness.engine().call(
        nodes.NodeAdoptPreviewRequest(
            identity=server, type=TYPE, snapshot=True
        )
    )
    assert (shown.type, shown.version) == ('os.nova.server', '1.0')
    assert shown.properties['flavor'] == 'm1.big'
    assert shown.properties['image'] == f'snapshot-{server}'
    assert harness.count(models.Node) == harness.count(models.Profile) == 0


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'type': 'os.heat.stack-7.0'}, 'profile_type .* could not be found'),
        ({'identity': 'nowhere'}, 'there is no server nowhere'),
        ({'overrides': {'colour': 'red'}}, 'colour: unknown'),
    ],
)
def test_invalid_adoption_is_rejected(
    harness: Harness, server: str, options: dict[str, Any], message: str
) -> None:
    request_fields = {'identity': server, 'type': TYPE, **options}
    for kind in (nodes.NodeAdoptRequest, nodes.NodeAdoptPreviewRequest):
        with pytest.raises(errors.BadRequest, match=message):
            harness.engine().call(kind(**request_fields))
    assert harness.count(models.Node) == 0


def test_server_of_a_node_is_not_adopted_again(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_node(engine)
    (row,) = harness.rows(tables.SimulatedServer)
    with pytest.raises(errors.BadRequest, match='it is a node already'):
        engine.call(
            nodes.NodeAdoptRequest(identity=row.id, type=TYPE),
            engine_harness.request_context('theirs'),
        )


def test_adoption_beyond_the_quota_is_rejected(
    harness: Harness, server: str
) -> None:
    harness.conf.set_override('max_nodes_per_project', 0, 'engine')
    with pytest.raises(errors.OverQuota, match='0 nodes; it may have 0'):
        harness.engine().call(
            nodes.NodeAdoptRequest(identity=server, type=TYPE)
        )
    assert harness.count(models.Node) == 0
    assert harness.count(models.Profile) == 0


def test_concurrent_adoptions_create_one_node(any_harness: Harness) -> None:
    engine = any_harness.engine()
    server = any_harness.cloud.servers.create(
        'elsewhere', 'theirs', {'flavor': 'm1.small', 'image': 'cirros'}
    ).id
    requests = [
        nodes.NodeAdoptRequest(identity=server, type=TYPE) for _ in range(4)
    ]
    adopted = request_helpers.accepted_together(
        engine, requests, errors.BadRequest
    )
    assert adopted == 1
    assert any_harness.count(models.Node) == 1
