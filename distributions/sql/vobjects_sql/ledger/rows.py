# SPDX-License-Identifier: Apache-2.0
"""Rows of the table of members."""

from __future__ import annotations

from typing import Any, cast

import sqlalchemy as sa

from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import Member, Process, State
from vobjects_sql.columns import utcnow


def member_columns(members: sa.Table) -> tuple[Any, ...]:
    """Return the columns of a member, without the text of its manifest."""
    columns = members.c
    return (
        columns.id,
        columns.binary,
        columns.host,
        columns.topic,
        columns.release,
        columns.manifest_digest,
        columns.state,
        columns.seen_generation,
        columns.heartbeat,
        utcnow().label('now'),
    )


def to_process(row: Any) -> Process:
    """Return the process of a row."""
    return Process(row.id, row.binary, row.host, row.topic, row.release)


def to_member(row: Any, manifest: Manifest) -> Member:
    """Return the member of a row with :func:`member_columns`."""
    return Member(
        id=row.id,
        binary=row.binary,
        host=row.host,
        topic=row.topic,
        release=row.release,
        manifest=manifest,
        state=cast(State, row.state),
        seen=row.seen_generation,
        age=max(0.0, (row.now - row.heartbeat).total_seconds()),
    )
