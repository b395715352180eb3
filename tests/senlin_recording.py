# SPDX-License-Identifier: Apache-2.0
"""Record the database and the responses of a real Senlin.

::

    python -m tests.senlin_recording

runs Senlin 16 (:mod:`tests.senlin_server`), creates twenty clusters with
nodes, policies and receivers, and writes ``tests/functional/senlin-16.sql``,
its database for SQLite, and ``tests/functional/senlin-16.json``, its responses
to GET requests. The tests of the import use both.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import sqlite3
import tempfile
import time
from typing import Any

import requests
import sqlalchemy

from tests import senlin_server

FOLDER = pathlib.Path(__file__).parent / 'functional'
DATABASE = FOLDER / 'senlin-16.sql'
RESPONSES = FOLDER / 'senlin-16.json'

VERSION = '1.14'
CLUSTERS = 20
TIMEOUT = 120.0

#: Tables without a meaning outside of this Senlin.
NOT_RECORDED = {'cluster_lock', 'node_lock', 'migrate_version'}

SERVER: dict[str, Any] = {
    'type': 'os.nova.server',
    'version': '1.0',
    'properties': {
        'name': 'web',
        'flavor': 'm1.small',
        'image': 'cirros',
        'networks': [{'network': 'private'}],
        'metadata': {'tier': 'web'},
    },
}
PROFILES: dict[str, Any] = {
    'web': SERVER,
    'large': {
        **SERVER,
        'properties': {**SERVER['properties'], 'flavor': 'm1.large'},
    },
    'stack': {
        'type': 'os.heat.stack',
        'version': '1.0',
        'properties': {
            'template': {
                'heat_template_version': '2014-10-16',
                'resources': {},
            }
        },
    },
}
POLICIES: dict[str, Any] = {
    'scale-out': {
        'type': 'senlin.policy.scaling',
        'version': '1.0',
        'properties': {
            'event': 'CLUSTER_SCALE_OUT',
            'adjustment': {'type': 'CHANGE_IN_CAPACITY', 'number': 1},
        },
    },
    'oldest-first': {
        'type': 'senlin.policy.deletion',
        'version': '1.1',
        'properties': {'criteria': 'OLDEST_FIRST'},
    },
    'batches': {
        'type': 'senlin.policy.batch',
        'version': '1.0',
        'properties': {'min_in_service': 1, 'max_batch_size': 2},
    },
    'heal': {
        'type': 'senlin.policy.health',
        'version': '1.1',
        'properties': {
            'detection': {
                'interval': 120,
                'detection_modes': [{'type': 'NODE_STATUS_POLLING'}],
            },
            'recovery': {'actions': [{'name': 'RECREATE'}]},
        },
    },
    'balance': {
        'type': 'senlin.policy.loadbalance',
        'version': '1.1',
        'properties': {
            'pool': {'protocol': 'HTTP', 'protocol_port': 80, 'subnet': 's'},
            'vip': {'protocol': 'HTTP', 'protocol_port': 80, 'subnet': 's'},
        },
    },
}
RECEIVERS: dict[str, Any] = {
    'grow': {'action': 'CLUSTER_SCALE_OUT', 'params': {'count': 1}},
    'check': {'action': 'CLUSTER_CHECK'},
}


def restore_database(path: pathlib.Path) -> None:
    """Write the recorded database to a new SQLite file."""
    connection = sqlite3.connect(path)
    connection.executescript(DATABASE.read_text())
    connection.close()


class Client:
    """Client of Senlin's API.

    :param port: port of the API
    """

    def __init__(self, port: int) -> None:
        self._url = f'http://127.0.0.1:{port}'
        self._session = requests.Session()
        self._session.headers.update(
            {
                **senlin_server.IDENTITY,
                'OpenStack-API-Version': f'clustering {VERSION}',
            }
        )

    def wait_until_served(self) -> None:
        """Wait until an engine answers."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            try:
                if self._session.get(f'{self._url}/v1/profile-types').ok:
                    return
            except requests.ConnectionError:
                pass
            time.sleep(0.5)
        raise SystemExit('Senlin does not serve requests')

    def get(self, path: str) -> Any:
        """Return the body of a response."""
        response = self._session.get(self._url + path)
        assert response.ok, (path, response.text)
        return response.json()

    def create(self, kind: str, name: str, **values: Any) -> str:
        """Create a resource, wait for its action, and return its ID."""
        body = {kind: {'name': name, **values}}
        plural = 'policies' if kind == 'policy' else f'{kind}s'
        response = self._session.post(f'{self._url}/v1/{plural}', json=body)
        assert response.ok, (body, response.text)
        self._wait(response.headers.get('Location', ''))
        return str(response.json()[kind]['id'])

    def act(self, cluster: str, action: str, **values: Any) -> None:
        """Start an action on a cluster, and wait for its end."""
        response = self._session.post(
            f'{self._url}/v1/clusters/{cluster}/actions', json={action: values}
        )
        assert response.ok, (action, response.text)
        self._wait(response.headers.get('Location', ''))

    def _wait(self, location: str) -> None:
        if '/actions/' not in location:
            return
        path = '/v1/actions/' + location.rpartition('/')[2]
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            action = self.get(path)['action']
            if action['status'] in ('SUCCEEDED', 'FAILED', 'CANCELLED'):
                reason = action['status_reason']
                print(action['action'], reason)  # noqa: T201
                return
            time.sleep(0.2)
        raise SystemExit(f'{path} has no end')


def fill(client: Client) -> None:
    """Create the resources."""
    profiles = [
        client.create('profile', name, spec=spec, metadata={'p': name})
        for name, spec in PROFILES.items()
    ]
    policies = {
        name: client.create('policy', name, spec=spec)
        for name, spec in POLICIES.items()
    }
    names = itertools.cycle(policies)
    for number in range(CLUSTERS):
        cluster = client.create(
            'cluster',
            f'cluster-{number}',
            profile_id=profiles[number % 2],
            desired_capacity=number % 4,
            min_size=0,
            max_size=10,
            metadata={'number': str(number)},
            timeout=600 + number,
        )
        for _ in range(number % 3):
            client.act(
                cluster, 'policy_attach', policy_id=policies[next(names)]
            )
        if number % 5 == 0:
            for name, values in RECEIVERS.items():
                client.create(
                    'receiver',
                    f'{name}-{number}',
                    type='webhook',
                    cluster_id=cluster,
                    **values,
                )
        if number % 6 == 0:
            client.act(cluster, 'scale_out', count=1)
    for number in range(3):
        client.create(
            'node',
            f'single-{number}',
            profile_id=profiles[number],
            role='single',
            metadata={'n': str(number)},
        )


def responses(client: Client) -> dict[str, Any]:
    """Return path -> body of the response to a GET request."""
    recorded: dict[str, Any] = {}
    for plural in ('profiles', 'clusters', 'nodes', 'policies', 'receivers'):
        path = f'/v1/{plural}?sort=name'
        recorded[path] = client.get(path)
        for item in recorded[path][plural]:
            single = f'/v1/{plural}/{item["id"]}'
            recorded[single] = client.get(single)
            if plural == 'clusters':
                for more in ('policies', 'attrs/$.name'):
                    recorded[f'{single}/{more}'] = client.get(
                        f'{single}/{more}'
                    )
    for plural in ('actions', 'events'):
        recorded[f'/v1/{plural}'] = client.get(f'/v1/{plural}')
    return recorded


def dump(url: str) -> str:
    """Return a database as SQL statements for SQLite."""
    source = sqlalchemy.create_engine(url)
    reflected = sqlalchemy.MetaData()
    reflected.reflect(source)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / 'senlin.sqlite'
        copy = sqlalchemy.create_engine(f'sqlite:///{file}')
        metadata = sqlalchemy.MetaData()
        with source.connect() as reading, copy.begin() as writing:
            for table in reflected.sorted_tables:
                if table.name in NOT_RECORDED:
                    continue
                plain = sqlalchemy.Table(
                    table.name,
                    metadata,
                    *(
                        sqlalchemy.Column(
                            column.name,
                            column.type.as_generic(),
                            primary_key=column.primary_key,
                        )
                        for column in table.columns
                    ),
                )
                plain.create(writing)
                rows = [
                    dict(row)
                    for row in reading.execute(
                        sqlalchemy.select(table)
                    ).mappings()
                ]
                if rows:
                    writing.execute(plain.insert(), rows)
        copy.dispose()
        source.dispose()
        connection = sqlite3.connect(file)
        lines = '\n'.join(connection.iterdump())
        connection.close()
        return lines + '\n'


def _lines(recorded: dict[str, Any]) -> str:
    """Return JSON with one line for each response."""
    lines = (
        f'{json.dumps(path)}: {json.dumps(body)}'
        for path, body in recorded.items()
    )
    return '{' + ',\n'.join(lines) + '}\n'


def main() -> None:
    """Run Senlin, and write the files."""
    with senlin_server.running('senlin-health-manager') as senlin:
        client = Client(senlin.port)
        client.wait_until_served()
        fill(client)
        recorded = responses(client)
        DATABASE.write_text(dump(senlin.database))
        RESPONSES.write_text(_lines(recorded))


if __name__ == '__main__':
    main()
