# SPDX-License-Identifier: Apache-2.0
"""The speed of this machine, by which tests multiply their time limits."""

from __future__ import annotations

import functools
import os
import time

#: Passes the factor to workers of pytest-xdist and to other processes.
VARIABLE = 'VOBJECTS_TEST_SCALE'

#: CPU seconds of one run of the loop on the reference machine, one of whose
#: two cores is one of an Intel Xeon of 2023.
REFERENCE = 0.0085

RUNS = 9

#: Largest factor for the load, which may have passed a second later.
MOST_BUSY = 8.0

#: Noise of the measurement that does not count.
NOISE = 1.1


def _loop() -> None:
    values: dict[int, str] = {}
    for number in range(100_000):
        values[number % 1_000] = str(number)


def _seconds() -> float:
    """Return the shortest CPU time of some runs, in seconds.

    CPU time leaves out most of what other processes take, and the shortest
    of several runs most of the rest.
    """
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        _loop()
        times.append(time.process_time() - start)
    return min(times)


def _busy() -> float:
    """Return how many runnable processes share one CPU, at least 1."""
    shared = os.getloadavg()[0] / len(os.sched_getaffinity(0))
    return min(max(1.0, shared), MOST_BUSY)


def measure() -> float:
    """Return the factor of this moment; see :func:`scale`."""
    speed = max(1.0, _seconds() / REFERENCE / NOISE)
    return round(speed * _busy(), 2)


@functools.cache
def scale() -> float:
    """Return the factor by which this machine is slower, at least 1.

    It is 1 on the reference machine and 2 on one half as fast, or on one
    whose processors have twice as much to do. The first process measures it
    and sets :data:`VARIABLE`, from which its children take it.

    :raises ValueError: the variable is set to something other than a number
        of at least 1
    """
    given = os.environ.get(VARIABLE)
    if given is not None:
        factor = float(given)
        if not factor >= 1:
            raise ValueError(f'{VARIABLE}={given}: must be 1 or more')
        return factor
    factor = measure()
    os.environ[VARIABLE] = str(factor)
    return factor
