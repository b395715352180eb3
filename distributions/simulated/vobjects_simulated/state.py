# SPDX-License-Identifier: Apache-2.0
"""Delays, random numbers and shared state of the simulated cloud."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Callable
from typing import TypeVar

from oslo_config import cfg
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine import storage
from engine.providers import base, server_events
from vobjects.rpc import concurrency_limit

Result = TypeVar('Result')


@dataclasses.dataclass(frozen=True, slots=True)
class Simulation:
    """One region of the simulated cloud.

    :ivar region: the name of the region
    :ivar events: the events of its servers
    """

    options: cfg.ConfigOpts.GroupAttr
    database: storage.Database
    region: str
    events: server_events.EventStore

    def work(
        self, key: str, operation: str, resource: str, *, seconds: float = 0.0
    ) -> None:
        """Simulate the delay of an operation, and its random failure.

        The seed, the key and the operation determine whether it fails.

        :param resource: the resource for messages, such as 'the server of node
            ...'
        :param seconds: the delay in addition to the latency
        :raises engine.providers.base.ProviderError: the operation fails
        """
        with concurrency_limit.released():
            time.sleep(self.options.latency + seconds)
        if self.chance(key, operation) < self.options.failure_rate:
            raise base.ProviderError(
                f'the simulated cloud failed to {operation} {resource}'
            )

    def write(self, insert: Callable[[orm.Session], Result]) -> Result:
        """Run a transaction that finds a row, or inserts it."""
        try:
            return self.database.write(insert)
        except oslo_db_exception.DBDuplicateEntry:
            # Another engine, which took over the action, was faster.
            return self.database.write(insert)

    def chance(self, *words: str) -> float:
        """Return a number from 0 to 1, derived from the words and the seed."""
        text = '/'.join((str(self.options.seed), *words))
        digest = hashlib.sha256(text.encode()).digest()
        return int.from_bytes(digest[:8]) / 2**64
