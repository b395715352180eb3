# SPDX-License-Identifier: Apache-2.0
"""Open SQLite files that come from elsewhere, such as a backup.

The views and triggers of a file run in the process that reads or writes it.
:func:`distrust_schema` keeps them from calling functions of that process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlalchemy


def distrust_schema(engine: sqlalchemy.Engine) -> None:
    """Reject views and triggers that call functions with side effects.

    SQLAlchemy registers such a function on each connection: ``regexp``, whose
    time has no bound. Call this before the first connection; it has no effect
    on other databases. See https://sqlite.org/src/doc/latest/doc/trusted-schema.md

    :param engine: an SQLAlchemy engine
    """
    from sqlalchemy import event

    if engine.dialect.name != 'sqlite':
        return

    @event.listens_for(engine, 'connect')
    def distrust(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute('PRAGMA trusted_schema = OFF')
        cursor.close()
