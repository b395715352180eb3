# SPDX-License-Identifier: Apache-2.0
"""Statements about the state of a ledger: one row of one table.

The row has the generation, the hold, the time of the last sweep, and the
groups of the current generation. The first heartbeat that needs the groups
counts the members; the others read one row.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import orm

from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import HoldOrigin, Process
from vobjects_sql.columns import Text, read_json, utcnow
from vobjects_sql.ledger.tables import STATE_ID, LedgerTables

_GROUP_TEXTS = ('topic', 'digest', 'state')
_PROCESS_TEXTS = tuple(each.name for each in dataclasses.fields(Process))

#: Added to the highest generation that a member has seen, when the row was
#: deleted by hand: members may have seen later ones, and not reported them.
_UNREPORTED = 1000

#: A connection or a session with a transaction in progress.
Transaction = sa.Connection | orm.Session


def change(
    transaction: Transaction,
    statement: sa.Update | sa.Delete,
    values: dict[str, Any] | None = None,
) -> int:
    """Run a statement, and return the number of matching rows."""
    result = transaction.execute(statement, values)
    return cast('sa.CursorResult[Any]', result).rowcount


def held_manifest(row: Any) -> Manifest | None:
    """Return the versions that a row of :meth:`StateStatements.read` holds."""
    return read_json(
        row.held_manifest,
        lambda content: Manifest.parse(content, 'The hold'),
        'held_manifest',
    )


def hold_origin(row: Any, held: Manifest | None) -> HoldOrigin | None:
    """Return the origin of a hold; None if it is not recorded.

    :param held: see :func:`held_manifest`
    """
    if held is None:
        return None
    digest = held.digest

    def parse(content: Any) -> HoldOrigin | None:
        # The origin may be that of an earlier hold; see the column.
        if content['manifest'] != digest:
            return None
        origin = HoldOrigin(
            str(content['owner']),
            str(content['reason']),
            float(content['since']),
        )
        origin.time  # noqa: B018 - raises if it is out of range
        return origin

    return read_json(row.hold_origin, parse, 'hold_origin')


def stored_groups(row: Any) -> list[dict[str, Any]] | None:
    """Return the groups of the current generation, as JSON data.

    :returns: None: nobody has counted them yet
    """
    if row.groups_generation != row.generation:
        return None
    return read_json(row.group_counts, _check_groups, 'group_counts')


def _check_groups(content: Any) -> list[dict[str, Any]]:
    """Check stored groups, of which a later release may have more keys."""
    return [
        {
            **{name: str(group[name]) for name in _GROUP_TEXTS},
            'count': int(group['count']),
            'examples': [
                {name: str(each[name]) for name in _PROCESS_TEXTS}
                for each in group['examples']
            ],
        }
        for group in content
    ]


class StateStatements:
    """Statements about the state of one ledger.

    :param tables: the tables of the ledger
    """

    def __init__(self, tables: LedgerTables) -> None:
        self._state = state = tables.state
        columns = state.c
        # Built once: that takes longer than running them.
        self._select_pulse = sa.select(
            columns.generation,
            columns.generation_token,
            columns.swept_at,
            columns.clock_token,
            utcnow().label('now'),
        ).where(columns.id == STATE_ID)
        self._select = sa.select(
            columns.generation,
            columns.generation_token,
            columns.groups_generation,
            *(
                sa.type_coerce(column, Text).label(column.name)
                for column in (
                    columns.held_manifest,
                    columns.hold_origin,
                    columns.group_counts,
                )
            ),
        ).where(columns.id == STATE_ID)
        self._select_for_update = (
            sa.select(columns.generation)
            .where(columns.id == STATE_ID)
            .with_for_update()
        )
        self._update = sa.update(state).where(columns.id == STATE_ID)
        seen = sa.cast(
            sa.func.max(tables.members.c.seen_generation), sa.Integer
        )
        first = sa.select(sa.case((seen > 0, seen + _UNREPORTED), else_=0))
        self._insert = sa.insert(state).values(
            id=STATE_ID, generation=first.scalar_subquery()
        )

    def pulse(self, transaction: Transaction) -> Any:
        """Return the part of the row that each heartbeat reads.

        :returns: a row with ``generation``, ``generation_token``,
            ``swept_at``, ``clock_token`` and ``now``; None: no member has ever
            reported
        """
        return transaction.execute(self._select_pulse).first()

    def read(self, transaction: Transaction) -> Any:
        """Return the row without ``swept_at``; None if there is none.

        The columns of JSON are text: an unreadable one must not hide others.
        """
        return transaction.execute(self._select).first()

    def store_groups(
        self,
        transaction: Transaction,
        generation: int,
        groups: Sequence[Mapping[str, Any]],
    ) -> None:
        """Store the groups of a generation, unless it is outdated."""
        transaction.execute(
            # The groups may be those of a later generation.
            self._update.where(self._state.c.generation == generation).values(
                groups_generation=generation, group_counts=groups
            )
        )

    def lock(self, transaction: Transaction) -> None:
        """Delay joins, leaves and changes until the transaction ends."""
        if transaction.execute(self._select_for_update).first() is None:
            transaction.execute(self._insert)

    def increment_generation(self, transaction: Transaction) -> None:
        """Lock the row, and begin a new generation."""
        self.lock(transaction)
        transaction.execute(
            self._update.values(
                generation=self._state.c.generation + 1,
                generation_token=uuid.uuid4().hex,
            )
        )

    def set_hold(
        self, transaction: Transaction, held: Manifest, origin: HoldOrigin
    ) -> None:
        """Begin a hold."""
        transaction.execute(
            self._update.values(
                held_manifest=dict(held),
                hold_origin={
                    'manifest': held.digest,
                    **dataclasses.asdict(origin),
                },
            )
        )

    def end_hold(self, transaction: Transaction) -> None:
        """End a hold."""
        transaction.execute(
            self._update.values(held_manifest=None, hold_origin=None)
        )

    def note_step(self, transaction: Transaction, token: str) -> None:
        """Tell other processes that the database's clock was set.

        :param token: a random text
        """
        transaction.execute(self._update.values(clock_token=token))

    def claim_sweep(self, transaction: Transaction, interval: float) -> bool:
        """Return whether the caller shall look for dead members.

        :param interval: minimum seconds between two looks of any processes
        """
        pulse = self.pulse(transaction)
        if pulse is None:
            return False  # no member has ever reported
        if pulse.swept_at is not None:
            elapsed = (pulse.now - pulse.swept_at).total_seconds()
            # Negative: the database's clock was set back.
            if 0 <= elapsed < interval:
                return False
        claimed = change(
            transaction,
            # A comparison with None is IS NULL.
            self._update.where(
                self._state.c.swept_at == pulse.swept_at
            ).values(swept_at=utcnow()),
        )
        return claimed > 0
