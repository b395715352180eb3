# SPDX-License-Identifier: Apache-2.0
"""Three releases of the cluster infrastructure service, side by side.

Each release runs from a separate environment, as real processes on both
transports.
"""

from __future__ import annotations

import contextlib
import json
import math
import pathlib
import random
import signal
import time
import tomllib
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from oslo_config import cfg

from tests import machine_speed
from tests.examples import releases
from tests.functional import brokers, processes
from vobjects import Service, exceptions
from vobjects.rpc.client_process import connect_to_ledger
from vobjects_testing import upgrade

EXAMPLE = 'cluster_infra'
OLD, MIDDLE, NEW = '1.0.0', '1.1.0', '1.2.0'
LOCK = 'cluster_infra/vobjects.lock'

LEGACY_HEADER = 'X-Cluster-Infra-API-Version'
SERVICE_TYPE = 'container-infrastructure-management'

#: [fleet] heartbeat_interval in seconds. Processes that send no heartbeat in
#: some of these are considered dead, although they only wait for a processor.
HEARTBEAT = 3.0 * machine_speed.scale()

#: [fleet] call_timeout in seconds.
CALL_TIMEOUT = math.ceil(30 * machine_speed.scale())

#: Service declaration of the ledger.
SERVICE = Service(
    name='cluster-infra',
    types=(),
    history={'1.1': ()},
    topic='cluster-infra-conductor',
)

TEMPLATE = {'name': 't', 'image_id': 'fedora', 'coe': 'kubernetes'}

Json = dict[str, Any]


@pytest.fixture(scope='module')
def installed(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, releases.Installation]:
    """The three releases, each in a separate environment."""
    return releases.install(EXAMPLE, tmp_path_factory.mktemp('releases'))


class Api:
    """A running API process.

    :param url: its URL, without a slash
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def send(
        self,
        method: str,
        path: str,
        version: str = '',
        body: Any = None,
        **headers: str,
    ) -> requests.Response:
        """Send one request, at a microversion in the standard header."""
        if version:
            headers['OpenStack-API-Version'] = f'container-infra {version}'
        return requests.request(
            method,
            self.url + path,
            data=None if body is None else json.dumps(body),
            headers=headers,
            timeout=processes.TIMEOUT,
        )

    def get(self, path: str, version: str) -> Json:
        """Return the body of a successful GET."""
        return self._successful('GET', path, version)

    def create(self, path: str, version: str, body: Json) -> str:
        """Create a resource and return its UUID."""
        return str(self._successful('POST', path, version, body)['uuid'])

    def template(self, version: str, **properties: Any) -> str:
        """Create a cluster template and return its path."""
        body = {**TEMPLATE, **properties}
        path = '/v1/clustertemplates'
        return f'{path}/{self.create(path, version, body)}'

    def cluster(self, version: str, template: str, **properties: Any) -> str:
        """Create a cluster and return its path."""
        template_id = template.rpartition('/')[2]
        body = {'name': 'c', 'cluster_template_id': template_id, **properties}
        return f'/v1/clusters/{self.create("/v1/clusters", version, body)}'

    def listed(self, path: str, version: str) -> Json:
        """Return the entry of a resource in the list of its collection."""
        collection, _, resource_id = path.rpartition('/')
        page = self.get(f'{collection}?limit=1000', version)
        (items,) = page.values()
        (item,) = [item for item in items if item['uuid'] == resource_id]
        return dict(item)

    def responds(self) -> bool:
        """Return whether the process responds, with any status."""
        with contextlib.suppress(requests.ConnectionError):
            return bool(self.send('GET', '/').status_code)
        return False

    def maximum(self) -> str:
        """Return the highest microversion; empty: no conductor is alive."""
        with contextlib.suppress(requests.ConnectionError):
            response = self.send('GET', '/v1')
            if response.status_code == 200:
                return str(response.json()['version']['max_version'])
        return ''

    def wait_for_maximum(self, version: str) -> None:
        """Wait until the API serves exactly the versions up to this one."""
        processes.wait_for(
            f'{self.url} serves {version}', lambda: self.maximum() == version
        )

    def _successful(
        self, method: str, path: str, version: str, body: Any = None
    ) -> Json:
        response = self.send(method, path, version, body)
        assert response.ok, f'{method} {path} {version}: {response.text}'
        content: Json = response.json()
        return content


class Deployment:
    """Processes of several releases with one transport and database."""

    def __init__(
        self,
        installed: dict[str, releases.Installation],
        directory: pathlib.Path,
        transport_url: str,
    ) -> None:
        self.installed = installed
        self.directory = directory
        self.group = processes.ProcessGroup(directory, str(directory))
        self.running: dict[str, processes.Process] = {}
        self.transport_url = transport_url
        self.conf = self._configuration('fleet')
        conf = cfg.ConfigOpts()
        conf(['--config-file', str(self.conf)])
        self.ledger, self._close_ledger = connect_to_ledger(conf, SERVICE)

    def conductor(self, name: str, release: str) -> None:
        """Start a conductor."""
        program = self.installed[release].program('cluster-infra-conductor')
        self.running[name] = self.group.start(
            name, program, str(self.conf), stop_order=1
        )

    def api(self, name: str, release: str) -> Api:
        """Start an API process."""
        port = processes.free_port()
        program = self.installed[release].program('cluster-infra-api')
        conf = self._configuration(name, f'[api]\nport = {port}\n')
        self.running[name] = self.group.start(name, program, str(conf))
        return Api(f'http://127.0.0.1:{port}')

    def conductors(self) -> set[str]:
        """Return the ids of the conductors that are up."""
        try:
            members = self.ledger.members(99)
        except exceptions.NoLivePeer:
            return set()
        return {m.id for m in members if m.topic == SERVICE.topic}

    def close(self) -> list[str]:
        """Stop everything and return the problems."""
        self._close_ledger()
        return self.group.close()

    def stop(self, name: str) -> None:
        """Stop a process, which completes its requests."""
        process = self.running.pop(name)
        assert process.stop() == 0
        self.group.remove(process)

    def kill(self, name: str) -> None:
        """Kill a process."""
        process = self.running.pop(name)
        process.kill()
        self.group.remove(process)

    def _configuration(self, name: str, more: str = '') -> pathlib.Path:
        file = self.directory / f'{name}.conf'
        file.write_text(
            f'[DEFAULT]\ntransport_url = {self.transport_url}\n'
            f'[database]\nconnection = sqlite:///{self.directory}/db.sqlite\n'
            f'[fleet]\nheartbeat_interval = {HEARTBEAT}\n'
            f'call_timeout = {CALL_TIMEOUT}\n{more}'
        )
        return file


EMBEDDED = pytest.param('embedded', marks=pytest.mark.long)
RABBIT = pytest.param('rabbit', marks=pytest.mark.rabbit)


@contextlib.contextmanager
def deployed(
    installed: dict[str, releases.Installation],
    directory: pathlib.Path,
    transport: str,
) -> Iterator[Deployment]:
    """Yield a deployment without processes, which then stops cleanly."""
    directory.mkdir(parents=True, exist_ok=True)
    with brokers.temporary(transport) as url:
        deployment = Deployment(installed, directory, url)
        try:
            yield deployment
        finally:
            problems = deployment.close()
        assert problems == []


class Upgraded:
    """A deployment whose conductor and one API are new, and one API old."""

    def __init__(self, deployment: Deployment) -> None:
        deployment.conductor('conductor', NEW)
        self.old = deployment.api('old', OLD)
        self.middle = deployment.api('middle', MIDDLE)
        self.new = deployment.api('new', NEW)
        self.old.wait_for_maximum('1.1')
        self.middle.wait_for_maximum('1.2')
        self.new.wait_for_maximum('1.3')


@pytest.fixture(scope='module', params=[EMBEDDED, RABBIT])
def upgraded(
    request: pytest.FixtureRequest,
    installed: dict[str, releases.Installation],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Upgraded]:
    directory = tmp_path_factory.mktemp('upgraded')
    with deployed(installed, directory, request.param) as deployment:
        yield Upgraded(deployment)


# Negotiation


@pytest.mark.parametrize(
    ('headers', 'status', 'version'),
    [
        ({}, 200, '1.1'),
        ({'OpenStack-API-Version': 'container-infra 1.2'}, 200, '1.2'),
        ({'OpenStack-API-Version': f'{SERVICE_TYPE} latest'}, 200, '1.3'),
        ({LEGACY_HEADER: '1.2'}, 200, '1.2'),
        (
            {
                'OpenStack-API-Version': 'container-infra 1.3',
                LEGACY_HEADER: '1.2',
            },
            *(200, '1.3'),
        ),
        ({LEGACY_HEADER: '1.4'}, 406, '1.4'),
        ({'OpenStack-API-Version': 'container-infra 1.4'}, 406, '1.4'),
        ({'OpenStack-API-Version': 'container-infra x'}, 406, '1.1'),
        ({'OpenStack-API-Version': 'compute 2.1'}, 406, '1.1'),
    ],
)
def test_version_is_negotiated_from_both_headers(
    upgraded: Upgraded, headers: dict[str, str], status: int, version: str
) -> None:
    response = upgraded.new.send('GET', '/v1/clusters', **headers)

    assert response.status_code == status
    sent = response.headers
    assert sent['OpenStack-API-Version'] == f'{SERVICE_TYPE} {version}'
    assert sent['OpenStack-API-Minimum-Version'] == f'{SERVICE_TYPE} 1.1'
    assert sent['OpenStack-API-Maximum-Version'] == f'{SERVICE_TYPE} 1.3'
    assert LEGACY_HEADER in sent['Vary']


# Changed, added and removed fields


def test_new_value_when_the_client_is_old_is_shown_as_null(
    upgraded: Upgraded,
) -> None:
    path = upgraded.new.template('1.2', network_driver='calico', hidden=True)

    for api, version, driver, hidden in (
        (upgraded.old, '1.1', None, None),
        (upgraded.new, '1.1', None, None),
        (upgraded.middle, '1.2', 'calico', True),
        (upgraded.new, '1.3', 'calico', True),
    ):
        for template in (api.get(path, version), api.listed(path, version)):
            assert template['network_driver'] == driver
            assert template.get('hidden') == hidden
            assert ('hidden' in template) is (hidden is not None)


def test_new_value_when_the_client_is_old_is_rejected(
    upgraded: Upgraded,
) -> None:
    path = upgraded.new.template('1.1', network_driver='docker')
    change = {'op': 'replace', 'path': '/network_driver', 'value': 'calico'}
    create = {**TEMPLATE, 'network_driver': 'calico'}

    for api in (upgraded.old, upgraded.new):
        for method, target, body in (
            ('POST', '/v1/clustertemplates', create),
            ('PATCH', path, [change]),
        ):
            response = api.send(method, target, '1.1', body)
            assert response.status_code == 400
            assert 'network_driver' in response.text
    assert 'needs API version 1.2' in response.text
    assert upgraded.new.send('PATCH', path, '1.2', [change]).ok
    assert upgraded.new.get(path, '1.2')['network_driver'] == 'calico'


def test_update_of_an_old_client_keeps_newer_fields(
    upgraded: Upgraded,
) -> None:
    path = upgraded.new.template('1.2', network_driver='calico', hidden=True)
    change = [{'op': 'replace', 'path': '/name', 'value': 'renamed'}]

    assert upgraded.old.send('PATCH', path, '1.1', change).status_code == 200

    template = upgraded.new.get(path, '1.2')
    assert template['name'] == 'renamed'
    assert (template['network_driver'], template['hidden']) == ('calico', True)


def test_removed_field_when_the_client_is_old_is_kept(
    upgraded: Upgraded,
) -> None:
    template = upgraded.new.template('1.1')
    for api, version in (
        (upgraded.old, '1.1'),
        (upgraded.middle, '1.2'),
        (upgraded.new, '1.1'),
    ):
        path = api.cluster(version, template, discovery_url='http://d/1')
        # The conductor has seen and stored it.
        for reader, reads_at in (
            (upgraded.old, '1.1'),
            (upgraded.middle, '1.2'),
            (upgraded.new, '1.2'),
        ):
            for cluster in (
                reader.get(path, reads_at),
                reader.listed(path, reads_at),
            ):
                assert cluster['discovery_url'] == 'http://d/1'
        assert 'discovery_url' not in upgraded.new.get(path, '1.3')
        assert 'discovery_url' not in upgraded.new.listed(path, '1.3')


def test_removed_field_when_the_client_is_new_is_rejected(
    upgraded: Upgraded,
) -> None:
    template = upgraded.new.template('1.3')
    path = upgraded.new.cluster('1.3', template)
    change = [{'op': 'replace', 'path': '/discovery_url', 'value': 'http://d'}]

    response = upgraded.new.send('PATCH', path, '1.3', change)

    assert response.status_code == 400
    assert "'discovery_url' was removed in API version 1.3" in response.text
    assert upgraded.new.send('PATCH', path, '1.2', change).status_code == 202
    assert upgraded.old.get(path, '1.1')['discovery_url'] == 'http://d'


# The API


def test_list_is_paged_by_marker(upgraded: Upgraded) -> None:
    for name in ('a', 'b', 'c'):
        upgraded.new.template('1.3', name=name)

    names, url = [], '/v1/clustertemplates?limit=2'
    while url:
        page = upgraded.new.get(url, '1.3')
        assert len(page['clustertemplates']) <= 2
        names += [item['name'] for item in page['clustertemplates']]
        url = page.get('next', '').removeprefix(upgraded.new.url)
    assert names[-3:] == ['a', 'b', 'c']


def test_template_when_a_cluster_uses_it_is_kept(upgraded: Upgraded) -> None:
    api = upgraded.new
    template = api.template('1.3')
    cluster = api.cluster('1.3', template)

    assert api.send('DELETE', template, '1.3').status_code == 409
    assert api.send('DELETE', cluster, '1.3').status_code == 204
    assert api.send('DELETE', template, '1.3').status_code == 204
    assert api.send('GET', template, '1.3').status_code == 404


# Upgrade plans


def process(name: str) -> upgrade.Process:
    """Return a process of the plan that may run all releases."""
    group = name.rpartition('-')[0]
    return upgrade.Process(name, (OLD, MIDDLE, NEW), group)


CONFIG = upgrade.PlanConfig(
    processes=tuple(
        process(f'{group}-{number}')
        for group in ('conductor', 'api')
        for number in (1, 2)
    ),
    pauses=(0.1, 0.4),
)


class Fleet(upgrade.Fleet):
    """Controls the processes of a deployment, and remembers its data."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.apis: dict[str, Api] = {}
        self.templates: dict[str, str] = {}
        self.random = random.Random(0)

    def start(self, process: str, release: str) -> None:
        # A process that has not started yet cannot stop in order.
        deployment = self.deployment
        if process.startswith('conductor'):
            # The ledger may still have one that was killed.
            before = deployment.conductors()
            deployment.conductor(process, release)
            processes.wait_for(
                f'{process} is up', lambda: deployment.conductors() - before
            )
        else:
            self.apis[process] = api = deployment.api(process, release)
            processes.wait_for(f'{process} responds', api.responds)

    def stop(self, process: str) -> None:
        self.apis.pop(process, None)
        self.deployment.stop(process)

    def kill(self, process: str) -> None:
        self.apis.pop(process, None)
        self.deployment.kill(process)

    def pause(self, process: str, seconds: float) -> None:
        running = self.deployment.running[process]
        running.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        running.send_signal(signal.SIGCONT)

    def before(self) -> None:
        self.mixed()
        self.deployment.ledger.hold(SERVICE.topic)

    def mixed(self) -> None:
        """Store one more template with a unique URL."""
        name = f't{len(self.templates)}'
        body = {**TEMPLATE, 'name': name, 'network_driver': 'flannel'}
        self.templates[name] = self.retry('POST', body)['uuid']

    def after(self) -> None:
        self.deployment.ledger.finalize()
        for api in self.apis.values():
            api.wait_for_maximum('1.3')
            api.template('1.3', network_driver='calico', hidden=True)

    def invariants(self) -> dict[str, Any]:
        return {'no template is lost': self.check}

    def check(self) -> None:
        if not self.templates:
            return  # not all processes have started yet
        page = self.retry('GET')
        stored = {
            item['name']: item['uuid'] for item in page['clustertemplates']
        }
        assert self.templates.items() <= stored.items()

    def retry(self, method: str, body: Json | None = None) -> Json:
        """Send a request to any API until it succeeds; return the response.

        While processes change, a request may fail, but only with a status
        that asks the client to retry.
        """

        def attempt() -> Json:
            api = self.random.choice(list(self.apis.values()))
            try:
                response = api.send(
                    method, '/v1/clustertemplates', '1.1', body
                )
            except requests.ConnectionError:
                return {}
            if response.status_code in (503, 504):
                return {}
            assert response.ok, response.text
            content: Json = response.json()
            return content

        return processes.wait_for(f'{method} succeeds', attempt)


@pytest.mark.parametrize('transport', [EMBEDDED, RABBIT])
def test_upgrade_plan(
    transport: str,
    vobjects_upgrade: Any,
    installed: dict[str, releases.Installation],
    tmp_path: pathlib.Path,
) -> None:
    @contextlib.contextmanager
    def open_fleet() -> Iterator[Fleet]:
        directory = tmp_path / uuid.uuid4().hex
        with deployed(installed, directory, transport) as deployment:
            yield Fleet(deployment)

    vobjects_upgrade(CONFIG, open_fleet)


# The lock and the contract


@pytest.mark.parametrize('release', [OLD, MIDDLE, NEW])
def test_release_has_a_complete_lock_and_history(
    installed: dict[str, releases.Installation], release: str
) -> None:
    installation = installed[release]
    installation.run('vobjects', 'lock', 'check', '--file', LOCK)
    lock = (installation.source / LOCK).read_text()
    assert tomllib.loads(lock)['releases'][-1] == release
    installation.run('vobjects', 'contract', 'history', '--check')
