# SPDX-License-Identifier: Apache-2.0
"""Real processes that stand in for each release in the lock."""

from __future__ import annotations

import pathlib

import pytest

from tests.functional.harness import Kind, deployed
from tests.functional.processes import wait_for
from vobjects.clustering import history
from vobjects.lock import shipped
from vobjects.versions import Version

ENDS = (next(iter(history.HISTORY)), list(history.HISTORY)[-1])

RELEASES = shipped.lock_of('clustering').releases


@pytest.mark.parametrize('release', RELEASES)
def test_every_microversion_beside_an_engine_of_a_release(
    release: str, tmp_path: pathlib.Path
) -> None:
    """New engine, old engine, then an old API, at every microversion."""
    with deployed(Kind('embedded', 'sqlite'), tmp_path) as fleet:
        fleet.start_engine('new')
        before = fleet.engine_ids()
        fleet.group.start(
            'old',
            *fleet.command('engine', f'--emulate={release}'),
        )
        wait_for('the old engine is up', lambda: fleet.engine_ids() - before)
        api = fleet.start_api()
        listed = {m['release'] for m in fleet.fleet()['members']}
        assert release in listed
        for name in ('new', 'old'):
            if name == 'old':
                assert api.stop() == 0
                fleet.group.forget(api)
                fleet.group.start(
                    'old-api', *fleet.command('api', f'--emulate={release}')
                )
                fleet.wait_until_served()
            with fleet.rest() as rest:
                maximum = Version.parse(rest.maximum())
                for text in history.HISTORY:
                    at = rest.at(text)
                    if Version.parse(text) > maximum:
                        at.refused(406, 'GET', '/v1/clusters')
                        continue
                    if name == 'old' and text not in ENDS:
                        at.get('/v1/clusters')
                        continue
                    profile = at.create_profile()
                    cluster = at.create_cluster(profile, 1)
                    path = f'/v1/clusters/{cluster}'
                    (node,) = at.get(f'/v1/nodes?cluster_id={cluster}')
                    since = Version.parse('1.13') <= Version.parse(text)
                    assert ('tainted' in node) is since
                    at.succeeded(at.delete(path))
                    at.gone(path)
