# SPDX-License-Identifier: Apache-2.0
"""A steady workload of API requests that checks every response.

Each client repeatedly creates, scales out, reads and deletes a cluster, at
another microversion in each round. A request must either take effect exactly
once or be rejected for a valid reason; anything else is a failure.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from typing import Any

import requests

from tests.functional.processes import wait_for
from tests.functional.rest import RestClient, action_id_of, unique
from vobjects.clustering import consts
from vobjects.versions import Version

#: Microversions of successive rounds of a client.
VERSIONS = ('1.0', '1.7', '1.8', 'latest', '1.13', '1.14')

#: Seconds between two requests for the status of an action.
POLL_INTERVAL = 0.2


class Workload:
    """Clients in threads.

    :param url: root URL of the API
    :param count: number of clients
    :ivar failures: messages of clients that failed
    :ivar statuses: number of responses by status
    :ivar rounds: number of completed rounds of each client
    """

    def __init__(self, url: str, count: int) -> None:
        self.url = url
        self.failures: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.rounds = [0] * count
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(number,))
            for number in range(count)
        ]

    def start(self) -> None:
        """Start all clients."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop all clients after their current rounds."""
        self._stop.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def assert_no_failures(self) -> None:
        """Assert that no client has failed."""
        assert not self.failures, '\n'.join(self.failures)

    def wait_for_rounds(self, count: int = 1) -> None:
        """Wait until each client has completed more rounds."""
        targets = [completed + count for completed in self.rounds]

        def is_done() -> bool:
            self.assert_no_failures()
            return all(
                completed >= target
                for completed, target in zip(self.rounds, targets, strict=True)
            )

        wait_for(f'each client completes {count} more rounds', is_done)

    def _run(self, number: int) -> None:
        version = VERSIONS[0]
        try:
            with RestClient(self.url) as rest:
                profile = rest.at(version).create_profile()
                for turn in itertools.count(number):
                    if self._stop.is_set() or self.failures:
                        return
                    version = VERSIONS[turn % len(VERSIONS)]
                    self._round(rest.at(version), profile)
                    self.rounds[number] += 1
        except (AssertionError, requests.RequestException) as error:
            self.failures.append(f'at {version}: {error}'[:2000])

    def _round(self, rest: RestClient, profile: str) -> None:
        """Create, scale out, read and delete a cluster."""
        content = {
            'name': unique('load'),
            'profile_id': profile,
            'desired_capacity': 1,
        }
        created = self._request(
            rest, 'POST', '/v1/clusters', {'cluster': content}
        )
        self._wait_for_success(rest, created)
        path = f'/v1/clusters/{created.json()["cluster"]["id"]}'
        body = {'scale_out': {'count': 1}}
        scaled = self._request(rest, 'POST', f'{path}/actions', body)
        self._wait_for_success(rest, scaled)
        cluster = self._request(rest, 'GET', path).json()['cluster']
        assert cluster['status'] == 'ACTIVE', cluster
        assert len(cluster['nodes']) == cluster['desired_capacity'] == 2, (
            cluster
        )
        self._wait_for_success(rest, self._request(rest, 'DELETE', path))
        self._request(rest, 'GET', path, expected=404)

    def _wait_for_success(
        self, rest: RestClient, accepted: requests.Response
    ) -> None:
        """Wait until the action of a response with 202 has succeeded."""
        path = f'/v1/actions/{action_id_of(accepted)}'

        def ended_action() -> Any:
            action = self._request(rest, 'GET', path).json()['action']
            return action if action['status'] in consts.ACTION_ENDS else None

        action = wait_for(
            f'{path} has ended', ended_action, interval=POLL_INTERVAL
        )
        assert action['status'] == 'SUCCEEDED', action

    def _request(
        self,
        rest: RestClient,
        method: str,
        path: str,
        body: Any = None,
        expected: int = 0,
    ) -> requests.Response:
        """Send a request, again at the served maximum after a 406.

        :param expected: status; 0: any status below 400
        """
        while True:
            response = self._send(rest, method, path, body)
            self.statuses[response.status_code] += 1
            if response.status_code != 406:
                break
            (error,) = response.json()['errors']
            maximum = Version.parse(error['max_version'])
            assert maximum < Version.parse(rest.version or ''), (
                f'{method} {path}: 406 for a version that is served: {error}'
            )
            rest = rest.at(str(maximum))
        is_expected = (
            response.status_code == expected if expected else response.ok
        )
        assert is_expected, (
            f'{method} {path}: {response.status_code} {response.text}'
        )
        return response

    def _send(
        self, rest: RestClient, method: str, path: str, body: Any
    ) -> requests.Response:
        return rest.request(method, path, body)
