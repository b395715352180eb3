# SPDX-License-Identifier: Apache-2.0
"""What all parts of the simulated cloud have alike: time, dice, its tables."""

from __future__ import annotations

import dataclasses
import hashlib
import time

from oslo_config import cfg

from engine.db import database
from engine.providers import base
from vobjects.rpc import gate


@dataclasses.dataclass(frozen=True, slots=True)
class Simulation:
    """One region of the simulated cloud.

    :ivar region: its name
    """

    options: cfg.ConfigOpts.GroupAttr
    database: database.Database
    region: str

    def work(self, key: str, operation: str, what: str) -> None:
        """Take the time an operation takes, and perhaps fail.

        Whether it does follows from the seed, the key and the operation.

        :param what: for users, such as 'the server of node ...'
        :raises engine.providers.base.ProviderError: it failed
        """
        with gate.waiting():
            time.sleep(self.options.latency)
        if self.chance(key, operation) < self.options.failure_rate:
            raise base.ProviderError(
                f'the simulated cloud failed to {operation} {what}'
            )

    def chance(self, *words: str) -> float:
        """Return a number from 0 to 1 that follows from words and seed."""
        text = '/'.join((str(self.options.seed), *words))
        digest = hashlib.sha256(text.encode()).digest()
        return int.from_bytes(digest[:8]) / 2**64
