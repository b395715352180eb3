# SPDX-License-Identifier: Apache-2.0
"""Rows that a rolled back release cannot read.

The next release is a copy of the source with the change of the guide
doc/source/adding.rst: ``ClusterCreateRequest`` 1.2 has a new field.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests import adding_guide, machine_speed
from tests.functional import fork_server
from tests.functional.deployments import (
    Deployment,
    Engine,
    Platform,
    deployed,
)
from tests.functional.processes import TIMEOUT, wait_for

ROOT = pathlib.Path(__file__).parents[2]

#: The engine of the next release. It stores requests of clusters: the first
#: number of them at the version of this release, as if there were engines of
#: it, and the second number at its own. With ``run``, it runs what is ready.
SCRIPT = """
import sys

from engine.db import database, migrations
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.conftest import configuration
from vobjects.objects.manifest import Manifest, local

_, step, url, *numbers = sys.argv
conf = configuration(url)
target = database.Database(conf)
migrations.expand(target)
cap = local()
engine = engine_harness.Harness(conf, target).engine(cap=lambda: cap)
if step == 'store':
    old, new = map(int, numbers)
    cap = Manifest({**local(), 'ClusterCreateRequest': '1.1'})
    for _ in range(old):
        request_helpers.create_cluster(engine, 0, run=False)
    cap = local()
    for _ in range(new):
        request_helpers.create_cluster(engine, 0, run=False, locked=True)
else:
    engine.run_actions()
engine.ledger.leave(engine.member.id)
"""

NextRelease = Callable[..., None]

#: Actions that the next release stores before a rollback: at the version of
#: this release, and at its own.
PLANS = [(old, new) for old in range(3) for new in range(3)] + [(4, 0)]


@pytest.fixture(scope='module')
def next_release(tmp_path_factory: pytest.TempPathFactory) -> NextRelease:
    """Run :data:`SCRIPT` in the next release."""
    tree = tmp_path_factory.mktemp('next')
    adding_guide.copy(ROOT, tree)
    for step in adding_guide.steps():
        if step.command is None:
            step.apply(tree)

    def run(step: str, service: Deployment, *numbers: int) -> None:
        url = service.database_url
        subprocess.run(
            [sys.executable, '-c', SCRIPT, step, url, *map(str, numbers)],
            cwd=tree,
            env={**os.environ, 'PYTHONPATH': str(tree)},
            timeout=600 * machine_speed.scale(),
            check=True,
        )

    return run


def can_roll_back(service: Deployment) -> tuple[int, dict[str, Any]]:
    command = service.command('fleet', 'can-roll-back', '0.1.0', '-o', 'json')
    completed = fork_server.run(
        command, service.group.environment(), timeout=TIMEOUT
    )
    return completed.returncode, json.loads(completed.stdout)


def counts(service: Deployment) -> dict[str, int]:
    (census,) = json.loads(service.run('stored', 'scan', '-o', 'json'))
    return {count['versions']: count['rows'] for count in census['counts']}


def test_commands_and_engine_agree_on_a_row_of_the_next_release(
    next_release: NextRelease, tmp_path: pathlib.Path
) -> None:
    with deployed(Platform('embedded', 'sqlite'), tmp_path) as service:
        next_release('store', service, 1, 1)
        query = "SELECT id FROM actions WHERE inputs LIKE '%locked%'"
        ((newer,),) = service.rows(query)
        both = {'ClusterCreateRequest 1.1': 1, 'ClusterCreateRequest 1.2': 1}
        assert counts(service) == both
        code, answer = can_roll_back(service)
        assert (code, answer['can_roll_back']) == (1, False)
        (obstacle,) = answer['obstacles']
        assert obstacle['needs'] == 'ClusterCreateRequest 1.2 (at most 1.1)'
        assert obstacle['examples'] == [newer]

        engine = service.start_engine('rolled-back')
        left = f'Left action {newer} to newer engines: A row contains'
        wait_for('left', lambda: left in engine.process.log.read_text())
        statuses = f"SELECT status FROM actions WHERE id != '{newer}'"
        wait_for(
            'the other action ended',
            lambda: service.rows(statuses) == [('SUCCEEDED',)],
        )
        assert 'ClusterCreateRequest 1.2 (this release: 1.1)' in (
            engine.process.log.read_text()
        )
        assert counts(service) == {'ClusterCreateRequest 1.2': 1}
        assert can_roll_back(service)[0] == 1
        service.group.remove(engine.process)
        assert engine.process.stop() == 0

        next_release('run', service)
        assert counts(service) == {}
        assert can_roll_back(service)[0] == 0


#: The actions that no engine has completed.
UNFINISHED = "SELECT id FROM actions WHERE status != 'SUCCEEDED'"


def wait_until_done(service: Deployment, engine: Engine) -> list[str]:
    """Return the actions that an engine has left to newer ones."""

    def is_done() -> bool:
        log = engine.process.log.read_text()
        return all(
            f'Left action {action} to newer' in log
            for (action,) in service.rows(UNFINISHED)
        )

    wait_for('each action has ended or is left', is_done)
    return [action for (action,) in service.rows(UNFINISHED)]


@pytest.mark.long
def test_verdict_agrees_with_what_rolled_back_engines_read(
    next_release: NextRelease, tmp_path: pathlib.Path
) -> None:
    verdicts = set()
    with deployed(Platform('embedded', 'sqlite'), tmp_path) as service:
        for number, (old, new) in enumerate(PLANS):
            next_release('store', service, old, new)
            verdict = can_roll_back(service)[1]['can_roll_back']
            verdicts.add(verdict)

            engine = service.start_engine(f'rolled-back-{number}')
            left = wait_until_done(service, engine)
            assert verdict == (not left), (old, new)
            service.group.remove(engine.process)
            assert engine.process.stop() == 0

            next_release('run', service)
            assert service.rows(UNFINISHED) == []
    assert verdicts == {True, False}
