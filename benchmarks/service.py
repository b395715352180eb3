# SPDX-License-Identifier: Apache-2.0
"""Requests of the running service: how many a second, how long, what CPU.

::

    python benchmarks/service.py [--seconds 5] [--rounds 3]
        [--concurrency 1 8 32] [--database sqlite] [--transport embedded]

Each figure is the median of the rounds. Beside it stand two peers: ``GET /``
in the same run, which reaches no engine, and what Senlin 16 did on such a
machine with one worker of each kind, RabbitMQ and MariaDB
(:data:`SENLIN`). CPU is that of one request, in milliseconds: of the API, of
the engine, and of broker and database, if they do nothing else meanwhile.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import statistics
import sys

import load
import running

#: What Senlin 16 did: requests per second at concurrency 1, 8 and 32.
SENLIN = {
    'GET one cluster': {1: 58, 8: 128, 32: 122},
    'GET 100 clusters': {1: 10, 8: 22, 32: 22},
    'POST profile': {1: 33, 8: 56, 32: 61},
    'POST cluster': {1: 17, 8: 18, 32: 24},
}

SPEC = {
    'type': 'os.nova.server',
    'version': '1.0',
    'properties': {'name': 's', 'flavor': 'f', 'image': 'i'},
}

#: Parts of the deployment whose CPU is told.
PARTS = ('api', 'engine', 'rpc', 'database')


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """What is asked again and again."""

    name: str
    make: load.Make
    good: tuple[int, ...]


def main() -> int:
    """Measure and print."""
    chosen = _options()
    with running.service(chosen) as service:
        cases = _prepare(service)
        print(
            f'{chosen.database}, {chosen.transport},'
            f' {chosen.workers} API worker(s), {chosen.engines} engine(s),'
            f' {chosen.rounds} rounds of {chosen.seconds:g} s'
        )
        print(
            f'{"request":17} {"c":>3} {"req/s":>6} {"p50 ms":>7}'
            f' {"p99 ms":>7}  CPU ms: {"api":>5} {"engine":>6} {"rpc":>5}'
            f' {"db":>5}   {"GET /":>6} {"Senlin":>7}'
        )
        peers: dict[int, float] = {}
        for case in cases:
            for concurrency in chosen.concurrency:
                _measure(chosen, service, case, concurrency, peers)
    return 0


def _prepare(service: running.Service) -> list[Case]:
    profile = {'profile': {'name': 'p', 'spec': SPEC}}
    made = service.ask('POST', '/v1/profiles', profile)['profile']['id']
    for number in range(100):
        service.ask('POST', '/v1/clusters', _cluster(f'listed-{number}', made))
    while service.ask('GET', '/v1/clusters?limit=1&status=INIT')['clusters']:
        pass
    names = itertools.count()
    version = '1.14'

    def post(path: str, body: object) -> bytes:
        return load.request('POST', path, version, json.dumps(body).encode())

    one = load.request('GET', '/v1/clusters/listed-50', version)
    many = load.request('GET', '/v1/clusters?limit=100', version)
    root = load.request('GET', '/', version)
    return [
        Case('GET /', lambda _: root, (300,)),
        Case('GET one cluster', lambda _: one, (200,)),
        Case('GET 100 clusters', lambda _: many, (200,)),
        Case(
            'POST profile',
            lambda _: post('/v1/profiles', profile),
            (201,),
        ),
        Case(
            'POST cluster',
            lambda _: post(
                '/v1/clusters', _cluster(f'made-{next(names)}', made)
            ),
            (202,),
        ),
    ]


def _cluster(name: str, profile: str) -> dict[str, object]:
    return {
        'cluster': {'name': name, 'profile_id': profile, 'desired_capacity': 0}
    }


def _measure(
    chosen: argparse.Namespace,
    service: running.Service,
    case: Case,
    concurrency: int,
    peers: dict[int, float],
) -> None:
    outcomes = []
    spent: dict[str, list[float]] = {part: [] for part in PARTS}
    for _round in range(chosen.rounds):
        before = service.cpu()
        outcome = load.run(
            service.address, case.make, case.good, concurrency, chosen.seconds
        )
        after = service.cpu()
        outcomes.append(outcome)
        for part in PARTS:
            used = (after[part] - before[part]) * 1000
            spent[part].append(used / len(outcome.times))
    rate = statistics.median(one.rate for one in outcomes)
    peer = peers.setdefault(concurrency, rate)
    senlin = SENLIN.get(case.name, {}).get(concurrency)
    times = [
        statistics.median(one.percentile(percent) for one in outcomes)
        for percent in (50, 99)
    ]
    cpu = [statistics.median(spent[part]) for part in PARTS]
    print(
        f'{case.name:17} {concurrency:3} {rate:6.0f} {times[0]:7.2f}'
        f' {times[1]:7.2f}          {cpu[0]:5.2f} {cpu[1]:6.2f}'
        f' {cpu[2]:5.2f} {cpu[3]:5.2f}   {rate / peer:5.2f}x'
        f' {f"{rate / senlin:6.1f}x" if senlin else "":>7}',
        flush=True,
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
