# SPDX-License-Identifier: Apache-2.0
"""Slots for threads, and the order in which threads get them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from vobjects.rpc import concurrency_limit

TIMEOUT = 60


class Workers:
    """Threads that take a slot and hold it until the test ends them."""

    def __init__(self, slots: int) -> None:
        self.limit = concurrency_limit.ConcurrencyLimit(slots)
        self.started: list[str] = []
        self._running: dict[str, threading.Event] = {}
        self._end: dict[str, threading.Event] = {}
        self._threads: list[threading.Thread] = []

    def start(
        self, name: str, work: Callable[[], None] = lambda: None
    ) -> None:
        self._running[name], self._end[name] = (
            threading.Event(),
            threading.Event(),
        )

        def run() -> None:
            with self.limit.slot():
                self.started.append(name)
                self._running[name].set()
                work()
                self._end[name].wait(TIMEOUT)

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def is_running(self, name: str) -> bool:
        return self._running[name].wait(TIMEOUT)

    def end(self, *names: str) -> None:
        for name in names:
            self._end[name].set()

    def end_all(self) -> None:
        self.end(*self._end)
        for thread in self._threads:
            thread.join(TIMEOUT)
            assert not thread.is_alive()

    def wait_for_queue(self, length: int) -> None:
        while len(self.limit._queue) < length:
            threading.Event().wait(0.001)

    def assert_no_slot_until_both_end(self, first: str, second: str) -> None:
        """Two workers have the only slot; 'c' waits until both have ended."""
        self.start('c')
        self.wait_for_queue(1)
        self.end(first)
        self.start('d')
        self.wait_for_queue(2)
        assert 'c' not in self.started
        self.end(second)
        assert self.is_running('c')


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    """Workers for one slot, with a long timeout."""
    monkeypatch.setattr(concurrency_limit, 'QUEUE_TIMEOUT', TIMEOUT)
    workers = Workers(1)
    yield workers
    workers.end_all()


def test_slot_when_several_wait_goes_to_the_first(workers: Workers) -> None:
    workers.start('a')
    assert workers.is_running('a')
    for number, name in enumerate('bcd'):
        workers.start(name)
        workers.wait_for_queue(number + 1)
    assert workers.started == ['a']
    workers.end('a')
    assert workers.is_running('b')
    assert workers.started == ['a', 'b']
    workers.end('b', 'c')
    assert workers.is_running('d')
    assert workers.started == ['a', 'b', 'c', 'd']


def test_released_while_waiting_lets_others_run(workers: Workers) -> None:
    answered = threading.Event()

    def call() -> None:
        with concurrency_limit.released(), concurrency_limit.released():
            answered.wait(TIMEOUT)

    for name in 'abc':
        workers.start(name, call)
    workers.start('quick')
    assert workers.is_running('quick')
    answered.set()


def test_released_when_the_wait_ends_runs_without_queueing(
    workers: Workers,
) -> None:
    back = threading.Event()
    answered = threading.Event()

    def call() -> None:
        with concurrency_limit.released():
            answered.wait(TIMEOUT)
        back.set()

    workers.start('caller', call)
    workers.start('b')
    assert workers.is_running('b')
    answered.set()
    assert back.wait(TIMEOUT)
    workers.assert_no_slot_until_both_end('b', 'caller')


def test_released_when_the_block_raises_keeps_the_slot_usable() -> None:
    limit = concurrency_limit.ConcurrencyLimit(1)
    with (
        pytest.raises(OSError, match='silent'),
        limit.slot(),
        concurrency_limit.released(),
    ):
        raise OSError('silent')
    with limit.slot():
        pass


def test_slot_when_the_timeout_expires_runs_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(concurrency_limit, 'QUEUE_TIMEOUT', 0.01)
    workers = Workers(1)
    workers.start('a')
    assert workers.is_running('a')
    workers.start('b')
    assert workers.is_running('b')
    monkeypatch.setattr(concurrency_limit, 'QUEUE_TIMEOUT', TIMEOUT)
    workers.assert_no_slot_until_both_end('b', 'a')
    workers.end_all()


def test_released_without_a_slot_does_nothing() -> None:
    with concurrency_limit.released():
        pass
