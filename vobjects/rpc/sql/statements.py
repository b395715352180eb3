# SPDX-License-Identifier: Apache-2.0
"""Statements about the tables of a ledger.

Each runs in a transaction of the caller. Every change of the fleet increments
the generation in its own transaction, after the change. A view of a generation
therefore contains at least all changes up to it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import orm

from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import Member, State, View
from vobjects.rpc.sql.columns import utcnow
from vobjects.rpc.sql.tables import STATE_ID, LedgerTables

#: A connection or a session with a transaction in progress.
Transaction = sa.Connection | orm.Session


class LedgerStatements:
    """Statements about one ledger.

    :param tables: the tables of the ledger
    """

    def __init__(self, tables: LedgerTables) -> None:
        self._tables = tables
        self._members, self._state = tables.members, tables.state
        #: Digest -> manifest, for the members of the last view. Members of
        #: one build share a manifest, so a view seldom reads one.
        self._manifests: dict[str, Manifest] = {}
        # Built once: that takes longer than running them.
        members, state = self._members.c, self._state.c
        self._heartbeat = (
            sa.update(self._members)
            .where(
                members.id == sa.bindparam('member'),
                members.topic == sa.bindparam('on_topic'),
                members.state == sa.bindparam('in_state'),
                members.manifest_digest == sa.bindparam('digest'),
            )
            .values(heartbeat=utcnow(), seen_generation=sa.bindparam('seen'))
        )
        self._select_state = sa.select(
            state.generation, state.held_manifest
        ).where(state.id == STATE_ID)
        self._select_members = sa.select(
            *(
                column
                for column in self._members.columns
                if column is not members.manifest
            ),
            utcnow().label('now'),
        ).order_by(members.created_at, members.id)
        self._select_manifests = sa.select(
            members.manifest_digest, members.manifest
        ).where(
            members.manifest_digest.in_(
                sa.bindparam('digests', expanding=True)
            )
        )

    def record(self, transaction: Transaction, member: Member) -> bool:
        """Record a heartbeat.

        :returns: whether the member is new, or has changed its manifest, topic
            or state
        """
        beaten = _change(
            transaction,
            self._heartbeat,
            {
                'member': member.id,
                'on_topic': member.topic,
                'in_state': member.state,
                'digest': member.manifest.digest,
                'seen': member.seen,
            },
        )
        if beaten:
            return False
        values = {
            'binary': member.binary,
            'host': member.host,
            'topic': member.topic,
            'release': member.release,
            'manifest': dict(member.manifest),
            'manifest_digest': member.manifest.digest,
            'state': member.state,
            'seen_generation': member.seen,
            'heartbeat': utcnow(),
        }
        update = (
            sa.update(self._members)
            .where(self._members.c.id == member.id)
            .values(values)
        )
        if not _change(transaction, update):
            transaction.execute(
                sa.insert(self._members).values(id=member.id, **values)
            )
        self._increment_generation(transaction)
        return True

    def remove(
        self, transaction: Transaction, member_ids: Collection[str]
    ) -> bool:
        """Remove members, and return whether any existed."""
        removed = _change(
            transaction,
            sa.delete(self._members).where(
                self._members.c.id.in_(list(member_ids))
            ),
        )
        if removed:
            self._increment_generation(transaction)
        return removed > 0

    def remove_silent(
        self,
        transaction: Transaction,
        member_ids: Collection[str],
        older_than: float,
    ) -> set[str]:
        """Remove those members that have not reported for too long.

        :param older_than: seconds
        :returns: IDs of the members that this call removed
        """
        members = self._members.c
        rows = transaction.execute(
            sa.select(
                members.id, members.heartbeat, utcnow().label('now')
            ).where(members.id.in_(list(member_ids)))
        ).all()
        removed = {
            row.id
            for row in rows
            if (row.now - row.heartbeat).total_seconds() > older_than
            # It may report while this statement waits for its row.
            and _change(
                transaction,
                sa.delete(self._members).where(
                    members.id == row.id, members.heartbeat == row.heartbeat
                ),
            )
        }
        if removed:
            self._increment_generation(transaction)
        return removed

    def view(self, transaction: Transaction) -> View:
        """Return the ledger as the transaction sees it."""
        # Read the generation first: later reads may return newer data, but
        # never older data.
        state = transaction.execute(self._select_state).first()
        rows = transaction.execute(self._select_members).all()
        manifests = self._manifests_of(
            transaction, {row.manifest_digest for row in rows}
        )
        held = state.held_manifest if state else None
        return View(
            state.generation if state else 0,
            tuple(
                _member(row, manifests[row.manifest_digest])
                for row in rows
                # Without a manifest: the member left after the second read.
                if row.manifest_digest in manifests
            ),
            None if held is None else Manifest(held),
            now=rows[0].now.timestamp() if rows else None,
        )

    def hold(self, transaction: Transaction, topic: str) -> None:
        """Keep the cap of a topic from rising above its current value."""
        # First, so that no member joins in between.
        self._increment_generation(transaction)
        self._set_hold(transaction, dict(self.view(transaction).cap(topic)))

    def finalize(self, transaction: Transaction) -> None:
        """End a hold."""
        self._increment_generation(transaction)
        self._set_hold(transaction, None)

    def lock(self, transaction: Transaction) -> None:
        """Let no member join, leave or change until the transaction ends."""
        transaction.execute(self._select_state.with_for_update())

    def _set_hold(
        self, transaction: Transaction, manifest: dict[str, str] | None
    ) -> None:
        transaction.execute(
            sa.update(self._state)
            .where(self._state.c.id == STATE_ID)
            .values(held_manifest=manifest)
        )

    def _increment_generation(self, transaction: Transaction) -> None:
        state = self._state
        incremented = _change(
            transaction,
            sa.update(state)
            .where(state.c.id == STATE_ID)
            .values(generation=state.c.generation + 1),
        )
        if not incremented:
            transaction.execute(
                sa.insert(state).values(id=STATE_ID, generation=1)
            )

    def _manifests_of(
        self, transaction: Transaction, digests: set[str]
    ) -> dict[str, Manifest]:
        known = self._manifests
        manifests = {
            digest: known[digest] for digest in digests if digest in known
        }
        if missing := digests - manifests.keys():
            for digest, versions in transaction.execute(
                self._select_manifests, {'digests': sorted(missing)}
            ):
                if digest not in manifests:
                    manifests[digest] = Manifest(versions)
        self._manifests = manifests
        return manifests


def _change(
    transaction: Transaction,
    statement: sa.Update | sa.Delete,
    values: dict[str, Any] | None = None,
) -> int:
    """Run a statement, and return the number of matching rows."""
    result = transaction.execute(statement, values)
    return cast('sa.CursorResult[Any]', result).rowcount


def _member(row: Any, manifest: Manifest) -> Member:
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
