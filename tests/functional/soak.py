# SPDX-License-Identifier: Apache-2.0
"""Helpers of soak tests: a workload that tolerates outages, and final checks.

While engines are killed or the broker is away, a request may fail with 503 or
504 although it takes effect. The client then starts a new round. Every
accepted action must succeed exactly once.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

import psutil
import requests

from tests import machine_speed
from tests.functional.deployments import Deployment
from tests.functional.processes import Process, wait_for
from tests.functional.rest import RestClient
from tests.upgrade.workload import Workload
from vobjects.clustering import consts

#: Statuses of temporary outages.
UNAVAILABLE = frozenset({503, 504})

#: Seconds until a client retries.
RETRY_DELAY = 0.5

#: Seconds for all accepted actions to end after the last fault.
SETTLE_TIMEOUT = 600 * machine_speed.scale()


class RoundAborted(Exception):
    """A change failed with 503 or 504 and may have taken effect."""


class RetryingWorkload(Workload):
    """Workload that repeats reads, and aborts the round of a failed change.

    :ivar aborted: number of aborted rounds
    """

    aborted = 0

    def summary(self) -> str:
        """Return a summary for people."""
        return (
            f'{sum(self.statuses.values())} requests,'
            f' {sum(self.rounds)} rounds, {self.aborted} aborted,'
            f' {dict(self.statuses)}'
        )

    def _round(self, rest: RestClient, profile: str) -> None:
        try:
            super()._round(rest, profile)
        except RoundAborted:
            self.aborted += 1

    def _send(
        self, rest: RestClient, method: str, path: str, body: Any
    ) -> requests.Response:
        while True:
            response = super()._send(rest, method, path, body)
            if response.status_code not in UNAVAILABLE:
                return response
            if method != 'GET':
                raise RoundAborted
            time.sleep(RETRY_DELAY)


def settle(deployment: Deployment) -> int:
    """Wait for all actions, delete all clusters, and check the results.

    :returns: the number of actions that users requested
    :raises AssertionError: an action failed, was lost or was repeated
    """
    _await_ends(deployment)
    with deployment.rest() as rest:
        for (cluster,) in deployment.rows('SELECT id FROM clusters'):
            rest.remove(cluster)
    _await_ends(deployment)
    failed = deployment.rows(
        'SELECT action, status, status_reason FROM actions'
        " WHERE status != 'SUCCEEDED'"
    )
    assert not failed, f'accepted but not completed: {failed}'
    deployment.assert_tidy()
    assert deployment.rows('SELECT id FROM nodes') == []
    assert deployment.rows('SELECT node_id FROM simulated_servers') == []
    ends = Counter(
        event['action_id']
        for (text,) in deployment.rows('SELECT meta_data FROM events')
        if (event := json.loads(text))['phase'] == 'end'
    )
    repeated = {action for action, count in ends.items() if count > 1}
    assert not repeated, f'done more than once: {repeated}'
    # Only actions that users requested have events.
    requested = deployment.rows(
        'SELECT id FROM actions WHERE cause = :cause',
        cause=consts.CAUSE_REQUEST,
    )
    without_end = {id_ for (id_,) in requested} - ends.keys()
    assert not without_end, f'actions without an end event: {without_end}'
    return len(requested)


def _await_ends(deployment: Deployment) -> None:
    def all_ended() -> bool:
        deployment.group.assert_alive()
        unfinished = deployment.rows(
            'SELECT id FROM actions'
            " WHERE status NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')"
        )
        return not unfinished

    wait_for('all actions have ended', all_ended, timeout=SETTLE_TIMEOUT)


def memory_of(process: Process) -> int:
    """Return the resident memory of a process tree in bytes."""
    root = psutil.Process(process.pid)
    tree = [root, *root.children(recursive=True)]
    return sum(member.memory_info().rss for member in tree)
