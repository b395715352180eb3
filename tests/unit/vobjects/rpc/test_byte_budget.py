# SPDX-License-Identifier: Apache-2.0
"""Reserved bytes of the large responses of a process."""

from __future__ import annotations

import threading
from concurrent import futures
from typing import Any

import pytest

from tests.waiting import eventually
from vobjects.rpc import byte_budget


def test_reserve_when_exhausted_returns_none() -> None:
    budget = byte_budget.ByteBudget(10, timeout=0)
    first = budget.reserve(6)
    assert first is not None
    assert budget.reserve(5) is None
    first.shrink(5)
    assert budget.reserve(5) is not None


def test_reserve_when_larger_than_budget_takes_all_of_it() -> None:
    budget = byte_budget.ByteBudget(10, timeout=0)
    reservation = budget.reserve(1000)
    assert reservation is not None
    assert budget.reserved == 10
    reservation.release()
    reservation.release()
    assert budget.reserved == 0


def test_reserve_when_bytes_are_released_continues() -> None:
    budget = byte_budget.ByteBudget(10, timeout=60)
    first = budget.reserve(10)
    assert first is not None
    reserved = []
    thread = threading.Thread(
        target=lambda: reserved.append(budget.reserve(4))
    )
    thread.start()
    first.release()
    thread.join(60)
    assert reserved[0] is not None
    assert budget.reserved == 4


def waiting(
    budget: byte_budget.ByteBudget, size: int, owner: str
) -> futures.Future[Any]:
    """Reserve bytes in a thread, and return when it waits or is done."""
    future: futures.Future[Any] = futures.Future()
    before = budget.waiting
    threading.Thread(
        target=lambda: future.set_result(budget.reserve(size, owner)),
        daemon=True,
    ).start()
    eventually(lambda: future.done() or budget.waiting != before)
    return future


@pytest.mark.parametrize(
    ('held', 'free', 'continues'),
    [
        # "a" holds more than half, and yields to "b".
        (6, 2, 'b'),
        (4, 2, 'b'),
        # Each has a share.
        (2, 4, 'ab'),
        (0, 4, 'ab'),
    ],
)
def test_reserve_when_several_owners_wait_shares_the_bytes(
    held: int, free: int, continues: str
) -> None:
    budget = byte_budget.ByteBudget(10, timeout=60)
    others = budget.reserve(10 - held, 'c')
    kept = budget.reserve(held, 'a') if held else None
    assert others is not None
    first = waiting(budget, 2, 'a')
    last = waiting(budget, 2, 'b')
    others.shrink(10 - held - free)
    if 'a' in continues:
        assert first.result(60) is not None
    assert last.result(60) is not None
    if 'a' not in continues:
        assert not first.done()
        last.result().release()
        assert first.result(60) is not None  # none of the others waits
    del kept


def test_reserve_when_owners_need_all_bytes_continues() -> None:
    budget = byte_budget.ByteBudget(10, timeout=60)
    held = budget.reserve(10, 'c')
    assert held is not None
    both = [waiting(budget, 10, owner) for owner in 'ab']
    held.release()
    done, _ = futures.wait(both, 60, futures.FIRST_COMPLETED)
    for future in done:
        future.result().release()
    for future in both:
        assert future.result(60) is not None
        future.result().release()


def test_reservation_when_lost_is_released() -> None:
    budget = byte_budget.ByteBudget(10, timeout=0)
    budget.reserve(10)
    assert budget.reserved == 0


def test_call_scope_when_call_fails_releases_bytes() -> None:
    budget = byte_budget.ByteBudget(10, timeout=0)

    def fail() -> None:
        with byte_budget.call_scope(budget):
            assert byte_budget.reserve(8)
            assert not byte_budget.reserve(8)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert budget.reserved == 0


def test_reserve_when_outside_of_a_call_is_unlimited() -> None:
    assert byte_budget.reserve(1 << 60)
