# SPDX-License-Identifier: Apache-2.0
"""Old and new engines, which tests tell apart by their size limits."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Mapping

from tests.functional.deployments import Deployment, Engine
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient, unique
from vobjects.objects.manifest import Manifest

#: Types of the old engine; the highest microversion without newer ones is 1.7.
OLD_TYPES = {
    'ClusterDeleteRequest': '1.0',
    'FleetGroup': '1.0',
    'FleetProcess': '1.0',
    'Node': '1.0',
}

#: Engine -> [engine] max_nodes_per_cluster, which its error message contains.
LIMITS = {'new': 901, 'old': 902, 'next': 903}

_LIMIT = re.compile(r'allowed per cluster \((\d+)\)')


def old_manifest(fleet: Deployment) -> Manifest:
    """Return the manifest of the old engine."""
    printed = fleet.run('fleet', 'manifest', configured=False)
    newest: Mapping[str, str] = json.loads(printed)
    return Manifest({**newest, **OLD_TYPES})


def start_engine(
    fleet: Deployment, name: str, manifest: Manifest | None = None
) -> Engine:
    """Start an engine.

    :param name: a key of :data:`LIMITS`, which may have a suffix (``old-2``)
    :param manifest: of the old engine
    """
    limit = LIMITS[name.partition('-')[0]]
    return fleet.start_engine(
        name,
        manifest=manifest,
        settings={'engine': {'max_nodes_per_cluster': limit}},
    )


def stop_engine(fleet: Deployment, engine: Engine) -> None:
    """Stop an engine gracefully."""
    assert engine.process.stop() == 0
    fleet.group.remove(engine.process)


def drain_beside(fleet: Deployment, start: Callable[[], object]) -> str:
    """Stop an engine that has work, and return the state that it shows.

    :param start: starts the other engine, which answers for the fleet
    """
    # Its work outlasts the start of the other engine, on any machine.
    busy = fleet.start_engine(
        'busy', settings={'simulated': {'latency': 3600}}
    )
    fleet.start_api()
    with fleet.rest() as rest:
        rest.start_cluster(rest.create_profile(), 1)
    wait_for('it works', lambda: fleet.running_actions(busy.id))
    start()
    busy.process.send_signal(signal.SIGTERM)
    wait_for('it stops', lambda: busy.id not in fleet.engine_ids())
    states = {m['id']: m['state'] for m in fleet.fleet_list()['members']}
    assert set(states.values()) == {'up', states[busy.id]}
    busy.process.kill()
    fleet.group.remove(busy.process)
    return str(states[busy.id])


def serving_limit(rest: RestClient, profile: str) -> int:
    """Return the limit of the engine that serves a request."""
    body = {
        'cluster': {
            'name': unique('large'),
            'profile_id': profile,
            'desired_capacity': 1_000_000,
        }
    }
    detail = rest.expect_error(400, 'POST', '/v1/clusters', body)
    match = _LIMIT.search(detail)
    assert match is not None, detail
    return int(match[1])


def wait_for_maximum(rest: RestClient, version: str) -> None:
    """Wait until discovery advertises a maximum microversion."""
    wait_for(f'the maximum is {version}', lambda: rest.maximum() == version)
