# SPDX-License-Identifier: Apache-2.0
"""Calls of blocking functions from an event loop."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import pytest

from api.request_threads import RequestThreads
from tests.waiting import eventually


class Refused(BaseException):
    """Not an Exception."""


@pytest.mark.parametrize('cls', [KeyError, SystemExit, Refused])
def test_call_returns_the_result_or_raises_the_error(cls: Any) -> None:
    def fail() -> None:
        raise cls('reason')

    async def main() -> None:
        threads = RequestThreads(8)
        assert await threads.call(max, 1, 2) == 2
        with pytest.raises(cls, match='reason'):
            await threads.call(fail)
        # The thread still works.
        assert await threads.call(max, 3, 2) == 3

    asyncio.run(main())


def test_calls_at_the_same_time_have_threads_which_are_used_again() -> None:
    async def main() -> set[int]:
        threads = RequestThreads(8)
        # All must wait at the same time.
        barrier = threading.Barrier(5)

        def meet() -> int:
            barrier.wait(60)
            return threading.get_ident()

        return {
            identifier
            for _ in range(3)
            for identifier in await asyncio.gather(
                *(threads.call(meet) for _ in range(5))
            )
        }

    assert len(asyncio.run(main())) == 5


def test_calls_beyond_the_limit_wait_for_a_thread() -> None:
    async def main() -> set[int]:
        threads = RequestThreads(2)
        calls = [threads.call(threading.get_ident) for _ in range(20)]
        return set(await asyncio.gather(*calls))

    assert 1 <= len(asyncio.run(main())) <= 2


def test_call_that_is_cancelled_leaves_the_thread_for_others() -> None:
    async def main() -> None:
        threads = RequestThreads(8)
        release, ended = threading.Event(), threading.Event()

        def work() -> None:
            release.wait(60)
            ended.set()

        call = threads.call(work)
        call.cancel()
        release.set()
        await threads.call(ended.wait, 60)
        assert await threads.call(max, 1, 2) == 2

    asyncio.run(main())


def test_idle_thread_keeps_nothing_of_the_last_call() -> None:
    class Content:
        """Can have weak references."""

    async def main() -> None:
        threads = RequestThreads(8)
        content = Content()
        reference = weakref.ref(content)
        await threads.call(id, content)
        del content
        gc.collect()
        eventually(lambda: reference() is None)

    asyncio.run(main())


def test_loop_that_closes_during_a_call_lets_the_thread_end_it() -> None:
    threads = RequestThreads(8)
    release, ended = threading.Event(), threading.Event()

    def work() -> None:
        release.wait(60)
        ended.set()

    async def main() -> None:
        threads.call(work)

    asyncio.run(main())
    release.set()
    assert ended.wait(60)
