# SPDX-License-Identifier: Apache-2.0
"""The secret store: three installed releases, side by side."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import openapi_spec_validator
import pytest
import requests
import sqlalchemy

from tests import databases, machine_speed
from tests.examples import releases
from tests.functional import brokers
from tests.functional.processes import (
    TIMEOUT,
    Process,
    ProcessGroup,
    wait_for,
)

EXAMPLE = releases.EXAMPLES / 'secret_store'

CONSUMER = {'service': 'lb', 'resource_type': 'pool', 'resource_id': 'p'}

Installed = dict[str, releases.Installation]


@pytest.fixture(scope='session')
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return releases.install(
        'secret_store', tmp_path_factory.mktemp('releases'), ['postgresql']
    )


class Deployment:
    """Processes of any releases with one configuration file."""

    def __init__(
        self,
        installed: Installed,
        group: ProcessGroup,
        file: pathlib.Path,
        database: str,
    ) -> None:
        self.installed = installed
        self.group = group
        self.file = file
        self.database = database
        self.url = ''

    def start_engine(self, release: str, name: str = '') -> Process:
        """Start an engine, and wait until it is in the fleet."""
        name = name or f'engine-{release}'
        engine, _ = self._start('engine', release, name, r'(Serving) ', 1)
        return engine

    def start_api(self, release: str) -> Process:
        """Start an API, wait for it, and send later requests to it."""
        address = r'running on (http://\S+)'
        api, self.url = self._start('api', release, f'api-{release}', address)
        return api

    def _start(
        self, kind: str, release: str, name: str, ready: str, order: int = 0
    ) -> tuple[Process, str]:
        """Start a process; return it and the log line of its start."""
        program = self.installed[release].program(f'secret-store-{kind}')
        log = self.group.directory / f'{name}.log'
        offset = log.stat().st_size if log.exists() else 0
        process = self.group.start(
            name, program, str(self.file), stop_order=order
        )

        def logged() -> str:
            self.group.assert_alive()
            match = re.search(ready, log.read_bytes()[offset:].decode())
            return match[1] if match else ''

        return process, wait_for(f'{name} is ready', logged)

    def stop(self, process: Process) -> None:
        assert process.stop() == 0
        self.group.remove(process)

    def wait_for_maximum(self, version: str) -> None:
        """Wait until the API offers exactly this maximum."""

        def maximum() -> bool:
            response = requests.get(f'{self.url}/v1', timeout=TIMEOUT)
            if response.status_code != 200:
                return False
            return bool(response.json()['version']['max_version'] == version)

        wait_for(f'the maximum is {version}', maximum)

    def send(
        self,
        method: str,
        path: str,
        version: str = '',
        body: Any = None,
        project: str = 'p1',
    ) -> requests.Response:
        headers = {'X-Project-Id': project}
        if version:
            headers['OpenStack-API-Version'] = f'key-manager {version}'
        url = path if path.startswith('http') else f'{self.url}{path}'
        return requests.request(
            method, url, json=body, headers=headers, timeout=TIMEOUT
        )

    def create(self, version: str, **values: Any) -> str:
        """Create a secret and return its URL."""
        body = {'payload': 'hush', **values}
        response = self.send('POST', '/v1/secrets', version, body)
        assert response.status_code == 201, response.text
        return str(response.json()['secret_ref'])

    def create_consumer(self, url: str) -> dict[str, Any]:
        """Create a consumer of a secret and return it."""
        response = self.send('POST', f'{url}/consumers', '1.1', CONSUMER)
        assert response.status_code == 201, response.text
        values: dict[str, Any] = response.json()
        return values

    def consumers(self) -> list[str]:
        """Return the id of the secret of each consumer in the database."""
        database = sqlalchemy.create_engine(self.database)
        query = sqlalchemy.text('SELECT secret_id FROM consumers')
        with database.connect() as connection:
            secrets = connection.scalars(query).all()
        database.dispose()
        return list(secrets)

    def show(self, url: str, version: str) -> dict[str, Any]:
        response = self.send('GET', url, version)
        assert response.status_code == 200, response.text
        values: dict[str, Any] = response.json()
        return values


@pytest.fixture(
    params=[
        'embedded',
        pytest.param('rabbit', marks=[pytest.mark.long, pytest.mark.rabbit]),
    ]
)
def deployment(
    request: pytest.FixtureRequest,
    installed: Installed,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployment]:
    """SQLite with the embedded transport, PostgreSQL with RabbitMQ."""
    monkeypatch.setenv('NO_PROXY', '*')
    backend = 'sqlite' if request.param == 'embedded' else 'postgresql'
    file = tmp_path / 'secret_store.conf'
    with (
        brokers.temporary(request.param) as transport,
        databases.temporary(backend, tmp_path) as database,
    ):
        file.write_text(
            f'[DEFAULT]\ntransport_url = {transport}\n'
            f'[database]\nconnection = {database}\n'
            '[api]\nport = 0\n'
            f'[fleet]\nheartbeat_interval = {2 * machine_speed.scale()}\n'
        )
        group = ProcessGroup(tmp_path, str(tmp_path))
        try:
            yield Deployment(installed, group, file, database)
        finally:
            problems = group.close()
        assert problems == []


def error_of(response: requests.Response) -> tuple[int, str, str]:
    """Return the status, the code and the detail of an error document."""
    (item,) = response.json()['errors']
    assert response.json()['message'] == item['detail']
    assert response.headers['OpenStack-API-Version'].startswith('key-manager ')
    assert item['status'] == response.status_code
    return item['status'], item['code'], item['detail']


def test_secrets_of_a_project_are_stored_and_isolated(
    deployment: Deployment,
) -> None:
    deployment.start_engine('1.0.0')
    deployment.start_api('1.0.0')
    deployment.wait_for_maximum('1.0')

    root = deployment.send('GET', '/')
    assert root.status_code == 300
    urls = [
        deployment.create('1.0', name=name, payload=f'pay {name}')
        for name in 'abc'
    ]
    page = deployment.send('GET', '/v1/secrets?limit=2&offset=1').json()
    assert [secret['name'] for secret in page['secrets']] == ['b', 'c']
    assert page['total'] == 3
    assert page['secrets'][0] == deployment.show(urls[1], '1.0')
    assert 'payload' not in page['secrets'][0]
    payload = deployment.send('GET', f'{urls[0]}/payload')
    assert payload.text == 'pay a'
    assert payload.headers['Content-Type'].startswith('text/plain')

    for method in ('GET', 'DELETE'):
        response = deployment.send(method, urls[0], project='p2')
        assert error_of(response)[:2] == (404, 'key-manager.no-such-secret')
    empty = deployment.send('GET', '/v1/secrets', project='p2').json()
    assert empty == {'secrets': [], 'total': 0}

    assert deployment.send('DELETE', urls[0]).status_code == 204
    assert error_of(deployment.send('GET', urls[0]))[0] == 404


@pytest.mark.parametrize('deployment', ['embedded'], indirect=True)
def test_errors_of_fastapi_and_bad_input_are_error_documents(
    deployment: Deployment,
) -> None:
    deployment.start_api('1.0.0')
    assert error_of(deployment.send('GET', '/v1/secrets')) == (
        503,
        'key-manager.engine-missing',
        'No engine is alive, or none can be reached.',
    )
    deployment.start_engine('1.0.0')
    deployment.wait_for_maximum('1.0')

    for method, path, body, status, text in (
        ('GET', '/v1/nothing', None, 404, 'Nothing matches'),
        ('PUT', '/v1/secrets', {}, 405, 'method is invalid'),
        ('GET', '/v1/secrets/x', None, 400, 'secret_id: must be a UUID'),
        ('GET', '/v1/secrets?limit=x', None, 400, 'query.limit'),
        ('GET', '/v1/secrets?limit=101', None, 400, 'query.limit'),
        ('POST', '/v1/secrets', [], 400, 'body'),
        ('POST', '/v1/secrets', {'payload': 5}, 400, 'body.payload'),
        ('POST', '/v1/secrets', {'payload': '\0'}, 400, 'body'),
        ('POST', '/v1/secrets', {'payload': 'x' * 20_001}, 400, 'payload'),
        ('POST', '/v1/secrets', {'payload': 'x' * 99_999}, 413, 'bytes'),
    ):
        response = deployment.send(method, path, body=body)
        assert error_of(response)[0] == status, response.text
        assert text in response.text
    missing = requests.get(f'{deployment.url}/v1/secrets', timeout=TIMEOUT)
    assert error_of(missing)[0] == 400
    assert 'X-Project-Id' in missing.text
    response_of_put = deployment.send('PUT', '/v1/secrets', body={})
    assert response_of_put.headers['Allow']


def test_lock_of_each_release_is_current(installed: Installed) -> None:
    for release, installation in installed.items():
        package = installation.source / 'secret_store'
        checked = installation.run('vobjects', 'lock', 'check', cwd=package)
        assert checked.startswith('OK: ')
        assert f'  "{release}",\n' in (package / 'vobjects.lock').read_text()


def test_matrix_of_all_releases_has_no_broken_cell(
    installed: Installed,
) -> None:
    *_, newest = installed.values()
    table = newest.run('vobjects', 'matrix', cwd=newest.directory)
    assert table.startswith('service secret-store\n')
    for release in installed:
        assert release in table


DESCRIBE = """
import json
from secret_store.contract import CONTRACT
from vobjects_contract import openapi

assert list(CONTRACT.undeclared()) == []
documents = [openapi.document(CONTRACT, v) for v in CONTRACT.versions]
print(json.dumps(documents))
"""


def test_contract_is_valid_openapi_with_a_complete_history(
    installed: Installed,
) -> None:
    *_, newest = installed.values()
    newest.run('vobjects', 'contract', 'history', '--check')
    documents = json.loads(newest.run('python', '-c', DESCRIBE))
    assert len(documents) == len(installed)
    for document in documents:
        openapi_spec_validator.validate(document)
    consumers = '/v1/secrets/{secret_id}/consumers'
    assert [consumers in document['paths'] for document in documents] == [
        False,
        True,
        True,
    ]


def test_old_engine_when_alive_caps_the_maximum_and_is_the_reason(
    deployment: Deployment,
) -> None:
    old = deployment.start_engine('1.0.0')
    new = deployment.start_engine('1.1.0')
    deployment.start_api('1.1.0')
    deployment.wait_for_maximum('1.0')

    body = {'payload': 'hush', 'description': 'of a database'}
    status, code, detail = error_of(
        deployment.send('POST', '/v1/secrets', '1.1', body)
    )
    assert (status, code) == (406, 'key-manager.microversion-unsupported')
    assert "'1.1' is not supported" in detail
    assert "maximum is '1.0'" in detail
    assert '1.0.0' in detail
    latest = deployment.send('GET', '/v1/secrets', 'latest')
    assert latest.headers['OpenStack-API-Version'] == 'key-manager 1.0'
    early = deployment.send('POST', '/v1/secrets', '1.0', body)
    assert error_of(early)[0] == 400
    assert early.json()['errors'][0]['available_from'] == '1.1'
    first = deployment.create('1.0', name='first')
    missing = deployment.send('GET', f'{first}/consumers', '1.0')
    assert error_of(missing)[0] == 404
    assert 'needs API version 1.1' in missing.text

    deployment.stop(old)
    deployment.wait_for_maximum('1.1')
    second = deployment.create('1.1', description='of a database')
    created = deployment.create_consumer(second)
    consumers = f'{second}/consumers'
    assert deployment.show(consumers, '1.1') == {'consumers': [created]}
    consumer_path = f'{consumers}/{created.pop("consumer_id")}'
    assert created == CONSUMER
    assert deployment.send('DELETE', consumer_path, '1.1').status_code == 204
    again = deployment.send('DELETE', consumer_path, '1.1')
    assert error_of(again)[:2] == (404, 'key-manager.no-such-consumer')
    used = [deployment.create('1.1') for _ in range(2)]
    for url in used:
        deployment.create_consumer(url)
    assert deployment.send('DELETE', used[0], '1.1').status_code == 204
    assert deployment.consumers() == [used[1].rpartition('/')[2]]

    deployment.start_engine('1.0.0', 'rolled-back')
    deployment.wait_for_maximum('1.0')
    deployment.stop(new)
    assert deployment.send('DELETE', used[1], '1.0').status_code == 204
    assert deployment.consumers() == []
    third = deployment.create('1.0', name='third')
    assert 'description' not in deployment.show(second, '1.0')

    deployment.start_engine('1.1.0', 'upgraded-again')
    (old,) = (p for p in deployment.group.processes if p.name == 'rolled-back')
    deployment.stop(old)
    deployment.wait_for_maximum('1.1')
    descriptions = [
        deployment.show(url, '1.1')['description']
        for url in (first, second, third)
    ]
    assert descriptions == [None, 'of a database', None]


def test_renamed_field_is_shown_under_the_name_of_each_version(
    deployment: Deployment,
) -> None:
    old = deployment.start_engine('1.1.0')
    deployment.start_api('1.2.0')
    deployment.wait_for_maximum('1.1')
    times = {number: f'203{number}-01-02T03:04:05Z' for number in range(3)}
    urls = [deployment.create('1.1', expiration=times[0])]
    assert deployment.show(urls[0], '1.0')['expiration'] == times[0]

    deployment.start_engine('1.2.0')
    deployment.stop(old)
    deployment.wait_for_maximum('1.2')
    with_offset = times[1].replace('03:04:05Z', '05:04:05+02:00')
    urls.append(deployment.create('1.0', expiration=with_offset))
    urls.append(deployment.create('1.2', expires_at=times[2], tags=['a']))
    for number, url in enumerate(urls):
        for version in ('1.0', '1.1'):
            secret = deployment.show(url, version)
            assert secret['expiration'] == times[number]
            assert not secret.keys() & {'expires_at', 'tags'}
        secret = deployment.show(url, '1.2')
        assert secret['expires_at'] == times[number]
        assert 'expiration' not in secret
    assert secret['tags'] == ['a']

    for version, name, newer in (
        ('1.2', 'expiration', 'expires_at'),
        ('1.1', 'expires_at', 'expiration'),
    ):
        body = {'payload': 'hush', name: times[0]}
        response = deployment.send('POST', '/v1/secrets', version, body)
        assert error_of(response)[0] == 400
        assert newer in response.text

    deployment.start_api('1.1.0')
    deployment.wait_for_maximum('1.1')
    assert deployment.show(urls[2], '1.1')['expiration'] == times[2]


CALL = """
import sys
from secret_store import service, types
from vobjects import exceptions
from vobjects.rpc import ClientProcess

with ClientProcess(service.configuration(), service.SERVICE) as process:
    for values in {}, {'description': 'of a database'}:
        request = types.SecretCreateRequest(payload='hush', **values)
        try:
            process.client.call({'project_id': 'p1'}, request)
            print('stored')
        except exceptions.LossyDowngrade as error:
            print(error)
"""


@pytest.mark.parametrize('deployment', ['embedded'], indirect=True)
def test_value_that_an_old_engine_would_lose_is_rejected(
    deployment: Deployment,
) -> None:
    deployment.start_engine('1.0.0')
    script = deployment.file.with_name('call.py')
    script.write_text(CALL)
    stored, rejected = (
        deployment.installed['1.1.0']
        .run('python', script, deployment.file)
        .splitlines()
    )
    assert stored == 'stored'
    assert "SecretCreateRequest.description='of a database'" in rejected
    assert '1.0.0' in rejected
