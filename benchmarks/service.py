# SPDX-License-Identifier: Apache-2.0
"""Requests of the running service: how many a second, how long, what CPU.

::

    python benchmarks/service.py [--seconds 5] [--rounds 3]
        [--concurrency 1 8 32] [--database sqlite] [--transport embedded]
        [--peer senlin] [--rst]

Each figure is the median of the rounds. Beside it stands ``GET /``, which
reaches no engine. With ``--peer`` Senlin 16 runs, too, and is asked the same
(:mod:`peer`): one round of ours, one of its, so that a machine that is slow
for a while is so for both; a ratio is the median of those of the rounds.
Without, what it once did on another day is told (:data:`SENLIN`).

CPU is that of one request, in milliseconds: of the API, of the engine (and
conductor), and of broker and database, if they do nothing else meanwhile. That
of a new cluster counts until the engine is done with it.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import statistics
import sys
from collections.abc import Sequence
from typing import NamedTuple

import load
import peer
import running

#: What Senlin 16 once did: requests per second at concurrency 1, 8 and 32.
SENLIN = {
    'GET one cluster': {1: 58, 8: 128, 32: 122},
    'GET 100 clusters': {1: 10, 8: 22, 32: 22},
    'POST profile': {1: 33, 8: 56, 32: 61},
    'POST cluster': {1: 17, 8: 18, 32: 24},
}


class Sample(NamedTuple):
    """One round: requests per second, and milliseconds of one.

    Those of the parts are CPU.
    """

    rate: float
    p50: float
    p99: float
    api: float
    engine: float
    rpc: float
    database: float

    @property
    def cpu(self) -> float:
        """CPU of all parts."""
        return self.api + self.engine + self.rpc + self.database


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """What is asked again and again, of one service."""

    name: str
    make: load.Make
    good: int
    service: running.Service

    def sample(self, concurrency: int, seconds: float) -> Sample:
        """Ask for a while."""
        before = self.service.cpu()
        outcome = load.run(
            self.service.address, self.make, {self.good}, concurrency, seconds
        )
        self.service.settle()
        after = self.service.cpu()
        cpu = {
            part: seconds * 1000 / len(outcome.times)
            for part, seconds in running.spent(before, after).items()
        }
        return Sample(
            outcome.rate,
            outcome.percentile(50),
            outcome.percentile(99),
            **cpu,
        )


def main() -> int:
    """Measure and print."""
    chosen = _options()
    with running.service(chosen) as ours, peer.service(chosen) as theirs:
        services = [one for one in (ours, theirs) if one]
        cases = list(zip(*map(_prepare, services), strict=True))
        table = Rst(chosen) if chosen.rst else Text(chosen)
        for same in cases:
            for concurrency in chosen.concurrency:
                rounds = [
                    [one.sample(concurrency, chosen.seconds) for one in same]
                    for _round in range(chosen.rounds)
                ]
                table.add(same[0].name, concurrency, rounds)
    return 0


def _prepare(service: running.Service) -> list[Case]:
    """Return what a service is asked, once there is something to ask for."""
    made = service.ask('POST', '/v1/profiles', running.PROFILE)
    profile = made['profile']['id']

    def cluster(name: str) -> dict[str, object]:
        return {
            'cluster': {
                'name': name,
                'profile_id': profile,
                'desired_capacity': 0,
            }
        }

    for number in range(100):
        service.ask('POST', '/v1/clusters', cluster(f'listed-{number}'))
    service.settle()
    names = itertools.count()
    root = service.request('GET', '/')
    one = service.request('GET', '/v1/clusters/listed-50')
    many = service.request('GET', '/v1/clusters?limit=100')
    new = service.request('POST', '/v1/profiles', running.PROFILE)
    return [
        Case('GET /', lambda _: root, 300, service),
        Case('GET one cluster', lambda _: one, 200, service),
        Case('GET 100 clusters', lambda _: many, 200, service),
        Case('POST profile', lambda _: new, 201, service),
        Case(
            'POST cluster',
            lambda _: service.request(
                'POST', '/v1/clusters', cluster(f'made-{next(names)}')
            ),
            202,
            service,
        ),
    ]


class Text:
    """Figures to look at: a line for ours, and one for the peer."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self._roots: dict[int, float] = {}
        print(_conditions(chosen))
        print(
            f'{"request":17} {"c":>3} {"req/s":>6} {"p50 ms":>7}'
            f' {"p99 ms":>7}  CPU ms: {"api":>5} {"engine":>6} {"rpc":>5}'
            f' {"db":>5}   {"GET /":>6}'
            + ('' if chosen.peer else f' {"Senlin once":>12}')
        )

    def add(
        self, name: str, concurrency: int, rounds: Sequence[Sequence[Sample]]
    ) -> None:
        """Print figures.

        :param rounds: in each our sample, and that of the peer
        """
        ours, *theirs = map(_median, zip(*rounds, strict=True))
        root = self._roots.setdefault(concurrency, ours.rate)
        once = SENLIN.get(name, {}).get(concurrency)
        print(
            f'{name:17} {concurrency:3} {_line(ours)}'
            f'   {ours.rate / root:5.2f}x'
            + (f' {ours.rate / once:11.1f}x' if once and not theirs else ''),
            flush=True,
        )
        for one in theirs:
            faster, leaner = _ratios(rounds)
            print(
                f'  {peer.NAME:15}     {_line(one)}   {faster:.1f}x the'
                f' requests, 1/{leaner:.1f} of the CPU',
                flush=True,
            )


class Rst:
    """Figures for documentation: a table of both."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        header = ['Request', 'At once', 'req/s', 'ms', 'CPU ms']
        if chosen.peer:
            header += [
                f'{peer.NAME}: req/s',
                'ms',
                'CPU ms',
                'Faster',
                'Leaner',
            ]
        print(
            f'.. csv-table:: {_conditions(chosen)}\n'
            f'   :header: {", ".join(header)}\n'
        )

    def add(
        self, name: str, concurrency: int, rounds: Sequence[Sequence[Sample]]
    ) -> None:
        """Print a row; see :meth:`Text.add`."""
        row = [name, str(concurrency)]
        medians = [_median(samples) for samples in zip(*rounds, strict=True)]
        for one in medians:
            row += [f'{one.rate:.0f}', f'{one.p50:.1f}', f'{one.cpu:.2f}']
        if len(medians) > 1:
            row += [f'{ratio:.1f}x' for ratio in _ratios(rounds)]
        print(f'   {", ".join(row)}', flush=True)


def _conditions(chosen: argparse.Namespace) -> str:
    return (
        f'{chosen.database}, {chosen.transport}; {chosen.workers} API'
        f' worker(s), {chosen.engines} engine(s); medians of {chosen.rounds}'
        f' rounds of {chosen.seconds:g} s; {os.cpu_count()} CPUs, load'
        f' {os.getloadavg()[0]:.1f} before'
    )


def _line(one: Sample) -> str:
    return (
        f'{one.rate:6.0f} {one.p50:7.2f} {one.p99:7.2f}         '
        f' {one.api:5.2f} {one.engine:6.2f} {one.rpc:5.2f} {one.database:5.2f}'
    )


def _median(samples: Sequence[Sample]) -> Sample:
    return Sample(*map(statistics.median, zip(*samples, strict=True)))


def _ratios(rounds: Sequence[Sequence[Sample]]) -> tuple[float, float]:
    """Return how many times the requests are ours, and the CPU theirs."""
    return (
        statistics.median(ours.rate / theirs.rate for ours, theirs in rounds),
        statistics.median(theirs.cpu / ours.cpu for ours, theirs in rounds),
    )


def _options() -> argparse.Namespace:
    parser = running.options(__doc__)
    parser.add_argument('--seconds', type=float, default=5.0)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument(
        '--concurrency', type=int, nargs='+', default=[1, 8, 32]
    )
    chosen: argparse.Namespace = parser.parse_args()
    return chosen


if __name__ == '__main__':
    sys.exit(main())
