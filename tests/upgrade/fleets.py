# SPDX-License-Identifier: Apache-2.0
"""Engines of two ages, told apart by what they refuse."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tests.functional.harness import Deployment, Engine
from tests.functional.processes import wait_for
from tests.functional.rest import Rest, unique
from vobjects.objects.manifest import Manifest

#: What the old engine lacks: the newest microversion without any is 1.7.
OLD_TYPES = {'ClusterDeleteRequest': '1.0', 'Node': '1.0'}

#: Most nodes of a cluster, by engine: a refusal tells who refused.
LIMITS = {'new': 901, 'old': 902, 'next': 903}

_LIMIT = re.compile(r'allowed per cluster \((\d+)\)')


def old_manifest(fleet: Deployment) -> Manifest:
    """Return what the old engine speaks, made as a user would."""
    newest: Mapping[str, str] = json.loads(fleet.run('fleet', 'manifest'))
    return Manifest({**newest, **OLD_TYPES})


def start(
    fleet: Deployment, name: str, manifest: Manifest | None = None
) -> Engine:
    """Start one of the engines of :data:`LIMITS`."""
    limit = LIMITS[name.partition('-')[0]]
    return fleet.start_engine(
        name,
        manifest=manifest,
        settings={'engine': {'max_nodes_per_cluster': limit}},
    )


def leave(fleet: Deployment, engine: Engine) -> None:
    """Have an engine leave in order."""
    assert engine.process.stop() == 0
    fleet.group.forget(engine.process)


def served_by(rest: Rest, profile: str) -> int:
    """Return the limit of whichever engine serves a request."""
    body = {
        'cluster': {
            'name': unique('large'),
            'profile_id': profile,
            'desired_capacity': 1_000_000,
        }
    }
    reason = rest.refused(400, 'POST', '/v1/clusters', body)
    found = _LIMIT.search(reason)
    assert found is not None, reason
    return int(found[1])


def wait_for_maximum(rest: Rest, version: str) -> None:
    """Wait until discovery promises a maximum."""
    wait_for(f'the maximum is {version}', lambda: rest.maximum() == version)
