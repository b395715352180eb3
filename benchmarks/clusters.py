# SPDX-License-Identifier: Apache-2.0
"""How long clusters take, and pages of many nodes.

::

    python benchmarks/clusters.py [--sizes 10 100] [--pages 10000]
        [--engines 1] [--database sqlite] [--transport embedded]

The simulated cloud takes no time, so that what is left is ours. Pages are
asked for from the first to the last, each after the one before; the ratio is
that of the last to the first.
"""

from __future__ import annotations

import statistics
import sys
import time

import running

SPEC = {
    'type': 'os.nova.server',
    'version': '1.0',
    'properties': {'name': 's', 'flavor': 'f', 'image': 'i'},
}

#: Nodes on a page, and pages of which a figure is the median.
PAGE = 100
SOME = 5


def main() -> int:
    """Measure and print."""
    parser = running.options(__doc__)
    parser.add_argument('--sizes', type=int, nargs='*', default=[10, 100])
    parser.add_argument('--pages', type=int, default=0, help='of how many')
    parser.add_argument('--rounds', type=int, default=3)
    chosen = parser.parse_args()
    with running.service(chosen) as service:
        body = {'profile': {'name': 'p', 'spec': SPEC}}
        profile = service.ask('POST', '/v1/profiles', body)['profile']['id']
        print(
            f'{chosen.database}, {chosen.transport}, {chosen.engines}'
            f' engine(s), median of {chosen.rounds}'
        )
        for size in chosen.sizes:
            times = []
            for _round in range(chosen.rounds):
                took, cluster = _made(service, profile, size)
                times.append(took)
                _delete(service, cluster)
            print(
                f'cluster of {size:6}: ACTIVE after'
                f' {statistics.median(times):6.2f} s',
                flush=True,
            )
        if chosen.pages:
            _pages(service, profile, chosen.pages)
    return 0


def _made(
    service: running.Service, profile: str, size: int
) -> tuple[float, str]:
    """Return how many seconds a cluster took, and its ID."""
    began = time.perf_counter()
    body = {
        'cluster': {
            'name': f'c-{size}',
            'profile_id': profile,
            'desired_capacity': size,
        }
    }
    cluster = service.ask('POST', '/v1/clusters', body)['cluster']['id']
    until = began + running.PATIENCE * max(1, size / 100)
    while time.perf_counter() < until:
        found = service.ask('GET', f'/v1/clusters/{cluster}')['cluster']
        if found['status'] == 'ACTIVE':
            return time.perf_counter() - began, cluster
        if found['status'] == 'ERROR':
            break
        time.sleep(0.02)
    raise RuntimeError(f'{found["status"]}: {found["status_reason"]}')


def _delete(service: running.Service, cluster: str) -> None:
    service.ask('DELETE', f'/v1/clusters/{cluster}')
    while any(
        found['id'] == cluster
        for found in service.ask('GET', '/v1/clusters')['clusters']
    ):
        time.sleep(0.05)


def _pages(service: running.Service, profile: str, size: int) -> None:
    took, _cluster = _made(service, profile, size)
    print(f'cluster of {size:6}: ACTIVE after {took:6.2f} s')
    times: list[float] = []
    path = f'/v1/nodes?limit={PAGE}'
    marker = ''
    while True:
        began = time.perf_counter()
        nodes = service.ask('GET', path + marker)['nodes']
        if not nodes:
            break
        times.append((time.perf_counter() - began) * 1000)
        marker = f'&marker={nodes[-1]["id"]}'
    # Not the very first: it has no marker to look up.
    first = statistics.median(times[1 : SOME + 1])
    last = statistics.median(times[-SOME:])
    print(
        f'{len(times)} pages of {PAGE} nodes: the first {first:.1f} ms, the'
        f' last {last:.1f} ms, {last / first:.2f}x'
    )


if __name__ == '__main__':
    sys.exit(main())
