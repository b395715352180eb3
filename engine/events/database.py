# SPDX-License-Identifier: Apache-2.0
"""The dispatcher ``database``, which stores events for the API."""

from __future__ import annotations

from sqlalchemy import orm

from engine.db import models, statements


def dispatch(session: orm.Session, event: models.Event) -> None:
    """Store an event."""
    statements.insert(session, [event])
