# SPDX-License-Identifier: Apache-2.0
"""Run Senlin 16 as the peer of the benchmarks."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

import psutil
import service_process

from tests import senlin_server

NAME = 'Senlin 16'


@contextlib.contextmanager
def service(
    chosen: argparse.Namespace,
) -> Iterator[service_process.Service | None]:
    """Run the peer.

    Yields None if no peer is selected.

    :param chosen: parsed :func:`service_process.options`
    """
    if not chosen.peer:
        yield None
        return
    with senlin_server.running() as senlin:
        peer = service_process.Service(
            [psutil.Process(pid) for pid in senlin.pids],
            senlin.port,
            'mysql',
            'rabbit',
            senlin_server.IDENTITY,
        )
        peer.begin()
        yield peer
