# SPDX-License-Identifier: Apache-2.0
"""The dispatcher ``database``: events as rows, which the API lists."""

from __future__ import annotations

from sqlalchemy import orm

from engine.db import models, statements


def dispatch(session: orm.Session, event: models.Event) -> None:
    """Keep an event."""
    statements.insert(session, [event])
