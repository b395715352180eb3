# SPDX-License-Identifier: Apache-2.0
"""What plug-ins use of the engine's database.

A provider or queue service gets a :class:`Database`. Its tables may be classes
derived from :class:`Base`. All engines see the same rows.
"""

from engine.db.clock import now, utcnow
from engine.db.database import Database
from engine.db.models.base import (
    TABLE_OPTIONS,
    Base,
    Time,
    id_column,
    json_column,
    new_id,
)
from engine.db.models.health import ServerEvent
from engine.db.statements import change

__all__ = [
    'TABLE_OPTIONS',
    'Base',
    'Database',
    'ServerEvent',
    'Time',
    'change',
    'id_column',
    'json_column',
    'new_id',
    'now',
    'utcnow',
]
