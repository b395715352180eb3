# SPDX-License-Identifier: Apache-2.0
"""Measure throughput, latency and CPU time of requests to the service.

::

    python benchmarks/service.py [--seconds 5] [--rounds 3]
        [--concurrency 1 8 32] [--database sqlite] [--transport embedded]
        [--peer senlin] [--rst]

Each figure is the median of all rounds. The column ``GET /`` compares the rate
with a request that reaches no engine. With ``--peer``, the script sends the
same requests to Senlin 16 (:mod:`senlin_process`). Rounds of both services
alternate, so that other load affects both, and a ratio is the median of the
ratios of all rounds. Without ``--peer``, the rates are compared with earlier
results of Senlin (:data:`SENLIN`).

The CPU time is that of one request in milliseconds: of the API, of the engine
(and Senlin's conductor), and of the message broker and the database, which
must not have other users meanwhile. For a new cluster, it includes the work of
the engine until the cluster is complete.
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

import load_generator
import senlin_process
import service_process

#: Earlier results of Senlin 16: requests per second by concurrency.
SENLIN = {
    'GET one cluster': {1: 58, 8: 128, 32: 122},
    'GET 100 clusters': {1: 10, 8: 22, 32: 22},
    'POST profile': {1: 33, 8: 56, 32: 61},
    'POST cluster': {1: 17, 8: 18, 32: 24},
}


class Sample(NamedTuple):
    """Results of one round.

    :ivar rate: requests per second
    :ivar p50: median latency in milliseconds
    :ivar p99: 99th percentile of the latency in milliseconds
    :ivar api: CPU milliseconds per request, likewise for the engine, the
        message broker (``rpc``) and the database
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
        """CPU milliseconds per request of all components."""
        return self.api + self.engine + self.rpc + self.database


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """A repeated request to one service.

    :ivar name: title of the row
    :ivar make: function from the number of a request to its bytes
    :ivar good: expected status
    """

    name: str
    make: load_generator.Make
    good: int
    service: service_process.Service

    def sample(self, concurrency: int, seconds: float) -> Sample:
        """Send requests for some seconds and return the results."""
        before = self.service.cpu()
        outcome = load_generator.run(
            self.service.address, self.make, {self.good}, concurrency, seconds
        )
        self.service.settle()
        after = self.service.cpu()
        cpu = {
            part: seconds * 1000 / len(outcome.times)
            for part, seconds in service_process.spent(before, after).items()
        }
        return Sample(
            outcome.rate,
            outcome.percentile(50),
            outcome.percentile(99),
            **cpu,
        )


def main() -> int:
    """Run the benchmark and print the results."""
    chosen = _options()
    with (
        service_process.service(chosen) as ours,
        senlin_process.service(chosen) as theirs,
    ):
        services = [service for service in (ours, theirs) if service]
        cases = list(zip(*map(_prepare, services), strict=True))
        table = Rst(chosen) if chosen.rst else Text(chosen)
        for peers in cases:
            for concurrency in chosen.concurrency:
                rounds = [
                    [
                        case.sample(concurrency, chosen.seconds)
                        for case in peers
                    ]
                    for _round in range(chosen.rounds)
                ]
                table.add(peers[0].name, concurrency, rounds)
    return 0


def _prepare(service: service_process.Service) -> list[Case]:
    """Create test data in a service and return the test cases."""
    created = service.call('POST', '/v1/profiles', service_process.PROFILE)
    profile = created['profile']['id']

    def cluster(name: str) -> dict[str, object]:
        return {
            'cluster': {
                'name': name,
                'profile_id': profile,
                'desired_capacity': 0,
            }
        }

    for number in range(100):
        service.call('POST', '/v1/clusters', cluster(f'listed-{number}'))
    service.settle()
    names = itertools.count()
    root = service.request('GET', '/')
    get_cluster = service.request('GET', '/v1/clusters/listed-50')
    list_clusters = service.request('GET', '/v1/clusters?limit=100')
    create_profile = service.request(
        'POST', '/v1/profiles', service_process.PROFILE
    )
    return [
        Case('GET /', lambda _: root, 300, service),
        Case('GET one cluster', lambda _: get_cluster, 200, service),
        Case('GET 100 clusters', lambda _: list_clusters, 200, service),
        Case('POST profile', lambda _: create_profile, 201, service),
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
    """Text table with a line for our service and one for the peer."""

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
        """Print the medians of a case.

        :param rounds: sample of our service, and of the peer if there is one,
            for each round
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
        for median in theirs:
            faster, leaner = _ratios(rounds)
            print(
                f'  {senlin_process.NAME:15}     {_line(median)}  '
                f' {faster:.1f}x the requests, 1/{leaner:.1f} of the CPU',
                flush=True,
            )


class Rst:
    """reStructuredText table for the documentation."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        header = ['Request', 'At once', 'req/s', 'ms', 'CPU ms']
        if chosen.peer:
            header += [
                f'{senlin_process.NAME}: req/s',
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
        for median in medians:
            row += [
                f'{median.rate:.0f}',
                f'{median.p50:.1f}',
                f'{median.cpu:.2f}',
            ]
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


def _line(sample: Sample) -> str:
    return (
        f'{sample.rate:6.0f} {sample.p50:7.2f} {sample.p99:7.2f}         '
        f' {sample.api:5.2f} {sample.engine:6.2f} {sample.rpc:5.2f}'
        f' {sample.database:5.2f}'
    )


def _median(samples: Sequence[Sample]) -> Sample:
    return Sample(*map(statistics.median, zip(*samples, strict=True)))


def _ratios(rounds: Sequence[Sequence[Sample]]) -> tuple[float, float]:
    """Return the ratios: requests (ours/theirs) and CPU (theirs/ours)."""
    return (
        statistics.median(ours.rate / theirs.rate for ours, theirs in rounds),
        statistics.median(theirs.cpu / ours.cpu for ours, theirs in rounds),
    )


def _options() -> argparse.Namespace:
    parser = service_process.options(__doc__)
    parser.add_argument('--seconds', type=float, default=5.0)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument(
        '--concurrency', type=int, nargs='+', default=[1, 8, 32]
    )
    chosen: argparse.Namespace = parser.parse_args()
    return chosen


if __name__ == '__main__':
    sys.exit(main())
