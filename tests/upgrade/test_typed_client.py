# SPDX-License-Identifier: Apache-2.0
"""The typed client beside engines of two releases."""

from __future__ import annotations

import asyncio
import pathlib

import httpx
import pytest

import vobjects_client as client
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import Process, wait_for
from tests.functional.rest import SPEC
from tests.upgrade.test_emulated import HYPOTHETICAL, archive, emulate, stop
from vobjects.clustering import history
from vobjects.clustering.client import Clustering

__all__ = ['archive']

OLD = '0.0.8'


async def _clusters(url: str) -> list[str]:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        clusters = await Clustering(http).clusters.list()
        return [cluster.name for cluster in clusters]


@pytest.mark.usefixtures('archive')
def test_a_client_uses_new_fields_as_soon_as_the_old_engine_is_gone(
    tmp_path: pathlib.Path,
) -> None:
    with deployed(Platform('embedded', 'sqlite'), tmp_path) as fleet:
        fleet.start_engine('new')
        old = emulate(fleet, OLD)
        fleet.start_api()
        with httpx.Client(base_url=fleet.url, trust_env=False) as http:
            _use(Clustering(http), fleet, old)
        assert asyncio.run(_clusters(fleet.url)) == ['kept']


def _use(
    clustering: Clustering[httpx.Client], fleet: Deployment, old: Process
) -> None:
    profile = clustering.profiles.create(name='server', spec=SPEC)
    created = clustering.clusters.create(
        name='web', profile_id=profile.id, desired_capacity=0, config={}
    )
    assert clustering.version == HYPOTHETICAL[OLD]
    assert created.desired_capacity == 0
    with pytest.raises(client.ServerTooOld) as caught:
        clustering.clusters.delete(identity='web', force=True)
    error = caught.value
    assert error.subject == 'ClusterDeleteRequest.force=True'
    assert (str(error.needed), error.version) == ('1.8', HYPOTHETICAL[OLD])
    assert 'ClusterDeleteRequest' in error.reason or OLD in error.reason
    (shown,) = clustering.clusters.list()
    assert shown.id == created.id
    actions = clustering.actions.list()
    with pytest.raises(client.NotSent, match=r'version 1\.14 added it'):
        _ = actions[0].cluster_id

    stop(fleet, old)
    clustering.clusters.create(name='kept', profile_id=profile.id)
    wait_for(
        'the client deletes by force', lambda: _deleted(clustering, 'web')
    )
    assert clustering.version == history.MAXIMUM
    actions = clustering.actions.list(cluster_id=[created.id])
    assert {action.cluster_id for action in actions} == {created.id}
    wait_for('web is gone', lambda: len(clustering.clusters.list()) == 1)


def _deleted(clustering: Clustering[httpx.Client], name: str) -> bool:
    try:
        return bool(clustering.clusters.delete(identity=name, force=True))
    except client.ServerTooOld:
        return False
