# SPDX-License-Identifier: Apache-2.0
"""The example services in ``doc/examples``."""

from __future__ import annotations

import contextlib
import importlib
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest
import requests

from tests import api_sig
from tests.functional.processes import TIMEOUT
from tests.unit.vobjects.microversions import test_asgi, wsgi
from vobjects import exceptions
from vobjects_contract.registry import Contract
from vobjects_testing.contract_checks import ContractChecker

HERE = pathlib.Path(__file__).parents[2] / 'doc' / 'examples'
EXAMPLES = sorted(path.name for path in HERE.glob('*_app.py'))
HEADER = 'OpenStack-API-Version'


class Client:
    """Client of an example that checks headers of every response."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        self.session.trust_env = False

    def request(
        self, method: str, path: str, version: str = '', json: object = None
    ) -> requests.Response:
        headers = {HEADER: f'inventory {version}'} if version else {}
        response = self.session.request(
            method,
            self.url + path,
            headers=headers,
            json=json,
            timeout=TIMEOUT,
        )
        assert HEADER in response.headers['Vary'].split(', ')
        assert response.headers[HEADER].startswith('inventory 1.')
        return response

    def expect_error(
        self,
        status: int,
        method: str,
        path: str,
        version: str,
        json: object = None,
    ) -> str:
        response = self.request(method, path, version, json)
        assert response.status_code == status
        api_sig.assert_error_document(response.json(), status)
        return str(response.json()['errors'][0]['detail'])


@contextlib.contextmanager
def running(name: str) -> Iterator[Client]:
    """Run an example service."""
    with subprocess.Popen(
        [sys.executable, HERE / name, '0'],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            client = Client(process.stdout.readline().strip())
            yield client
            client.session.close()
        finally:
            process.kill()


@pytest.fixture(scope='module', params=EXAMPLES)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with running(request.param) as client:
        thing = {'name': 'chair', 'colour': 'red'}
        created = client.request('POST', '/v1/things', '1.2', thing)
        assert (created.status_code, created.json()) == (201, thing)
        yield client


def test_examples_cover_each_framework() -> None:
    assert [name.removesuffix('_app.py') for name in EXAMPLES] == [
        'falcon',
        'fastapi',
        'flask',
        'pecan',
        'webob',
    ]


@pytest.mark.parametrize('name', [*EXAMPLES, 'things.py'])
def test_example_is_short_enough_to_be_read(name: str) -> None:
    assert len((HERE / name).read_text().splitlines()) < 60


@pytest.mark.parametrize(
    ('requested', 'served'),
    [('', '1.0'), ('1.8', '1.8'), ('1.10', '1.10'), ('latest', '1.10')],
)
def test_version_is_negotiated(
    client: Client, requested: str, served: str
) -> None:
    response = client.request('GET', '/v1/things/chair', requested)

    assert response.status_code == 200
    assert response.headers[HEADER] == f'inventory {served}'


def test_version_when_out_of_range_is_406_with_the_range(
    client: Client,
) -> None:
    detail = client.expect_error(406, 'GET', '/v1/things/chair', '1.11')

    assert "'1.0'" in detail
    assert "'1.10'" in detail


def test_version_when_malformed_is_400(client: Client) -> None:
    client.expect_error(400, 'GET', '/v1/things/chair', '1.07')


def test_method_when_redefined_is_served_from_its_version_on(
    client: Client,
) -> None:
    thing = {'name': 'chair', 'colour': 'red'}

    old = client.request('GET', '/v1/things/chair', '1.8')
    new = client.request('GET', '/v1/things/chair', '1.9')

    assert (old.json(), new.json()) == (thing, {'thing': thing})


def test_body_is_validated_with_the_schema_of_its_version(
    client: Client,
) -> None:
    path, body = '/v1/things', {'name': 'table', 'colour': 'blue'}

    early = client.expect_error(400, 'POST', path, '1.1', body)
    plain = client.request('POST', path, '1.1', {'name': 'table'})
    wrong = client.expect_error(400, 'POST', path, '1.2', {'name': 7})

    assert "'colour' needs API version 1.2 or later" in early
    assert plain.json() == {'name': 'table', 'colour': ''}
    assert 'body.name' in wrong


@pytest.mark.parametrize('version', ['1.8', '1.10'])
def test_error_when_raised_by_a_controller_is_a_document(
    client: Client, version: str
) -> None:
    response = client.request('GET', '/v1/things/none', version)

    assert response.status_code == 404
    api_sig.assert_error_document(response.json(), 404)
    assert response.json()['errors'][0]['code'] == 'inventory.thing-not-found'
    assert response.headers[HEADER] == f'inventory {version}'


def test_path_when_unknown_is_404_of_the_framework(
    client: Client,
) -> None:
    assert client.request('GET', '/v2', '1.10').status_code == 404


def test_discovery_shows_the_version_range(client: Client) -> None:
    root = client.request('GET', '/')
    version = client.request('GET', '/v1', '9.9')

    api_sig.assert_versions_document(root.json())
    api_sig.assert_version_document(version.json())
    document = version.json()['version']
    assert root.json()['versions'] == [document]
    assert (document['min_version'], document['max_version']) == (
        '1.0',
        '1.10',
    )


def test_retired_version_announces_its_successor(client: Client) -> None:
    old = client.request('GET', '/v1/things/chair')
    new = client.request('GET', '/v1/things/chair', '1.1')

    assert old.headers['Deprecation'] == '@1767225600'
    assert old.links['successor-version']['title'] == 'inventory 1.9'
    assert 'Deprecation' not in new.headers


@pytest.fixture
def boxes(tmp_path: pathlib.Path) -> dict[str, str]:
    """The environment of processes for which boxes.py is installed."""
    metadata = tmp_path / 'boxes-1.0.dist-info'
    metadata.mkdir()
    (metadata / 'METADATA').write_text('Name: boxes\nVersion: 1.0\n')
    (metadata / 'entry_points.txt').write_text(
        '[vobjects.services]\ninventory = boxes\n'
    )
    return {**os.environ, 'PYTHONPATH': f'{HERE}{os.pathsep}{tmp_path}'}


def read(environment: dict[str, str], *arguments: str) -> tuple[int, str]:
    """Run ``vobjects contract``; return exit code and output."""
    command = ('-m', 'vobjects', 'contract', *arguments)
    result = subprocess.run(
        [sys.executable, *command, '--service=inventory'],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return result.returncode, result.stdout


def test_contract_is_read_from_decorators(boxes: dict[str, str]) -> None:
    assert read(boxes, 'history', '--check') == (
        0,
        'OK: the history lists every change up to 1.10\n',
    )
    code, printed = read(boxes, 'diff', '1.4', '1.5')
    assert (code, printed.splitlines()[1:]) == (
        0,
        [
            '  additive  POST /v1/boxes: body.size is added',
            '  additive  POST /v1/boxes: response 201.size is added',
        ],
    )
    code, printed = read(boxes, 'openapi', '1.99')
    assert code == 2
    assert 'use one of 1.0 to 1.10' in printed


def test_decorated_controllers_keep_their_contract() -> None:
    promises = ContractChecker(_boxes_contract())
    box = {'name': 'chest', 'size': 3}
    with running('boxes.py') as client:
        for method, version, json, status in [
            ('POST', '1.4', box, 400),
            ('POST', '1.5', box, 201),
            ('POST', '1.5', box, 409),
            ('GET', '1.1', None, 404),
            ('GET', '1.2', None, 200),
            ('GET', '1.8', None, 200),
            ('GET', '1.9', None, 410),
        ]:
            response = client.request(method, '/v1/boxes', version, json)
            assert response.status_code == status
            if status != 410:
                promises.check(
                    method, '/v1/boxes', version, status, response.json()
                )


@pytest.mark.parametrize(
    ('error', 'status'),
    [
        (exceptions.LossyDowngrade('Thing', 'size', '7', '1.1', '1.0'), 406),
        (exceptions.UnsupportedType('Thing'), 406),
        (exceptions.NoLivePeer('no server is alive'), 503),
        (ZeroDivisionError('a secret'), 500),
    ],
)
@pytest.mark.parametrize('name', EXAMPLES)
def test_error_of_a_handler_is_an_error_document_in_each_framework(
    monkeypatch: pytest.MonkeyPatch, name: str, error: Exception, status: int
) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    module = importlib.import_module(name.removesuffix('.py'))

    def find(name: str) -> None:
        raise error

    monkeypatch.setattr(module.things, 'find', find)
    call = wsgi.call if hasattr(module, 'application') else test_asgi.call
    app = getattr(module, 'application', module.app)
    for version in '1.8', '1.9':
        headers = {HEADER: f'inventory {version}'}
        response = call(
            app,
            '/v1/things/chair',
            headers=headers if call is wsgi.call else headers.items(),
        )
        assert response.status == status
        api_sig.assert_error_document(response.json, status)
        assert response.headers[HEADER.lower()] == f'inventory {version}'
        assert b'secret' not in response.body


def _boxes_contract() -> Contract:
    """Return the contract in boxes.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        contract: Contract = importlib.import_module('boxes').CONTRACT
    return contract
