# SPDX-License-Identifier: Apache-2.0
"""What the simulated cloud tells of its servers: rows of a table.

Whoever reports an event forgets those that nobody wanted for so long.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import orm

from engine.db import lifecycle
from engine.db import simulation as tables

#: What an operation on a server is told as.
TYPES: Mapping[str, str] = {
    'stop': 'compute.instance.power_off.end',
    'pause': 'compute.instance.pause.end',
}


def report(session: orm.Session, server_id: str, operation: str) -> None:
    """Tell of an operation, if it is of a kind that is told."""
    type_ = TYPES.get(operation)
    if type_ is None:
        return
    lifecycle.forget_old(session, tables.Event)
    session.add(tables.Event(server_id=server_id, type=type_))
