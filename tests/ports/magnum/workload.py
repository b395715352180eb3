# SPDX-License-Identifier: Apache-2.0
"""Clients of Magnum that compare the effects with their requests.

Each cluster has a life of 13 changes. After a change, its client waits for the
effect, and reads. A change that was accepted and has no effect is *lost*; one
with two effects is *doubled*.
"""

from __future__ import annotations

import collections
import itertools
import threading
import time
from typing import Any

import requests

from tests import machine_speed
from tests.ports.magnum import cloud as clouds
from tests.upgrade.load_balancer import Backends

#: Seconds after which a change counts as lost.
LOST_AFTER = 30.0

#: Status of a request without a response.
NO_RESPONSE = 599

#: Microversions of the clients, in turn.
VERSIONS = ('1.9', '1.10', 'latest', '1.12')

TEMPLATE = {
    'name': 'template',
    'image_id': clouds.IMAGE,
    'keypair_id': clouds.KEYPAIR,
    'external_network_id': clouds.NETWORK,
    'coe': 'kubernetes',
    'flavor_id': clouds.FLAVOR,
    'master_flavor_id': clouds.FLAVOR,
    'network_driver': 'flannel',
}


class Workload:
    """Clients that send requests until they are stopped.

    :ivar requests: number of requests sent
    :ivar failed: (method, kind of path, status) -> count
    :ivar examples: the first response of each kind of failure
    :ivar lost: changes without effect
    :ivar accepted: changes whose effects are counted
    :ivar maxima: advertised maxima
    :ivar errors: errors that ended a client
    """

    def __init__(self, cloud: clouds.Cloud, backends: Backends) -> None:
        self.requests = 0
        self.failed: collections.Counter[tuple[str, str, int]] = (
            collections.Counter()
        )
        self.lost: list[tuple[str, ...]] = []
        self.accepted: list[tuple[str, ...]] = []
        self.maxima: set[str] = set()
        self.examples: dict[tuple[str, str, int], str] = {}
        self.errors: list[Exception] = []
        self._cloud = cloud
        self._backends = backends
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._ends = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, daemon=True) for _ in range(8)
        ]

    def start(self) -> None:
        """Create a template, and start the clients."""
        response = self.send('POST', 'clustertemplates', TEMPLATE)
        assert response.status_code == 201, response.text
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Wait until each client has completed the life of its cluster."""
        self._ends.set()
        for thread in self._threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def doubled(self) -> list[tuple[str, ...]]:
        """Return the changes with more than one effect."""
        return [
            change
            for change, count in self._cloud.changes.items()
            if count > 1
        ]

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request; return the response."""
        with self._lock:
            self.requests += 1
            number = self.requests
        version = VERSIONS[number % len(VERSIONS)]
        headers = {
            'X-Auth-Token': clouds.TOKEN,
            'OpenStack-API-Version': f'container-infra {version}',
        }
        with self._backends.backend() as url:
            try:
                response = requests.request(
                    method,
                    f'{url}/v1/{path}',
                    json=body,
                    headers=headers,
                    timeout=180,
                )
            except requests.RequestException:
                response = requests.Response()
                response.status_code = NO_RESPONSE
        key = 'OpenStack-API-Maximum-Version'
        with self._lock:
            if key in response.headers:
                self.maxima.add(response.headers[key].split()[1])
            if not response.ok:
                kind = path.split('/')[0] + '/' * path.count('/')
                failure = method, kind, response.status_code
                self.failed[failure] += 1
                self.examples.setdefault(failure, response.text)
        return response

    def _run(self) -> None:
        try:
            while not self._ends.is_set():
                self._live(f'cluster-{next(self._numbers)}')
        except Exception as error:
            self.errors.append(error)
            raise

    def _live(self, name: str) -> None:
        """Create, change, read and delete a cluster."""
        body = {
            'name': name,
            'cluster_template_id': 'template',
            'node_count': 1,
            'master_count': 1,
        }
        path = f'clusters/{name}'
        if not self._change('POST', 'clusters', body, 'create', name):
            return
        self._await(lambda: self._status(path) == 'CREATE_COMPLETE')
        patch = [{'op': 'replace', 'path': '/node_count', 'value': 2}]
        self._change('PATCH', path, patch, 'update', name, 'update 2')
        for count in range(3, 8):
            body = {'node_count': count}
            self._change(
                *('POST', f'{path}/actions/resize', body),
                *('update', name, f'resize {count}'),
            )
            self._read(path)
        for group in ('a', 'b'):
            self._add_group(name, group)
        self._change(
            *('DELETE', f'{path}/nodegroups/b', None),
            *('update', name, 'remove b'),
        )
        self._read(path)
        self._change('DELETE', path, None, 'delete', name)

    def _add_group(self, name: str, group: str) -> None:
        """Add a node group to a cluster, and change it."""
        path = f'clusters/{name}/nodegroups'
        if not self._change(
            *('POST', path, {'name': group}),
            *('update', name, f'add {group}'),
        ):
            return
        self._await(lambda: self.send('GET', f'{path}/{group}').ok)
        limit = [{'op': 'add', 'path': '/max_node_count', 'value': 9}]
        self._change(
            *('PATCH', f'{path}/{group}', limit),
            *('update', name, f'limit {group} 9'),
        )
        self._read(f'clusters/{name}')

    def _change(self, method: str, path: str, body: Any, *effect: str) -> bool:
        """Send a change, and wait for its effect; return whether it came."""
        if not self.send(method, path, body).ok:
            return False
        has_effect = self._await(lambda: self._cloud.count(*effect) > 0)
        with self._lock:
            (self.accepted if has_effect else self.lost).append(effect)
        return has_effect

    def _read(self, path: str) -> None:
        for each in (path, f'{path}/nodegroups', 'clusters?limit=3', path):
            self.send('GET', each)

    def _status(self, path: str) -> str | None:
        response = self.send('GET', path)
        return response.json()['status'] if response.ok else None

    def _await(self, condition: Any) -> bool:
        """Poll a condition; return whether it has become true."""
        deadline = time.monotonic() + LOST_AFTER * machine_speed.scale()
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.2)
        return True
