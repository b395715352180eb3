# SPDX-License-Identifier: Apache-2.0
"""Members that have not reported for too long."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import sqlalchemy as sa

from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import Member
from vobjects_sql.ledger.manifests import ManifestReader
from vobjects_sql.ledger.rows import member_columns, to_member
from vobjects_sql.ledger.state import Transaction

#: The manifest of a dead member whose stored manifest is unreadable.
NO_TYPES = Manifest({})


@dataclasses.dataclass(frozen=True, slots=True)
class SilentMember:
    """A member that has not reported for too long.

    :ivar member: has no types if its manifest is unreadable
    :ivar digest: the stored digest of its manifest
    :ivar heartbeat: the time of its last heartbeat as the database stores it,
        which identifies it
    :ivar is_ahead: whether that time is in the future
    """

    member: Member
    digest: str
    heartbeat: Any
    is_ahead: bool


def find_silent(
    transaction: Transaction,
    table: sa.Table,
    manifests: ManifestReader,
    now: datetime.datetime,
    older_than: float,
    ahead: float,
) -> list[SilentMember]:
    """Return the members that have not reported for too long.

    The result includes members that reported before the database's clock
    was set back, with their last heartbeat in the future.

    :param table: the table of members
    :param manifests: reads their manifests
    :param now: the database's time
    :param older_than: seconds
    :param ahead: seconds by which such a heartbeat is in the future
    """
    members = table.c
    stored = sa.type_coerce(members.heartbeat, sa.types.NullType())
    rows = transaction.execute(
        sa.select(*member_columns(table), stored.label('stored'))
        .where(
            sa.or_(
                members.heartbeat
                < now - datetime.timedelta(seconds=older_than),
                # On SQLite, also text that is not a time.
                members.heartbeat > now + datetime.timedelta(seconds=ahead),
            )
        )
        .order_by(members.id)
    ).all()
    found = manifests.find_all(
        transaction, {row.manifest_digest for row in rows}
    )
    return [
        SilentMember(
            to_member(row, found.get(row.manifest_digest, NO_TYPES)),
            row.manifest_digest,
            row.stored,
            row.heartbeat > now,
        )
        for row in rows
    ]
