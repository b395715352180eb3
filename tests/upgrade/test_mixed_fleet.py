# SPDX-License-Identifier: Apache-2.0
"""An old engine beside a new one."""

from __future__ import annotations

import contextlib
import pathlib
import sys
import time
from collections.abc import Iterator

import pytest

from tests.functional.deployments import (
    PLATFORMS,
    TRANSPORTS,
    Deployment,
    Engine,
    Platform,
    deployed,
)
from tests.functional.processes import wait_for
from tests.functional.rest import (
    HEADER,
    NEWEST,
    RestClient,
)
from tests.upgrade import mixed_fleet


@pytest.fixture(scope='module', params=TRANSPORTS)
def fleet(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """A new engine and an API; tests start and stop the old engine."""
    directory = tmp_path_factory.mktemp('fleet')
    with deployed(request.param, directory) as deployment:
        mixed_fleet.start_engine(deployment, 'new')
        deployment.start_api()
        yield deployment


@pytest.fixture
def rest(fleet: Deployment) -> Iterator[RestClient]:
    with fleet.rest() as client:
        yield client


@pytest.fixture
def profile(rest: RestClient) -> str:
    return rest.at('1.0').create_profile()


@contextlib.contextmanager
def old_beside(fleet: Deployment) -> Iterator[Engine]:
    """Run an old engine, which the test may stop."""
    with fleet.rest() as rest:
        mixed_fleet.wait_for_maximum(rest, NEWEST)
        engine = mixed_fleet.start_engine(
            fleet, 'old', mixed_fleet.old_manifest(fleet)
        )
        yield engine
        if engine.process.is_alive:
            mixed_fleet.stop_engine(fleet, engine)
        mixed_fleet.wait_for_maximum(rest, NEWEST)


@pytest.fixture
def old(fleet: Deployment) -> Iterator[Engine]:
    """An old engine that the test may stop."""
    with old_beside(fleet) as engine:
        yield engine


@pytest.fixture(scope='class')
def beside(fleet: Deployment) -> Iterator[Engine]:
    """An old engine that the tests of a class must not stop."""
    with old_beside(fleet) as engine:
        yield engine


class TestBesideAnOldEngine:
    """Discovery, errors and results while both engines run."""

    def test_maximum_is_lowered_by_the_time_the_old_engine_serves(
        self, rest: RestClient, beside: Engine
    ) -> None:
        # No wait here: the old engine has waited behind the join barrier.
        assert rest.maximum() == '1.7'
        for version in ('latest', '1.7'):
            response = rest.at(version).expect(200, 'GET', '/v1/clusters')
            assert response.headers[HEADER] == 'clustering 1.7'

    def test_request_above_the_maximum_is_rejected_naming_the_release(
        self, rest: RestClient, beside: Engine
    ) -> None:
        for version in ('1.8', '1.13', '1.14'):
            response = rest.at(version).expect(
                406, 'DELETE', '/v1/clusters/web', {'force': True}
            )
            (error,) = response.json()['errors']
            assert error['code'] == 'clustering.microversion-unsupported'
            assert (error['min_version'], error['max_version']) == (
                '1.0',
                '1.7',
            )
            for named in (
                'ClusterDeleteRequest 1.1',
                'ClusterDeleteRequest 1.0',
                'a server (release ',
            ):
                assert named in error['detail']
            # Anyone may ask for a version, before they are authenticated.
            assert beside.id[:8] not in error['detail']

    @pytest.mark.parametrize('version', [None, '1.0', 'latest'])
    def test_field_sent_too_early_is_rejected_instead_of_dropped(
        self,
        rest: RestClient,
        beside: Engine,
        profile: str,
        version: str | None,
    ) -> None:
        at = rest.at(version)
        cluster = at.create_cluster(profile, 0)
        path = f'/v1/clusters/{cluster}'

        response = at.expect(406, 'DELETE', path, {'force': True})

        (error,) = response.json()['errors']
        assert error['code'] == 'clustering.microversion-unsupported'
        assert (error['available_from'], error['max_version']) == (
            '1.8',
            '1.7',
        )
        assert "'force' needs API version 1.8 or later" in error['detail']
        assert 'a server (release ' in error['detail']
        at.wait_for_success(at.delete(path, {'force': False}))

    def test_requests_below_are_served_by_both_engines(
        self, fleet: Deployment, rest: RestClient, beside: Engine, profile: str
    ) -> None:
        at = rest.at('1.7')

        limits: set[int] = set()

        def both_serve() -> bool:
            limits.add(mixed_fleet.serving_limit(at, profile))
            return len(limits) == 2

        wait_for('both serve', both_serve)
        assert limits == {mixed_fleet.LIMITS['new'], mixed_fleet.LIMITS['old']}
        cluster = at.create_cluster(profile, 6)
        at.wait_for_success(at.start_action(cluster, 'scale_in', count=2))
        for node in at.get(f'/v1/nodes?cluster_id={cluster}'):
            assert 'tainted' not in node
        at.wait_for_success(at.delete(f'/v1/clusters/{cluster}'))

        assert beside.id in fleet.engine_ids()
        fleet.run_until_all_engines_worked(at, profile)
        fleet.assert_tidy()

    def test_fleet_command_explains_the_maximum(
        self, fleet: Deployment, beside: Engine
    ) -> None:
        why = fleet.run('fleet', 'explain', 'ClusterDeleteRequest')

        assert 'ClusterDeleteRequest: 1.0; this build has 1.1' in why
        assert 'microversion 1.8 is not served' in why
        (line,) = [line for line in why.splitlines() if 'supports 1.0' in line]
        assert beside.id[:8] in line
        assert 'last seen' in line
        whole = fleet.run('fleet', 'explain')
        assert (
            'highest microversion: 1.7, because ClusterDeleteRequest' in whole
        )
        assert 'Node' in whole, 'the other type that limits the maximum'
        listed = fleet.fleet_list()
        assert listed['max_microversion'] == '1.7'
        assert {m['id'] for m in listed['members']} >= fleet.engine_ids()


def test_maximum_rises_when_the_old_engine_is_killed(
    fleet: Deployment, rest: RestClient, old: Engine, profile: str
) -> None:
    assert rest.maximum() == '1.7'

    old.process.kill()
    fleet.group.remove(old.process)

    mixed_fleet.wait_for_maximum(rest, NEWEST)
    cluster = rest.create_cluster(profile, 1)
    rest.wait_for_success(
        rest.delete(f'/v1/clusters/{cluster}', {'force': True})
    )


def test_held_maximum_stays_until_finalized(
    fleet: Deployment, rest: RestClient, old: Engine
) -> None:
    assert 'held' in fleet.run('fleet', 'hold')
    try:
        mixed_fleet.stop_engine(fleet, old)
        until = time.monotonic() + 4
        while time.monotonic() < until:
            assert rest.maximum() == '1.7'
            time.sleep(0.2)
        reason = rest.at('1.8').expect_error(406, 'GET', '/v1/clusters')
        assert 'held' in reason
        assert 'held at 1.0' in fleet.run(
            'fleet', 'explain', 'ClusterDeleteRequest'
        )
    finally:
        printed = fleet.run('fleet', 'finalize')
    assert f'highest microversion: {NEWEST}' in printed

    mixed_fleet.wait_for_maximum(rest, NEWEST)


@pytest.mark.every_platform
@pytest.mark.parametrize('platform', PLATFORMS)
def test_fleet_is_upgraded_engine_by_engine(
    platform: Platform, tmp_path: pathlib.Path
) -> None:
    """The API first, then the engines, while a cluster lives on."""
    with deployed(platform, tmp_path) as fleet:
        manifest = mixed_fleet.old_manifest(fleet)
        first = mixed_fleet.start_engine(fleet, 'old', manifest)
        fleet.start_api()
        with fleet.rest('1.7') as rest:
            assert rest.maximum() == '1.7'
            profile = rest.create_profile()
            cluster = rest.create_cluster(profile, 2)

            second = mixed_fleet.start_engine(fleet, 'new')
            assert rest.maximum() == '1.7'
            rest.wait_for_success(
                rest.start_action(cluster, 'scale_out', count=1)
            )
            mixed_fleet.stop_engine(fleet, first)
            mixed_fleet.wait_for_maximum(rest, NEWEST)

            # And back again.
            again = mixed_fleet.start_engine(fleet, 'old-2', manifest)
            assert rest.maximum() == '1.7'
            mixed_fleet.stop_engine(fleet, second)
            assert rest.maximum() == '1.7'
            rest.wait_for_success(
                rest.start_action(cluster, 'scale_in', count=2)
            )
            mixed_fleet.start_engine(fleet, 'next')
            mixed_fleet.stop_engine(fleet, again)
            mixed_fleet.wait_for_maximum(rest, NEWEST)
            newest = rest.at(NEWEST)
            (node,) = newest.get(f'/v1/nodes?cluster_id={cluster}')
            assert node['tainted'] is False
            path = f'/v1/clusters/{cluster}'
            newest.wait_for_success(newest.delete(path, {'force': True}))
            fleet.assert_tidy()


@pytest.mark.parametrize('platform', TRANSPORTS)
def test_action_of_a_new_engine_is_not_misread_by_an_old_one(
    platform: Platform, tmp_path: pathlib.Path
) -> None:
    """A forced deletion waits for an engine that can read it."""
    busy = {'engine': {'workers': 1}, 'simulated': {'latency': 60}}
    with deployed(platform, tmp_path) as fleet:
        new = fleet.start_engine('busy', settings=busy)
        fleet.start_api()
        with fleet.rest() as rest:
            profile = rest.create_profile()
            cluster, _creation = rest.start_cluster(profile, 1)
            wait_for(
                'its only worker is busy',
                lambda: fleet.running_actions(new.id),
            )
            path = f'/v1/clusters/{cluster}'
            deletion = rest.delete(path, {'force': True})
            new.process.kill()
            fleet.group.remove(new.process)

            old = mixed_fleet.start_engine(
                fleet, 'old', mixed_fleet.old_manifest(fleet)
            )

            # Until the API knows the old engine, it has none and answers 503.
            mixed_fleet.wait_for_maximum(rest, '1.7')
            at = rest.at('1.7')
            wait_for(
                'the old engine has left the unreadable action',
                lambda: (
                    f'Left action {deletion} to newer engines'
                    in old.process.log.read_text()
                ),
            )
            wait_for(
                'the old engine executes what it can read',
                lambda: at.get(path)['status'] == 'ACTIVE',
            )
            assert at.get(f'/v1/actions/{deletion}')['status'] == 'READY'
            mixed_fleet.start_engine(fleet, 'next')
            action = at.wait_for_success(deletion)
            assert action['inputs'] == {'force': True}
            at.assert_missing(path)
        fleet.assert_tidy()


@pytest.mark.parametrize(
    ('other', 'expected'), [('next', 'draining'), ('old', 'joining')]
)
def test_state_of_a_draining_engine_is_one_that_all_engines_can_read(
    other: str, expected: str, tmp_path: pathlib.Path
) -> None:
    with deployed(Platform('embedded', 'sqlite'), tmp_path) as fleet:
        manifest = mixed_fleet.old_manifest(fleet) if other == 'old' else None

        def start() -> None:
            mixed_fleet.start_engine(fleet, other, manifest)

        assert mixed_fleet.drain_beside(fleet, start) == expected


def test_old_engine_joins_a_service_that_up_has_started(
    tmp_path: pathlib.Path,
) -> None:
    """`vobjects up` and an old engine, as in the documentation."""
    with deployed(Platform('embedded', 'sqlite'), tmp_path) as fleet:
        fleet.start_all()
        manifest = tmp_path / 'old.json'
        manifest.write_text(
            fleet.run('fleet', 'manifest', '1.7', configured=False)
        )
        before = fleet.engine_ids()
        old = fleet.group.start(
            'old',
            *(sys.executable, '-m', 'vobjects', 'engine'),
            f'--config-file={fleet.directory / "state" / "vobjects.conf"}',
            *(f'--manifest={manifest}', '--release=0.0.9'),
        )
        wait_for('it has joined', lambda: fleet.engine_ids() - before)
        with fleet.rest() as rest:
            assert rest.maximum() == '1.7'
            reason = rest.expect_error(406, 'GET', '/v1/clusters')
            assert 'release 0.0.9' in reason
            old.kill()
            fleet.group.remove(old)
            mixed_fleet.wait_for_maximum(rest, NEWEST)
