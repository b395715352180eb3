# SPDX-License-Identifier: Apache-2.0
"""Server events of the simulated cloud, stored in a table.

Adding an event deletes expired ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import orm

from engine.db import health, models

#: Operation on a server -> the type of its event.
TYPES: Mapping[str, str] = {
    'stop': 'compute.instance.power_off.end',
    'pause': 'compute.instance.pause.end',
}


def report(session: orm.Session, server_id: str, operation: str) -> None:
    """Store the event of an operation, if it has one."""
    type_ = TYPES.get(operation)
    if type_ is None:
        return
    health.delete_old_events(session, models.SimulatedEvent)
    session.add(models.SimulatedEvent(server_id=server_id, type=type_))
