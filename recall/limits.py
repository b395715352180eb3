# SPDX-License-Identifier: Apache-2.0
"""Measure each bug in a process of its own, within a time limit.

The process returns the memory for the trees of a bug. Code of others may also
stop it or make it run for a long time; the next bug is then measured.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection

from recall.bugs import Bug
from recall.measurement import Outcome


def run(
    bug: Bug, measure: Callable[[], Outcome], seconds: float | None = None
) -> Outcome:
    """Return the result of a measurement, or why there is none.

    :param measure: runs in a process with its own process group
    :param seconds: time limit; ``None``: no limit
    """
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context('fork').Process(
        target=_send, args=(bug, measure, sender)
    )
    process.start()
    group = process.pid
    if group is None:
        raise RuntimeError('a started process has an identifier')
    sender.close()
    try:
        if not receiver.poll(seconds):
            problem = f'not finished after {seconds:.0f} s, see --seconds'
            return Outcome(bug, problems=(problem,))
        outcome: Outcome = receiver.recv()
        return outcome
    except EOFError:
        process.join()
        problem = f'its process ended with exit code {process.exitcode}'
        return Outcome(bug, problems=(problem,))
    finally:
        process.kill()
        # Commands that the process started are in its group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        process.join()


def _send(
    bug: Bug, measure: Callable[[], Outcome], sender: Connection
) -> None:
    os.setpgid(0, 0)
    try:
        outcome = measure()
    except Exception as error:  # noqa: BLE001 - of any code of others
        problem = f'{type(error).__name__}: {error}'.splitlines()[0][:200]
        outcome = Outcome(bug, problems=(problem,))
    sender.send(outcome)
