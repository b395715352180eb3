# SPDX-License-Identifier: Apache-2.0
"""Run schedules with simulated threads, clocks and network."""

from __future__ import annotations

import contextlib
import logging
import random
import re
from collections.abc import Callable, Iterator
from unittest import mock

import oslo_messaging

from tests.unit.vobjects.rpc.simulation import kernel as kernels
from tests.unit.vobjects.rpc.simulation.fleet import Database, Fleet, Rpc
from vobjects.rpc import (
    client,
    concurrency_limit,
    expiry,
    membership,
    routing,
)

LOG = logging.getLogger('vobjects.rpc')

#: Part of the schedules whose ledger is in SQL: they take longer.
SQL_EVERY = 8


class Simulator(logging.Handler):
    """Runs schedules with replaced ``threading`` and ``time``."""

    def __init__(self) -> None:
        super().__init__()
        self._threads = kernels.Threading()
        self._workers: list[kernels.Worker] = []
        self._database = Database()
        #: Number of requests that servers have executed.
        self.executed = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Add a log line of the current process to the trace."""
        kernel = self._threads.kernel
        name = kernel.current.process.name if kernel.current else ''
        # IDs of calls do not follow from the seed.
        text = re.sub('[0-9a-f]{32}', 'ID', record.getMessage())
        kernel.log(f'{name}: {text}')

    @contextlib.contextmanager
    def replaced_modules(self) -> Iterator[None]:
        """Replace threads, clocks and the network in a block."""
        with contextlib.ExitStack() as stack:
            for module in (membership, expiry, concurrency_limit):
                stack.enter_context(
                    mock.patch.object(module, 'threading', self._threads)
                )
            # In proportion to the period.
            stack.enter_context(
                mock.patch.object(concurrency_limit, 'QUEUE_TIMEOUT', 0.1)
            )
            stack.enter_context(
                mock.patch.object(client, 'time', kernels.Time(self._threads))
            )
            stack.enter_context(
                mock.patch.object(
                    oslo_messaging,
                    'get_rpc_client',
                    lambda sender, target, timeout, **_: Rpc(sender, timeout),
                )
            )
            level = LOG.level
            LOG.setLevel(logging.DEBUG)
            LOG.addHandler(self)
            LOG.propagate = False
            yield
            LOG.propagate = True
            LOG.removeHandler(self)
            LOG.setLevel(level)
            for worker in self._workers:
                worker.task = None
                worker.baton.release()
            self._workers.clear()

    def run(
        self,
        seed: int,
        sql_every: int = SQL_EVERY,
        scenario: Callable[[Fleet], None] = Fleet.run,
    ) -> list[str]:
        """Run a schedule.

        :param sql_every: 1: its ledger is in SQL; see :data:`SQL_EVERY`
        :param scenario: runs it; default: with random faults
        :returns: its trace
        :raises AssertionError: it violates an invariant; with the trace
        """
        kernel = kernels.Kernel(seed, self._workers)
        self._threads.kernel = kernel
        is_sql = kernel.random.randrange(sql_every) == 0
        with mock.patch.object(
            routing, '_RANDOM', random.Random(kernel.random.random())
        ):
            fleet = Fleet(kernel, self._database if is_sql else None)
            try:
                scenario(fleet)
            except BaseException as error:
                trace = '\n'.join(kernel.trace)
                raise AssertionError(
                    f'{trace}\n{kernel.now:8.3f} {type(error).__name__}:'
                    f' {error}\nseed {seed}'
                ) from error
            finally:
                self.executed += fleet.invariants.executed
                kernel.close()
        return kernel.trace
