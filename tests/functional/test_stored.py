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
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import TIMEOUT, wait_for

ROOT = pathlib.Path(__file__).parents[2]

#: The engine of the next release. It stores the requests of two clusters: one
#: at the version of this release, as long as there are engines of it, and one
#: at its own. With ``run``, it runs what is ready.
SCRIPT = """
import sys

from engine.db import database, migrations
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.conftest import configuration
from vobjects.objects.manifest import Manifest, local

_, step, url = sys.argv
conf = configuration(url)
target = database.Database(conf)
migrations.expand(target)
cap = local()
engine = engine_harness.Harness(conf, target).engine(cap=lambda: cap)
if step == 'store':
    cap = Manifest({**local(), 'ClusterCreateRequest': '1.1'})
    request_helpers.create_cluster(engine, 0, name='old', run=False)
    cap = local()
    request_helpers.create_cluster(
        engine, 0, name='new', run=False, profile_id='p', locked=True)
else:
    engine.run_actions()
engine.ledger.leave(engine.member.id)
"""

NextRelease = Callable[[str, Deployment], None]


@pytest.fixture(scope='module')
def next_release(tmp_path_factory: pytest.TempPathFactory) -> NextRelease:
    """Run :data:`SCRIPT` in the next release."""
    tree = tmp_path_factory.mktemp('next')
    adding_guide.copy(ROOT, tree)
    for step in adding_guide.steps():
        if step.command is None:
            step.apply(tree)

    def run(step: str, service: Deployment) -> None:
        subprocess.run(
            [sys.executable, '-c', SCRIPT, step, service.database_url],
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
        next_release('store', service)
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
