# SPDX-License-Identifier: Apache-2.0
"""Customers who ask again later, and what they must find at the end.

Where engines are killed and the broker goes away, a request may be answered
503, or late. It was done or it was not; the customer cannot know, and begins
something new. What was accepted must be done, and once.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

import psutil
import requests

from tests.functional.harness import Deployment
from tests.functional.processes import Process, wait_for
from tests.functional.rest import Rest
from tests.upgrade.customers import Customers
from vobjects.clustering import consts

#: "Not now": nobody answered, or not in time.
NOT_NOW = frozenset({503, 504})

#: Seconds until a customer asks again.
LATER = 0.5

#: Seconds for all that was accepted to be done, once nothing is in the way.
REST = 600


class GivenUpError(Exception):
    """Whether it was done is not known."""


class PatientCustomers(Customers):
    """Customers who ask again, and begin anew where that could be twice.

    :ivar given_up: how often they did
    """

    given_up = 0

    def summary(self) -> str:
        """Return what they did, for people."""
        return (
            f'{sum(self.rounds)} rounds, {self.given_up} given up,'
            f' {dict(self.statuses)}'
        )

    def _round(self, rest: Rest, profile: str) -> None:
        try:
            super()._round(rest, profile)
        except GivenUpError:
            self.given_up += 1

    def _send(
        self, rest: Rest, method: str, path: str, body: Any
    ) -> requests.Response:
        while True:
            answer = super()._send(rest, method, path, body)
            if answer.status_code not in NOT_NOW:
                return answer
            if method != 'GET':
                raise GivenUpError
            time.sleep(LATER)


def settle(deployment: Deployment) -> None:
    """Wait until all that was accepted is done; delete what is left.

    :raises AssertionError: something was lost, or done twice
    """
    _await_ends(deployment)
    with deployment.rest() as rest:
        for (cluster,) in deployment.rows('SELECT id FROM clusters'):
            rest.succeeded(rest.delete(f'/v1/clusters/{cluster}'))
    _await_ends(deployment)
    failed = deployment.rows(
        'SELECT action, status, status_reason FROM actions'
        " WHERE status != 'SUCCEEDED'"
    )
    assert not failed, f'accepted, and not done: {failed}'
    deployment.assert_tidy()
    assert deployment.rows('SELECT id FROM nodes') == []
    assert deployment.rows('SELECT node_id FROM simulated_servers') == []
    ends = Counter(
        said['action_id']
        for (text,) in deployment.rows('SELECT meta_data FROM events')
        if (said := json.loads(text))['phase'] == 'end'
    )
    twice = {action for action, times in ends.items() if times > 1}
    assert not twice, f'done more than once: {twice}'
    # Only what users asked for has events of its own.
    asked = deployment.rows(
        'SELECT id FROM actions WHERE cause = :cause',
        cause=consts.CAUSE_REQUEST,
    )
    silent = {id_ for (id_,) in asked} - ends.keys()
    assert not silent, f'without an event that they have ended: {silent}'


def _await_ends(deployment: Deployment) -> None:
    def none_left() -> bool:
        deployment.group.check_alive()
        left = deployment.rows(
            'SELECT id FROM actions'
            " WHERE status NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')"
        )
        return not left

    wait_for('all that was accepted has ended', none_left, within=REST)


def memory_of(process: Process) -> int:
    """Return the bytes that a process and its children have in memory."""
    found = psutil.Process(process.pid)
    return sum(one.memory_info().rss for one in [found, *found.children(True)])
