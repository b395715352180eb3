# SPDX-License-Identifier: Apache-2.0
"""Processes that emulate each release in the lock."""

from __future__ import annotations

import pathlib

import pytest

from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import Process, wait_for
from tests.releases import lock_with_releases
from vobjects import service
from vobjects.clustering import history
from vobjects.lock import installed_locks, text
from vobjects.versions import Version

ENDS = (next(iter(history.HISTORY)), list(history.HISTORY)[-1])

RELEASES = installed_locks.of_service('clustering').releases


#: Hypothetical release -> its highest microversion.
HYPOTHETICAL = {'0.0.8': Version(1, 6), '0.0.9': Version(1, 9)}


#: A package that comes before the clustering service in the Python path.
ARCHIVE = """
import dataclasses
from vobjects.clustering import service
SERVICE = dataclasses.replace(service.SERVICE, lock='archive')
"""


@pytest.fixture
def archive(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the service's declaration with a lock of two releases."""
    package = tmp_path / 'archive'
    package.mkdir()
    (package / '__init__.py').write_text(ARCHIVE)
    (package / installed_locks.FILE_NAME).write_text(
        text.dump(lock_with_releases(HYPOTHETICAL))
    )
    about = tmp_path / 'archive-1.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text('Name: archive\nVersion: 1\n')
    (about / 'entry_points.txt').write_text(
        f'[{service.GROUP}]\nclustering = archive\n'
    )
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))


def emulate(fleet: Deployment, release: str) -> Process:
    """Start an engine that emulates a release, and wait until it is up."""
    before = fleet.engine_ids()
    process = fleet.group.start(
        f'engine-{release}',
        *fleet.command('engine', f'--emulate={release}'),
        stop_order=1,
    )

    def is_up() -> set[str]:
        fleet.group.assert_alive()
        return fleet.engine_ids() - before

    wait_for(f'{release} is up', is_up)
    return process


def stop(fleet: Deployment, process: Process) -> None:
    """Stop a process gracefully."""
    assert process.stop() == 0
    fleet.group.remove(process)


@pytest.mark.parametrize('release', RELEASES)
def test_every_microversion_beside_an_engine_of_a_release(
    release: str, tmp_path: pathlib.Path
) -> None:
    """New engine, old engine, then an old API, at every microversion."""
    with deployed(Platform('embedded', 'sqlite'), tmp_path) as fleet:
        fleet.start_engine('new')
        emulate(fleet, release)
        api = fleet.start_api()
        listed = {m['release'] for m in fleet.fleet_list()['members']}
        assert release in listed
        for name in ('new', 'old'):
            if name == 'old':
                stop(fleet, api)
                fleet.group.start(
                    'old-api', *fleet.command('api', f'--emulate={release}')
                )
                fleet.wait_until_served()
            with fleet.rest() as rest:
                maximum = Version.parse(rest.maximum())
                for text in history.HISTORY:
                    at = rest.at(text)
                    if Version.parse(text) > maximum:
                        at.expect_error(406, 'GET', '/v1/clusters')
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
                    at.wait_for_success(at.delete(path))
                    at.assert_missing(path)
