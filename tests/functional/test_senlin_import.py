# SPDX-License-Identifier: Apache-2.0
"""``vobjects db import-senlin`` with the recorded database of a real Senlin.

:mod:`tests.senlin_recording` has recorded it, and Senlin's responses.
"""

from __future__ import annotations

import json
import pathlib
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests import senlin_recording, senlin_server
from tests.functional import deployments, fork_server, keystone
from tests.functional.processes import TIMEOUT

#: Path -> body of Senlin's response.
RECORDED = json.loads(senlin_recording.RESPONSES.read_text())

#: Times, as both services show them.
TIME = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?')

COUNTS = """\
profiles: 3
clusters: 20
nodes: 37
policies: 5
cluster_policies: 19
receivers: 8
"""


#: Name of an object -> fields that differ.
NOT_COMPARED = {
    'actions': {'domain'},
    'actor': {'trust_id'},
    # Senlin lists the bindings, although its documentation says policies.
    'cluster': {'policies'},
    'clusters': {'policies'},
    'data': {'preexisting', 'vip_address'},
    # Senlin shows more of a cluster.
    'events': {'cluster'},
    'meta_data': {'phase'},
}


def comparable(value: Any, name: str = '') -> Any:
    """Return a response without the known differences.

    Senlin has several forms of times, and of missing values. It sorts by one
    key, so that the order of equal names is arbitrary.
    """
    if isinstance(value, dict):
        compared = {
            key: comparable(item, key)
            for key, item in value.items()
            if key not in NOT_COMPARED.get(name, ())
        }
        return compared or None
    if isinstance(value, list):
        items = [comparable(item, name) for item in value]
        return sorted(items, key=lambda item: str(get_id(item))) or None
    if isinstance(value, str) and TIME.fullmatch(value):
        return value[:19]
    return None if value == '' else value


def get_id(item: Any) -> Any:
    """Return the ID of a resource, or the item itself."""
    return item.get('id', item) if isinstance(item, dict) else item


@pytest.fixture
def senlin(tmp_path: pathlib.Path) -> str:
    """URL of the recorded database."""
    path = tmp_path / 'senlin.sqlite'
    senlin_recording.restore_database(path)
    return f'sqlite:///{path}'


SETTINGS = {
    'api': {
        'default_user': senlin_server.IDENTITY['X-User-Id'],
        'default_project': senlin_server.IDENTITY['X-Project-Id'],
    }
}


@pytest.fixture
def deployment(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[deployments.Deployment]:
    """A database without processes; SQLite by default."""
    default = deployments.Platform('embedded', 'sqlite')
    platform = getattr(request, 'param', default)
    with deployments.deployed(platform, tmp_path, SETTINGS) as running:
        yield running


def run(
    deployment: deployments.Deployment, url: str, *words: str
) -> subprocess.CompletedProcess[str]:
    """Run the import."""
    completed = fork_server.run(
        deployment.command('db', 'import-senlin', f'--from={url}', *words),
        deployment.group.environment(),
        TIMEOUT,
    )
    assert 'Traceback' not in completed.stderr
    return completed


@pytest.mark.parametrize(
    'deployment',
    [
        deployments.Platform('embedded', name).parameter()
        for name in ('sqlite', 'postgresql', 'mysql')
    ],
    indirect=True,
)
def test_import_when_repeated_keeps_everything(
    deployment: deployments.Deployment, senlin: str
) -> None:
    tried = run(deployment, senlin, '--dry-run')
    assert tried.returncode == 0, tried.stdout
    assert 'clusters: 20 would be imported' in tried.stdout
    assert deployment.rows('SELECT id FROM profiles') == []

    first = run(deployment, senlin, '--history')
    assert first.returncode == 0
    assert first.stdout.startswith(COUNTS)
    endpoint = 'http://clustering.example.org:8777'
    assert f'8 webhook(s) are called at {endpoint}' in first.stdout

    again = run(deployment, senlin, '--history')
    assert again.returncode == 0
    assert 'clusters: 0 (20 exist already)' in again.stdout

    deployment.start_engine('engine')
    deployment.start_api()
    with deployment.rest(senlin_recording.VERSION) as rest:
        for path, expected in RECORDED.items():
            actual = rest.expect(200, 'GET', path).json()
            assert comparable(actual) == comparable(expected), path

        for cluster in RECORDED['/v1/clusters?sort=name']['clusters']:
            # The simulated cloud has no load balancers of another cloud.
            if not cluster['data']:
                rest.run(cluster['id'], 'scale_out', count=1)


def test_import_when_senlin_is_in_use_changes_nothing(
    deployment: deployments.Deployment, senlin: str
) -> None:
    with sqlite3.connect(senlin.removeprefix('sqlite:///')) as connection:
        connection.execute("UPDATE service SET updated_at = datetime('now')")
        connection.execute("UPDATE action SET status = 'RUNNING'")
        connection.execute(
            'UPDATE policy SET spec = replace(spec, "scaling", "magic")'
        )
    connection.close()

    completed = run(deployment, senlin)

    assert completed.returncode == 1
    for words in (
        'seconds ago; stop it and wait: senlin-',
        'Senlin has unfinished actions',
        'senlin.policy.magic-1.0',
        'Nothing was imported.\n',
    ):
        assert words in completed.stdout
    assert deployment.rows('SELECT id FROM profiles') == []


@pytest.mark.parametrize(
    ('url', 'code', 'words'),
    [
        ('nonsense', 2, 'cannot be used'),
        ('sqlite://', 2, 'is not a database of Senlin'),
        ('sqlite:///missing.sqlite', 2, 'there is no file missing.sqlite'),
        ('mysql+pymysql://user:secret@127.0.0.1:1/x', 1, 'cannot be used'),
    ],
)
def test_import_when_the_url_is_wrong_names_the_option(
    url: str,
    code: int,
    words: str,
    deployment: deployments.Deployment,
) -> None:
    completed = run(deployment, url)

    assert completed.returncode == code, completed.stderr
    assert f'--from {url[:5]}' in completed.stderr
    assert words in completed.stderr
    assert 'secret' not in completed.stderr


@pytest.mark.long
def test_import_when_senlin_used_the_same_account_keeps_its_trusts(
    tmp_path: pathlib.Path, senlin: str
) -> None:
    with keystone.running(tmp_path) as identity:
        identity.add_project('web')
        identity.add_user('owner', 'web', 'member')
        user = identity.id_of('users', 'owner')
        project = identity.id_of('projects', 'web')
        trust = identity.session('owner', 'web').post(
            f'{identity.url}/OS-TRUST/trusts',
            json={
                'trust': {
                    'trustor_user_id': user,
                    'trustee_user_id': identity.id_of(
                        'users', keystone.SERVICE_USER
                    ),
                    'project_id': project,
                    'impersonation': True,
                    'roles': [{'name': 'member'}],
                }
            },
        )
        trust_id = trust.json()['trust']['id']
        with sqlite3.connect(senlin.removeprefix('sqlite:///')) as connection:
            for table in ('profile', 'cluster', 'node', 'policy', 'receiver'):
                connection.execute(
                    f'UPDATE {table} SET user = ?, project = ?',
                    (user, project),
                )
            connection.execute(
                'UPDATE receiver SET actor = ? WHERE action LIKE ?',
                (json.dumps({'trust_id': trust_id}), '%SCALE_OUT'),
            )
            for name, id_ in ((user, trust_id), ('former', 'expired')):
                connection.execute(
                    'INSERT INTO credential (user, project, cred)'
                    ' VALUES (?, ?, ?)',
                    (name, project, json.dumps({'openstack': {'trust': id_}})),
                )
        connection.close()
        platform = deployments.Platform('embedded', 'sqlite')
        with deployments.deployed(
            platform, tmp_path, identity.settings()
        ) as deployment:
            completed = run(deployment, senlin)
            assert 'trusts: 1\n' in completed.stdout
            assert 'Keystone rejects 2 of 3 trusts' in completed.stdout
            (row,) = deployment.rows('SELECT * FROM project_trusts')
            assert (row.user, json.loads(row.roles)) == (
                user,
                ['member', 'reader'],
            )
            assert trust_id not in row.sealed

            deployment.start_engine('engine')
            deployment.start_api()
            receivers = RECORDED['/v1/receivers?sort=name']['receivers']
            for receiver in receivers:
                path = f'/v1/webhooks/{receiver["id"]}/trigger?V=2'
                response = requests.post(
                    deployment.url + path, timeout=TIMEOUT
                )
                is_trusted = receiver['action'] == 'CLUSTER_SCALE_OUT'
                expected = (202, 409) if is_trusted else (403,)
                assert response.status_code in expected, response.text
