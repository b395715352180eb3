# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from typing import Any

import pytest

import vobjects
from engine import scheduler
from engine.db import models
from tests import waiting
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects import exceptions
from vobjects.clustering.requests import actions, clusters, nodes
from vobjects.objects.manifest import Manifest, local
from vobjects_simulated import tables


def at_rest(harness: Harness) -> bool:
    return all(row.end_time for row in harness.rows(models.Action))


def test_pool_runs_announced_actions_at_once(any_harness: Harness) -> None:
    any_harness.conf.set_override('poll_interval', 60.0, 'engine')
    engine = any_harness.engine()
    engine.scheduler.start()
    cluster = request_helpers.create_cluster(engine, 5, run=False)
    waiting.eventually(lambda: at_rest(any_harness))
    engine.scheduler.stop(5)
    assert request_helpers.get_cluster(engine, cluster).status == 'ACTIVE'
    any_harness.assert_idle()


def test_several_engines_run_each_action_once(any_harness: Harness) -> None:
    engines = [any_harness.engine(name=name) for name in 'abc']
    for engine in engines:
        engine.scheduler.start()
    ids = [
        request_helpers.create_cluster(
            engine, 3, run=False, name=f'c{number}', profile_id=id_
        )
        for number, engine in enumerate(engines)
        for id_ in [request_helpers.create_profile(engine, f'p{number}')]
    ]
    waiting.eventually(lambda: at_rest(any_harness), 30)
    for engine in engines:
        engine.scheduler.stop(5)
    shown = [request_helpers.get_cluster(engines[0], id_) for id_ in ids]
    assert [node.status for node in shown] == ['ACTIVE'] * 3
    assert any_harness.cloud.servers.calls.count('create') == 9
    any_harness.assert_idle()


def test_unannounced_action_is_found_by_polling(harness: Harness) -> None:
    harness.conf.set_override('poll_interval', 0.05, 'engine')
    deaf = harness.engine(name='deaf')
    request_helpers.create_node(harness.engine(name='other'), run=False)
    deaf.scheduler.start()
    waiting.eventually(lambda: at_rest(harness))
    deaf.scheduler.stop(5)


def test_claims_do_not_exceed_workers(harness: Harness) -> None:
    harness.conf.set_override('workers', 2, 'engine')
    harness.conf.set_override('latency', 0.2, 'simulated')
    engine = harness.engine()
    request_helpers.create_cluster(engine, 5, run=False)
    engine.run_actions(1)
    engine.scheduler.start()
    waiting.eventually(
        lambda: harness.statuses('NODE_CREATE').count('RUNNING') == 2, 5
    )
    assert harness.statuses('NODE_CREATE').count('READY') == 3
    engine.scheduler.stop(5)


def test_stop_releases_unfinished_actions(harness: Harness) -> None:
    gate = threading.Event()
    engine = harness.engine(name='leaving')
    heir = harness.engine(name='heir')
    request_helpers.create_node(engine, run=False)
    servers: Any = engine.runtime.provider.servers
    create = servers.create
    servers.create = lambda *arguments: gate.wait(240) and create(*arguments)
    engine.scheduler.start()
    waiting.eventually(lambda: harness.statuses('NODE_CREATE') == ['RUNNING'])
    engine.scheduler.stop(0.05)
    del servers.create
    assert harness.statuses('NODE_CREATE') == ['READY']
    assert heir.run_actions() == 1
    gate.set()
    for thread in engine.scheduler._workers:
        thread.join()
    harness.assert_idle()
    assert harness.count(tables.SimulatedServer) == 1


def test_stop_waits_for_running_actions(harness: Harness) -> None:
    gate = threading.Event()
    engine = harness.engine()
    request_helpers.create_node(engine, run=False)
    servers: Any = engine.runtime.provider.servers
    create = servers.create
    servers.create = lambda *arguments: gate.wait(240) and create(*arguments)
    engine.scheduler.start()
    waiting.eventually(lambda: harness.statuses('NODE_CREATE') == ['RUNNING'])
    stopping = threading.Thread(target=engine.scheduler.stop, args=(240,))
    stopping.start()
    request_helpers.create_node(engine, name='late', run=False)
    gate.set()
    stopping.join()
    del servers.create
    # And begins nothing new.
    assert harness.statuses('NODE_CREATE') == ['READY', 'SUCCEEDED']


def test_claim_without_worker_is_released(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_node(engine, run=False)
    run = engine.scheduler.claim()
    assert run is not None
    engine.scheduler.give_back()
    assert harness.statuses('NODE_CREATE') == ['RUNNING']
    engine.scheduler.finish(run)
    engine.scheduler.give_back()
    assert harness.statuses('NODE_CREATE') == ['READY']


def test_transient_error_leaves_action_for_retry(harness: Harness) -> None:
    outcomes = iter([exceptions.NoLivePeer('the ledger is away'), None])

    def cap() -> Manifest | None:
        outcome = next(outcomes, None)
        if outcome is not None:
            raise outcome
        return None

    engine = harness.engine()
    request_helpers.create_cluster(engine, 1, run=False)
    flaky = harness.engine(name='flaky', cap=cap)
    assert flaky.run_actions(1) == 0
    assert harness.statuses('CLUSTER_CREATE') == ['READY']
    assert flaky.run_actions() == 3
    harness.assert_idle()


# Engines of different age


def older(**versions: str) -> Manifest:
    return Manifest({**local(), **versions})


def test_inputs_are_stored_at_the_cap(harness: Harness) -> None:
    cap = older(ClusterDeleteRequest='1.0', ClusterCreateRequest='1.0')
    engine = harness.engine(cap=lambda: cap)
    cluster = request_helpers.create_cluster(engine, 1)
    engine.call(clusters.ClusterDeleteRequest(identity=cluster, force=False))
    versions = {
        row.action: row.inputs.versions for row in harness.rows(models.Action)
    }
    assert versions['CLUSTER_CREATE'] == 'ClusterCreateRequest 1.0'
    assert versions['CLUSTER_DELETE'] == 'ClusterDeleteRequest 1.0'


def test_older_engine_leaves_newer_inputs_to_newer_engines(
    any_harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level('INFO')
    newer = any_harness.engine(name='newer')
    old = any_harness.engine(name='old', speaks=older(NodeUpdateRequest='1.0'))
    node = request_helpers.create_node(newer)
    newer.call(nodes.NodeUpdateRequest(identity=node, tainted=True))
    request_helpers.create_node(
        newer, name='second', profile_id='of-node', run=False
    )
    assert old.run_actions() == 1
    assert any_harness.statuses('NODE_UPDATE') == ['READY']
    assert 'NodeUpdateRequest 1.1 (this release: 1.0)' in caplog.text
    assert f'a newer release than {vobjects.__version__}' in caplog.text
    listed = old.call(actions.ActionListRequest(action=['NODE_UPDATE']))
    assert [shown.inputs['tainted'] for shown in listed] == [True]
    assert any_harness.statuses('NODE_CREATE') == ['SUCCEEDED'] * 2
    assert newer.run_actions() == 1
    assert request_helpers.get_node(newer, node).tainted is True
    any_harness.assert_idle()


def test_action_of_unknown_type_is_not_claimed(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_node(engine, run=False)
    harness.change(models.Action, action='NODE_TELEPORT')
    assert engine.run_actions() == 0
    assert harness.statuses('NODE_TELEPORT') == ['READY']


def test_new_projects_wait_for_one_step_of_each_other_at_a_time(
    any_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, 'CANDIDATES_LIFETIME', 0.0)
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 8, run=False)
    engine.run_actions(2)  # the cluster's, and a node's
    projects = ('bobs', 'carols')
    for project in projects:
        context = engine_harness.request_context(project)
        request_helpers.create_cluster(engine, 1, run=False, context=context)

    def statuses() -> set[str]:
        return {
            row.status
            for row in any_harness.rows(models.Action)
            if row.project in projects
        }

    stages = 0
    while statuses() != {'SUCCEEDED'}:
        assert engine.run_actions(1)
        stages += 1
    # The first and last stage of a cluster, its node's, and one of ours
    # before each.
    assert stages <= 9
    engine.run_actions()
    any_harness.assert_idle()


@pytest.mark.parametrize(
    ('query', 'interval'), [(0.0, 0.0), (0.002, 0.018), (0.1, 0.1), (9.0, 0.1)]
)
def test_candidates_are_queried_again_sooner_while_that_is_fast(
    query: float, interval: float
) -> None:
    now = 100.0
    candidates = scheduler._Candidates(lambda: now)
    candidates.begin_query()
    now += query
    candidates.end_query(['a', 'b'])
    assert not candidates.needs_query()
    candidates.announce('c')  # may come before the others
    now += interval / 2
    assert candidates.needs_query() is (interval == 0)
    now += interval
    assert candidates.needs_query()


def test_only_candidate_needs_no_query() -> None:
    now = 100.0
    candidates = scheduler._Candidates(lambda: now)
    candidates.begin_query()
    candidates.end_query([])
    candidates.announce('a')
    assert not candidates.needs_query()
    assert candidates.next() == 'a'
