# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import pathlib
import sqlite3
import threading
import time
from collections.abc import Iterator

import pytest
from oslo_db import exception as oslo_db_exception

from engine.db import connections, database, models, writer_queue
from tests.unit.engine.conftest import configuration
from tests.waiting import eventually

#: Seconds: long enough for anything that should happen.
PATIENCE = 60


def soon() -> float:
    return time.monotonic() + PATIENCE


class Queue:
    """Threads that wait for the right to write, in the order they got it."""

    def __init__(self) -> None:
        self.writers = writer_queue.WriterQueue()
        self.order: list[str] = []
        self._threads: list[threading.Thread] = []

    def wait(self, name: str, *, urgent: bool = False) -> None:
        """Start a thread that waits, and return when it does."""
        waiting = len(self.writers._waiting)

        def run() -> None:
            with self.writers.slot(soon(), urgent=urgent):
                self.order.append(name)

        thread = threading.Thread(target=run)
        self._threads.append(thread)
        thread.start()
        eventually(lambda: len(self.writers._waiting) > waiting)

    def join(self) -> None:
        for thread in self._threads:
            thread.join()


def test_writers_run_in_order_of_arrival_after_urgent_ones() -> None:
    queue = Queue()
    with queue.writers.slot(soon()):
        for name in ('first', 'second', 'third'):
            queue.wait(name)
        queue.wait('urgent', urgent=True)
    queue.join()
    assert queue.order == ['urgent', 'first', 'second', 'third']


def test_writer_whose_time_is_up_runs_without_a_slot() -> None:
    queue = Queue()
    with queue.writers.slot(soon()):
        with queue.writers.slot(time.monotonic()):
            queue.order.append('in vain')
        queue.wait('next')
        assert queue.order == ['in vain']
    queue.join()
    with queue.writers.slot(soon()):
        queue.order.append('last')
    assert queue.order == ['in vain', 'next', 'last']


@contextlib.contextmanager
def locked(path: pathlib.Path) -> Iterator[None]:
    """Hold the file as another process does that writes."""
    other = sqlite3.connect(path, isolation_level=None)
    try:
        other.execute('BEGIN IMMEDIATE')
        yield
        other.execute('COMMIT')
    finally:
        other.close()


def test_write_waits_for_another_process_until_the_timeout(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'file.sqlite'
    target = database.Database(configuration(f'sqlite:///{path}'))
    models.Base.metadata.create_all(target.engine)
    row = models.Profile(name='p', type='t', spec={})
    # A lock that is never released is reported after the timeout.
    monkeypatch.setattr(connections, 'WRITE_TIMEOUT', 0.1)
    with (
        locked(path),
        pytest.raises(oslo_db_exception.DBError) as caught,
        target.writer(),
    ):
        pass
    assert database.is_busy(caught.value)
    # The writer waits for a lock that is released in time.
    monkeypatch.setattr(connections, 'WRITE_TIMEOUT', PATIENCE)
    thread = threading.Thread(
        target=lambda: target.write(lambda session: session.add(row))
    )
    with locked(path):
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
    thread.join()
    with target.reader() as session:
        assert session.get(models.Profile, row.id) is not None
    with target.engine.connect() as connection:
        timeout = connection.exec_driver_sql('PRAGMA busy_timeout').scalar()
    assert timeout == connections.BUSY_TIMEOUT
    target.close()
