# SPDX-License-Identifier: Apache-2.0
"""Reserved bytes of the large responses of a process."""

from __future__ import annotations

import threading

import pytest

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
