# SPDX-License-Identifier: Apache-2.0
"""Customers of the service: a steady load, of which each answer is checked.

Each makes a cluster, has it scaled, looks, and deletes it, again and again,
each time at another microversion. What it asks for is either done, once, or
refused for a reason that is true; anything else is a failure.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from typing import Any

import requests

from tests.functional.processes import wait_for
from tests.functional.rest import Rest, started, unique
from vobjects.clustering import consts
from vobjects.versions import Version

#: Which a customer asks at, in turn.
VERSIONS = ('1.0', '1.7', '1.8', 'latest', '1.13', '1.14')

#: Seconds between two looks whether something is done.
PAUSE = 0.1


class Customers:
    """A steady load, in threads.

    :param url: of the API
    :ivar failures: what went wrong, in words
    :ivar statuses: of the answers
    :ivar rounds: how many clusters each has had
    """

    def __init__(self, url: str, count: int) -> None:
        self.url = url
        self.failures: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.rounds = [0] * count
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._live, args=(number,))
            for number in range(count)
        ]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End, each after the round that it is at."""
        self._stop.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def check(self) -> None:
        """Assert that nothing has gone wrong so far."""
        assert not self.failures, '\n'.join(self.failures)

    def go_on(self, rounds: int = 1) -> None:
        """Wait until each has been through some rounds more."""
        until = [done + rounds for done in self.rounds]

        def is_done() -> bool:
            self.check()
            return all(
                done >= wanted
                for done, wanted in zip(self.rounds, until, strict=True)
            )

        wait_for(f'each customer goes on for {rounds} rounds', is_done)

    def _live(self, number: int) -> None:
        version = VERSIONS[0]
        try:
            with Rest(self.url) as rest:
                profile = rest.at(version).create_profile()
                for turn in itertools.count(number):
                    if self._stop.is_set() or self.failures:
                        return
                    version = VERSIONS[turn % len(VERSIONS)]
                    self._round(rest.at(version), profile)
                    self.rounds[number] += 1
        except (AssertionError, requests.RequestException) as error:
            self.failures.append(f'at {version}: {error}'[:2000])

    def _round(self, rest: Rest, profile: str) -> None:
        """Have a cluster for a while."""
        content = {
            'name': unique('load'),
            'profile_id': profile,
            'desired_capacity': 1,
        }
        made = self._ask(rest, 'POST', '/v1/clusters', {'cluster': content})
        self._done(rest, made)
        path = f'/v1/clusters/{made.json()["cluster"]["id"]}'
        body = {'scale_out': {'count': 1}}
        self._done(rest, self._ask(rest, 'POST', f'{path}/actions', body))
        shown = self._ask(rest, 'GET', path).json()['cluster']
        assert shown['status'] == 'ACTIVE', shown
        assert len(shown['nodes']) == shown['desired_capacity'] == 2, shown
        self._done(rest, self._ask(rest, 'DELETE', path))
        self._ask(rest, 'GET', path, expected=404)

    def _done(self, rest: Rest, accepted: requests.Response) -> None:
        """Wait until an accepted action has ended, which must be well."""
        path = f'/v1/actions/{started(accepted)}'

        def look() -> Any:
            found = self._ask(rest, 'GET', path).json()['action']
            return found if found['status'] in consts.ACTION_ENDS else None

        found = wait_for(f'{path} has ended', look, every=PAUSE)
        assert found['status'] == 'SUCCEEDED', found

    def _ask(
        self,
        rest: Rest,
        method: str,
        path: str,
        body: Any = None,
        expected: int = 0,
    ) -> requests.Response:
        """Return the answer; at a lower version if that is what is served.

        :param expected: status; 0: any that says that it was done
        """
        while True:
            answer = self._send(rest, method, path, body)
            self.statuses[answer.status_code] += 1
            if answer.status_code != 406:
                break
            (error,) = answer.json()['errors']
            maximum = Version.parse(error['max_version'])
            assert maximum < Version.parse(rest.version or ''), (
                f'{method} {path} was refused, yet it is served: {error}'
            )
            rest = rest.at(str(maximum))
        is_fine = answer.status_code == expected if expected else answer.ok
        assert is_fine, f'{method} {path}: {answer.status_code} {answer.text}'
        return answer

    def _send(
        self, rest: Rest, method: str, path: str, body: Any
    ) -> requests.Response:
        return rest.ask(method, path, body)
