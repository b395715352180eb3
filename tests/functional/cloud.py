# SPDX-License-Identifier: Apache-2.0
"""The simulated cloud, as somebody else who uses it sees it."""

from __future__ import annotations

import json
import uuid

from tests.functional.harness import Deployment
from tests.functional.rest import SPEC


def stray_server(service: Deployment) -> str:
    """Return the id of a new server that no node has."""
    id_ = str(uuid.uuid4())
    service.execute(
        'INSERT INTO simulated_servers'
        ' (id, node_id, name, status, properties, created_at)'
        " VALUES (:id, :id, 'srv', 'ACTIVE', :properties, :now)",
        id=id_,
        properties=json.dumps(SPEC['properties']),
        now='2026-01-02 03:04:05.000000',
    )
    return id_
