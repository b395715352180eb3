# SPDX-License-Identifier: Apache-2.0
"""Measure the time to create clusters and to list nodes page by page.

::

    python benchmarks/clusters.py [--sizes 10 100] [--pages 10000]
        [--engines 1] [--database sqlite] [--transport embedded]
        [--peer senlin] [--rst]

The simulated cloud has no latency, so the figures show only the time of the
service. With ``--pages N``, the script creates N nodes and requests all pages
in sequence. The ratio is the time of the last pages to that of the first.
With ``--peer``, Senlin 16 creates the same clusters in alternating rounds
(:mod:`senlin_process`); its cloud has no latency, either.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Sequence

import senlin_process
import service_process

#: Nodes per page, and number of pages in the median of a figure.
PAGE = 100
SAMPLE = 5

#: Maximum size of a cluster: the default of [engine] max_nodes_per_cluster.
LARGEST = 1000


def main() -> int:
    """Run the benchmark and print the results."""
    parser = service_process.options(__doc__)
    parser.add_argument('--sizes', type=int, nargs='*', default=[10, 100])
    parser.add_argument('--pages', type=int, default=0, help='of how many')
    parser.add_argument('--rounds', type=int, default=3)
    chosen = parser.parse_args()
    with (
        service_process.service(chosen) as ours,
        senlin_process.service(chosen) as theirs,
    ):
        services = [
            (service, _create_profile(service))
            for service in (ours, theirs)
            if service
        ]
        _print_conditions(chosen)
        for size in chosen.sizes:
            rounds = [
                [
                    _round(service, profile, size)
                    for service, profile in services
                ]
                for _number in range(chosen.rounds)
            ]
            _print_row(chosen, size, rounds)
        if chosen.pages:
            for name, pair in zip(
                ('ours', senlin_process.NAME), services, strict=False
            ):
                print(f'{name}:')
                _pages(*pair, chosen.pages)
    return 0


def _create_profile(service: service_process.Service) -> str:
    """Create a profile and return its ID."""
    body = service.call('POST', '/v1/profiles', service_process.PROFILE)
    profile: str = body['profile']['id']
    return profile


def _print_conditions(chosen: argparse.Namespace) -> None:
    """Print the test conditions."""
    conditions = (
        f'{chosen.database}, {chosen.transport}; {chosen.engines} engine(s);'
        f' medians of {chosen.rounds}; {os.cpu_count()} CPUs, load'
        f' {os.getloadavg()[0]:.1f} before'
    )
    if chosen.rst:
        theirs = f', {senlin_process.NAME}: s, Faster' if chosen.peer else ''
        print(
            f'.. csv-table:: {conditions}\n   :header: Nodes, ACTIVE after s'
            f'{theirs}\n'
        )
    else:
        print(conditions)


def _print_row(
    chosen: argparse.Namespace, size: int, rounds: Sequence[Sequence[float]]
) -> None:
    """Print the creation times of clusters of one size.

    :param size: number of nodes
    :param rounds: seconds of our service, and of the peer if there is one,
        for each round
    """
    medians = map(statistics.median, zip(*rounds, strict=True))
    figures = [f'{seconds:.2f}' for seconds in medians]
    if chosen.peer:
        ratio = statistics.median(theirs / ours for ours, theirs in rounds)
        figures.append(f'{ratio:.1f}x')
    if chosen.rst:
        print(f'   {", ".join([str(size), *figures])}', flush=True)
    else:
        units = ('s', f's of {senlin_process.NAME}', '')
        text = ', '.join(map(' '.join, zip(figures, units, strict=False)))
        print(f'cluster of {size:6}: ACTIVE after {text}', flush=True)


def _round(service: service_process.Service, profile: str, size: int) -> float:
    """Create and delete a cluster; return the creation time in seconds."""
    took, cluster = _create(service, profile, size)
    service.call('DELETE', f'/v1/clusters/{cluster}')
    while any(
        row['id'] == cluster
        for row in service.call('GET', '/v1/clusters')['clusters']
    ):
        time.sleep(0.05)
    return took


def _create(
    service: service_process.Service, profile: str, size: int
) -> tuple[float, str]:
    """Create a cluster; return the creation time in seconds and the ID."""
    began = time.perf_counter()
    body = {
        'cluster': {
            'name': f'c-{size}',
            'profile_id': profile,
            'desired_capacity': size,
        }
    }
    cluster = service.call('POST', '/v1/clusters', body)['cluster']['id']
    until = began + service_process.TIMEOUT * max(1, size / 100)
    while time.perf_counter() < until:
        row = service.call('GET', f'/v1/clusters/{cluster}')['cluster']
        if row['status'] == 'ACTIVE':
            return time.perf_counter() - began, cluster
        if row['status'] == 'ERROR':
            break
        time.sleep(0.02)
    raise RuntimeError(f'{row["status"]}: {row["status_reason"]}')


def _pages(service: service_process.Service, profile: str, size: int) -> None:
    for number in range(0, size, LARGEST):
        count = min(LARGEST, size - number)
        took, _cluster = _create(service, profile, count)
        print(f'cluster of {count:6}: ACTIVE after {took:6.2f} s', flush=True)
    times: list[float] = []
    path = f'/v1/nodes?limit={PAGE}'
    marker = ''
    while True:
        began = time.perf_counter()
        nodes = service.call('GET', path + marker)['nodes']
        if not nodes:
            break
        times.append((time.perf_counter() - began) * 1000)
        marker = f'&marker={nodes[-1]["id"]}'
    # Skip the very first page, because it has no marker to look up.
    first = statistics.median(times[1 : SAMPLE + 1])
    last = statistics.median(times[-SAMPLE:])
    print(
        f'{len(times)} pages of {PAGE} nodes: the first {first:.1f} ms, the'
        f' last {last:.1f} ms, {last / first:.2f}x'
    )


if __name__ == '__main__':
    sys.exit(main())
