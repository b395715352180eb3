# SPDX-License-Identifier: Apache-2.0
"""The typed client with the original Senlin."""

from __future__ import annotations

import asyncio
import dataclasses

import httpx
import pytest

import vobjects_client as client
from tests import senlin_server
from tests.functional.processes import wait_for
from tests.functional.rest import SPEC
from vobjects.clustering import client as clustering_client
from vobjects.versions import Version

pytestmark = [pytest.mark.long, pytest.mark.mysql, pytest.mark.rabbit]

#: Another client than that of our service: Senlin 16 does not have 1.15.
NEWER = dataclasses.replace(
    clustering_client.Clustering.POLICY, maximum=Version(1, 15)
)


class Newer(clustering_client.Clustering[clustering_client.Http]):
    """The client of a later release."""

    POLICY = NEWER


def _is_gone(clusters: clustering_client.Clusters[httpx.Client]) -> bool:
    return not clusters.list()


def test_a_client_manages_clusters_of_senlin():
    with senlin_server.running() as senlin:
        url = f'http://127.0.0.1:{senlin.port}'
        headers = senlin_server.IDENTITY
        with httpx.Client(
            base_url=url, headers=headers, trust_env=False, timeout=60
        ) as http:
            wait_for('Senlin responds', lambda: _responds(http))
            _use(Newer(http))

        async def listed() -> int:
            async with httpx.AsyncClient(
                base_url=url, headers=headers, trust_env=False
            ) as http:
                return len(await Newer(http).profiles.list())

        assert asyncio.run(listed()) == 1


def _responds(http: httpx.Client) -> bool:
    """Tell whether the API and the conductor respond."""
    try:
        return http.get('/v1/profiles', timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def _use(senlin: Newer[httpx.Client]) -> None:
    profile = senlin.profiles.create(name='server', spec=SPEC)
    assert senlin.version == Version(1, 14)
    assert profile.spec['type'] == 'os.nova.server'
    cluster = senlin.clusters.create(
        name='web', profile_id=profile.id, desired_capacity=1, config={}
    )
    wait_for(
        'the cluster is active',
        lambda: senlin.clusters.get(identity='web').status == 'ACTIVE',
    )
    (node,) = senlin.nodes.list(cluster_id=cluster.id)
    assert node.cluster_id == cluster.id
    action = senlin.clusters.resize(
        identity='web',
        adjustment_type='EXACT_CAPACITY',
        number=2,
    )
    wait_for(
        'the resize succeeds',
        lambda: senlin.actions.get(identity=action).status == 'SUCCEEDED',
    )
    updated = senlin.nodes.update(identity=node.id, tainted=True)
    assert updated.id == node.id
    with pytest.raises(client.RequestFailed) as caught:
        senlin.clusters.get(identity='missing')
    assert caught.value.status == 404
    assert 'missing' in caught.value.detail
    senlin.clusters.delete(identity='web', force=True)
    wait_for('the cluster is gone', lambda: _is_gone(senlin.clusters))
