# SPDX-License-Identifier: Apache-2.0
"""Places for threads, and who gets one when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from vobjects.rpc import concurrency_limit

PATIENCE = 60


class Guests:
    """Threads that go through a gate and stay until they are told to go."""

    def __init__(self, places: int) -> None:
        self.gate = concurrency_limit.ConcurrencyLimit(places)
        self.entered: list[str] = []
        self._in: dict[str, threading.Event] = {}
        self._go: dict[str, threading.Event] = {}
        self._threads: list[threading.Thread] = []

    def come(self, name: str, does: Callable[[], None] = lambda: None) -> None:
        self._in[name], self._go[name] = threading.Event(), threading.Event()

        def run() -> None:
            with self.gate.place():
                self.entered.append(name)
                self._in[name].set()
                does()
                self._go[name].wait(PATIENCE)

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def is_in(self, name: str) -> bool:
        return self._in[name].wait(PATIENCE)

    def go(self, *names: str) -> None:
        for name in names:
            self._go[name].set()

    def all_go(self) -> None:
        self.go(*self._go)
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def wait_in_line(self, number: int) -> None:
        while len(self.gate._line) < number:
            threading.Event().wait(0.001)


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch) -> Iterator[Guests]:
    """Guests of one place, who have all the time of the world."""
    monkeypatch.setattr(concurrency_limit, 'QUEUE_TIMEOUT', PATIENCE)
    found = Guests(1)
    yield found
    found.all_go()


def test_who_came_first_goes_first(guests: Guests) -> None:
    guests.come('a')
    assert guests.is_in('a')
    for number, name in enumerate('bcd'):
        guests.come(name)
        guests.wait_in_line(number + 1)
    assert guests.entered == ['a']
    guests.go('a')
    assert guests.is_in('b')
    assert guests.entered == ['a', 'b']
    guests.go('b', 'c')
    assert guests.is_in('d')
    assert guests.entered == ['a', 'b', 'c', 'd']


def test_who_waits_for_something_outside_holds_nobody_up(
    guests: Guests,
) -> None:
    answered = threading.Event()

    def asks() -> None:
        with concurrency_limit.released(), concurrency_limit.released():
            answered.wait(PATIENCE)

    for name in 'abc':
        guests.come(name, asks)
    guests.come('quick')
    assert guests.is_in('quick')
    answered.set()


def test_who_comes_back_does_not_stand_in_line(guests: Guests) -> None:
    back = threading.Event()
    answered = threading.Event()

    def asks() -> None:
        with concurrency_limit.released():
            answered.wait(PATIENCE)
        back.set()

    guests.come('asker', asks)
    guests.come('b')
    assert guests.is_in('b')
    answered.set()
    assert back.wait(PATIENCE)
    guests.come('c')
    guests.wait_in_line(1)
    # Two are inside: when the first goes there is no place yet.
    guests.go('b')
    guests.come('d')
    guests.wait_in_line(2)
    assert 'c' not in guests.entered
    guests.go('asker')
    assert guests.is_in('c')


def test_a_failure_outside_is_heard_and_the_place_is_back() -> None:
    found = concurrency_limit.ConcurrencyLimit(1)
    with (
        pytest.raises(OSError, match='silent'),
        found.place(),
        concurrency_limit.released(),
    ):
        raise OSError('silent')
    with found.place():
        pass


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency_limit, 'QUEUE_TIMEOUT', 0.01)
    guests = Guests(1)
    guests.come('a')
    assert guests.is_in('a')
    guests.come('b')
    assert guests.is_in('b')
    monkeypatch.setattr(concurrency_limit, 'QUEUE_TIMEOUT', PATIENCE)
    guests.come('c')
    guests.wait_in_line(1)
    guests.go('b')
    guests.come('d')
    guests.wait_in_line(2)
    assert 'c' not in guests.entered
    guests.go('a')
    assert guests.is_in('c')
    guests.all_go()


def test_without_a_place_there_is_nothing_to_leave() -> None:
    with concurrency_limit.released():
        pass
