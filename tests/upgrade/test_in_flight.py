# SPDX-License-Identifier: Apache-2.0
"""Requests in flight while an old engine joins and leaves.

An accepted request must be executed completely. A request that an old engine
cannot execute must be rejected, never executed without its ``force``.
"""

from __future__ import annotations

import dataclasses
import pathlib
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import requests

from tests.functional.deployments import (
    TRANSPORTS,
    Deployment,
    Platform,
    deployed,
)
from tests.functional.processes import wait_for
from tests.functional.rest import (
    NEWEST,
    RestClient,
    action_id_of,
    error_message,
    unique,
)
from tests.upgrade import mixed_fleet

CLIENTS = 2

#: Seconds between two requests of a client.
PAUSE = 0.04


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A response with its start and end time (monotonic seconds)."""

    cluster: str
    began: float
    ended: float
    response: requests.Response

    @property
    def status(self) -> int:
        return self.response.status_code


class Load:
    """Call functions repeatedly in threads, until the block ends.

    :param works: functions of a client; each has its own thread
    """

    def __init__(
        self, fleet: Deployment, works: list[Callable[[RestClient], Answer]]
    ) -> None:
        self._stop = threading.Event()
        self.answers: list[list[Answer]] = [[] for _ in works]
        self.failures: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(fleet, work, answers))
            for work, answers in zip(works, self.answers, strict=True)
        ]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for_answers(self, times: int) -> None:
        """Wait until each function has more answers."""
        until = [len(answers) + times for answers in self.answers]

        def done() -> bool:
            return bool(self.failures) or all(
                len(answers) >= count
                for answers, count in zip(self.answers, until, strict=True)
            )

        wait_for(f'each function has {times} more answers', done)

    def _run(
        self,
        fleet: Deployment,
        work: Callable[[RestClient], Answer],
        answers: list[Answer],
    ) -> None:
        with fleet.rest('1.0') as client:
            while not self._stop.wait(PAUSE):
                try:
                    answers.append(work(client))
                except Exception as error:  # noqa: BLE001 - any is a loss
                    self.failures.append(error)
                    return


def timed(cluster: str, ask: Callable[[], requests.Response]) -> Answer:
    began = time.monotonic()
    response = ask()
    return Answer(cluster, began, time.monotonic(), response)


def force_deletion(
    profile: str, version: str
) -> Callable[[RestClient], Answer]:
    """Return a function that creates a cluster and deletes it by force."""

    def work(rest: RestClient) -> Answer:
        cluster = create(rest, profile)
        return timed(
            cluster,
            lambda: rest.at(version).request(
                'DELETE', f'/v1/clusters/{cluster}', {'force': True}
            ),
        )

    return work


def creation(profile: str) -> Callable[[RestClient], Answer]:
    """Return a function that creates a cluster at 1.7."""

    def work(rest: RestClient) -> Answer:
        content = {
            'name': unique('load'),
            'profile_id': profile,
            'config': {'k': 'v'},
        }
        answer = timed(
            '',
            lambda: rest.at('1.7').request(
                'POST', '/v1/clusters', {'cluster': content}
            ),
        )
        assert answer.status == 202, answer.response.text
        cluster = answer.response.json()['cluster']
        assert cluster['config'] == {'k': 'v'}
        return dataclasses.replace(answer, cluster=cluster['id'])

    return work


def create(rest: RestClient, profile: str) -> str:
    content = {'name': unique('load'), 'profile_id': profile}
    response = rest.expect(202, 'POST', '/v1/clusters', {'cluster': content})
    return str(response.json()['cluster']['id'])


@pytest.mark.parametrize('platform', TRANSPORTS)
def test_request_in_flight_is_neither_lost_nor_served_wrongly(
    platform: Platform, tmp_path: pathlib.Path
) -> None:
    settings = {'engine': {'max_clusters_per_project': 1_000_000}}
    with deployed(platform, tmp_path, settings) as fleet:
        mixed_fleet.start_engine(fleet, 'new')
        fleet.start_api(settings={'api': {'workers': 2}})
        with fleet.rest() as rest:
            profile = rest.create_profile()
            manifest = mixed_fleet.old_manifest(fleet)
            works = [
                *(force_deletion(profile, '1.8') for _ in range(CLIENTS)),
                force_deletion(profile, 'latest'),
                creation(profile),
            ]
            with Load(fleet, works) as load:
                load.wait_for_answers(6)
                old = mixed_fleet.start_engine(fleet, 'old', manifest)
                serves = time.monotonic()
                load.wait_for_answers(6)
                leaves = time.monotonic()
                mixed_fleet.stop_engine(fleet, old)
                mixed_fleet.wait_for_maximum(rest, NEWEST)
                load.wait_for_answers(6)
            assert load.failures == []
            *forced, latest, created = load.answers
            for answers in (*forced, latest):
                _assert_correct(rest, answers, serves, leaves)
            statuses = Counter(a.status for answers in forced for a in answers)
            assert set(statuses) == {202, 406}, statuses
            assert min(statuses.values()) > 5, statuses
            assert {a.status for a in latest} <= {202, 400, 406}
            for answer in created:
                shown = rest.get(f'/v1/clusters/{answer.cluster}')
                assert shown['config'] == {'k': 'v'}
                rest.wait_for_success(action_id_of(answer.response))
        fleet.assert_tidy()


def _assert_correct(
    rest: RestClient, answers: list[Answer], serves: float, leaves: float
) -> None:
    """Check each answer, given the time in which the old engine served."""
    for answer in answers:
        if answer.status == 202:
            assert not (answer.began > serves and answer.ended < leaves), (
                'accepted although an old engine serves'
            )
            _assert_forced(rest, answer)
            continue
        reason = error_message(answer.response)
        if answer.status == 406:
            error: Any = answer.response.json()['errors'][0]
            assert error['max_version'] == '1.7'
            assert 'ClusterDeleteRequest' in reason
        else:  # 'latest' was 1.7, which has no such field
            assert answer.status == 400
            assert 'force' in reason
            assert '1.8' in reason
        # The rejected request had no effect.
        rest.get(f'/v1/clusters/{answer.cluster}')


def _assert_forced(rest: RestClient, answer: Answer) -> None:
    action = rest.wait_for_success(action_id_of(answer.response))
    assert action['inputs'].get('force') is True, action
    rest.assert_missing(f'/v1/clusters/{answer.cluster}')
