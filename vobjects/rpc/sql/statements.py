# SPDX-License-Identifier: Apache-2.0
"""Statements about the tables of a ledger.

Each runs in a transaction of the caller. A change of a member writes the
member's row, then locks the row of the state and decides whether the
generation increases. Changes are decided one after the other, and each
decision sees the ones before it. A view of a generation therefore contains at
least all changes up to it.

The row of the state also stores the groups of the current generation. The
first heartbeat that needs them counts the members; the others read one row.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import orm

from vobjects import exceptions
from vobjects.objects.codec import json_text
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import (
    EXACT_COUNT,
    EXAMPLES,
    Group,
    Member,
    Process,
    Report,
    State,
    Unaware,
    View,
)
from vobjects.rpc.sql.columns import utcnow
from vobjects.rpc.sql.tables import STATE_ID, LedgerTables

#: A connection or a session with a transaction in progress.
Transaction = sa.Connection | orm.Session

LOG = logging.getLogger(__name__)

#: The manifest of a dead member whose stored manifest is unreadable.
NO_TYPES = Manifest({})

#: A topic, and the digest of a manifest.
_GroupKey = tuple[str, str]


class LedgerStatements:
    """Statements about one ledger.

    :param tables: the tables of the ledger
    """

    def __init__(self, tables: LedgerTables) -> None:
        self._tables = tables
        self._members, self._state = tables.members, tables.state
        #: Digest -> manifest, for the groups of the last view and the members
        #: that have reported to this process.
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
        self._select_pulse = sa.select(
            state.generation,
            state.generation_token,
            state.swept_at,
            utcnow().label('now'),
        ).where(state.id == STATE_ID)
        self._select_state = sa.select(
            state.generation,
            state.generation_token,
            state.held_manifest,
            state.groups_generation,
            state.group_counts,
        ).where(state.id == STATE_ID)
        self._lock_state = (
            sa.select(state.generation)
            .where(state.id == STATE_ID)
            .with_for_update()
        )
        self._select_others = (
            sa.select(members.id)
            .where(
                members.manifest_digest == sa.bindparam('digest'),
                members.topic == sa.bindparam('on_topic'),
                members.id != sa.bindparam('member'),
            )
            .limit(EXACT_COUNT)
        )
        # As text: a row with invalid JSON must not hide the others.
        self._select_manifests = (
            sa.select(sa.type_coerce(members.manifest, sa.Text))
            .where(members.manifest_digest == sa.bindparam('digest'))
            .distinct()
        )
        #: A member, without the text of its manifest.
        self._columns = (
            members.id,
            members.binary,
            members.host,
            members.topic,
            members.release,
            members.manifest_digest,
            members.state,
            members.seen_generation,
            members.heartbeat,
            utcnow().label('now'),
        )

    # Heartbeats

    def report(
        self,
        transaction: Transaction,
        known: View | None,
        *,
        has_changed: bool,
    ) -> Report:
        """Return the response to a heartbeat that :meth:`record` recorded.

        :param known: the view that the member has
        :param has_changed: whether the heartbeat increased the generation
        """
        pulse = transaction.execute(self._select_pulse).first()
        assert pulse is not None  # written with the first member
        revision = pulse.generation, pulse.generation_token or ''
        is_known = known is not None and known.revision == revision
        return Report(
            None if is_known else self.view(transaction),
            pulse.now.timestamp(),
            has_changed,
            None
            if pulse.swept_at is None
            else (pulse.now - pulse.swept_at).total_seconds(),
        )

    def record(self, transaction: Transaction, member: Member) -> bool | None:
        """Record a heartbeat.

        :returns: None: only the heartbeat is new. Otherwise the member is new,
            or has changed its manifest, topic or state, and the result tells
            whether the generation increased
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
            return None
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
        changed = {(member.topic, member.manifest.digest)}
        changed |= self._groups_of(transaction, [member.id])
        update = (
            sa.update(self._members)
            .where(self._members.c.id == member.id)
            .values(values)
        )
        if not _change(transaction, update):
            transaction.execute(
                sa.insert(self._members).values(id=member.id, **values)
            )
        return self._note_changes(transaction, changed, member.id)

    def remove(
        self, transaction: Transaction, member_ids: Collection[str]
    ) -> bool:
        """Remove members, and return whether the generation increased."""
        changed = self._groups_of(transaction, member_ids)
        removed = _change(
            transaction,
            sa.delete(self._members).where(
                self._members.c.id.in_(list(member_ids))
            ),
        )
        return removed > 0 and self._note_changes(transaction, changed)

    # Dead members

    def claim_sweep(self, transaction: Transaction, interval: float) -> bool:
        """Return whether the caller shall look for dead members.

        :param interval: minimum seconds between two looks of any processes
        """
        pulse = transaction.execute(self._select_pulse).first()
        if pulse is None:
            return False  # no member has ever reported
        swept = self._state.c.swept_at
        if pulse.swept_at is not None:
            elapsed = (pulse.now - pulse.swept_at).total_seconds()
            # Negative: the database's clock was set back.
            if 0 <= elapsed < interval:
                return False
        claimed = _change(
            transaction,
            sa.update(self._state)
            .where(
                self._state.c.id == STATE_ID,
                swept.is_(None)
                if pulse.swept_at is None
                else swept == pulse.swept_at,
            )
            .values(swept_at=utcnow()),
        )
        return claimed > 0

    def silent(
        self,
        transaction: Transaction,
        older_than: float,
        ahead: float,
        has_jumped: Callable[[float], bool],
    ) -> list[SilentMember]:
        """Return the members that have not reported for too long.

        The result includes members that reported before the database's clock
        was set back, with their last heartbeat in the future.

        :param older_than: seconds
        :param ahead: seconds by which such a heartbeat is in the future
        :param has_jumped: called with the database's time; returns whether
            its clock has just been set forward, so that ages are unknown
        """
        now = transaction.scalar(sa.select(utcnow()))
        assert now is not None
        if has_jumped(now.timestamp()):
            return []
        members = self._members.c
        stored = sa.type_coerce(members.heartbeat, sa.types.NullType())
        rows = transaction.execute(
            sa.select(*self._columns, stored.label('stored'))
            .where(
                sa.or_(
                    members.heartbeat
                    < now - datetime.timedelta(seconds=older_than),
                    # On SQLite, also text that is not a time.
                    members.heartbeat
                    > now + datetime.timedelta(seconds=ahead),
                )
            )
            .order_by(members.id)
        ).all()
        manifests = self._manifests_of(
            transaction, {row.manifest_digest for row in rows}
        )
        return [
            SilentMember(
                _member(row, manifests.get(row.manifest_digest, NO_TYPES)),
                row.manifest_digest,
                row.stored,
                row.heartbeat > now,
            )
            for row in rows
        ]

    def remove_silent(
        self, transaction: Transaction, silent: Iterable[SilentMember]
    ) -> list[Member]:
        """Remove those members that have not reported meanwhile.

        A heartbeat in the future is set to the present time instead: if the
        member is dead, a later sweep removes it.

        :param silent: sorted by ``id``, so that transactions lock the rows in
            the same order
        :returns: the members that this call removed
        """
        members = self._members.c
        stored = sa.type_coerce(members.heartbeat, sa.types.NullType())
        removed = []
        for each in silent:
            statement = (
                sa.update(self._members).values(heartbeat=utcnow())
                if each.is_ahead
                else sa.delete(self._members)
            )
            # It may have reported since, or report while this statement waits
            # for its row.
            if (
                _change(
                    transaction,
                    statement.where(
                        members.id == each.member.id,
                        stored == each.heartbeat,
                    ),
                )
                and not each.is_ahead
            ):
                removed.append(each)
        if removed:
            self._note_changes(
                transaction,
                {(each.member.topic, each.digest) for each in removed},
            )
        return [each.member for each in removed]

    # Reading

    def view(self, transaction: Transaction) -> View:
        """Return the view of the current generation.

        The transaction may write: the first call after a change stores the
        groups.
        """
        state = transaction.execute(self._select_state).first()
        if state is None:
            return View(0, ())
        groups = state.group_counts
        if state.groups_generation != state.generation:
            groups = self._count_groups(transaction)
            transaction.execute(
                sa.update(self._state)
                .where(
                    self._state.c.id == STATE_ID,
                    # The groups may be those of a later generation.
                    self._state.c.generation == state.generation,
                )
                .values(
                    groups_generation=state.generation, group_counts=groups
                )
            )
        return self._to_view(transaction, state, groups)

    def exact_view(self, transaction: Transaction) -> View:
        """Return a view with exact counts, without writing."""
        # Read the generation first: later reads may return newer data, but
        # never older data.
        state = transaction.execute(self._select_state).first()
        if state is None:
            return View(0, ())
        return self._to_view(
            transaction, state, self._count_groups(transaction)
        )

    def members(
        self, transaction: Transaction, limit: int | None = None
    ) -> list[Member]:
        """Return the members with the oldest heartbeats, oldest first.

        :param limit: their maximum number; None: all
        """
        members = self._members.c
        rows = transaction.execute(
            sa.select(*self._columns)
            .order_by(members.heartbeat, members.id)
            .limit(limit)
        ).all()
        manifests = self._manifests_of(
            transaction, {row.manifest_digest for row in rows}
        )
        return [
            _member(row, manifests[row.manifest_digest])
            for row in rows
            # Without a manifest: the member left after the first read.
            if row.manifest_digest in manifests
        ]

    def unaware(
        self, transaction: Transaction, generation: int, member_id: str
    ) -> Unaware:
        """Return the members that have not seen a generation.

        :param member_id: a member that does not count
        """
        members = self._members.c
        unaware = (
            members.seen_generation < generation,
            members.id != member_id,
        )
        count = transaction.scalar(
            sa.select(sa.func.count())
            .select_from(self._members)
            .where(*unaware)
        )
        if not count:
            return Unaware(0)
        rows = transaction.execute(
            sa.select(*self._columns)
            .where(*unaware)
            .order_by(members.id)
            .limit(EXAMPLES)
        )
        return Unaware(count, tuple(_process(row) for row in rows))

    def known_manifest(self, digest: str) -> Manifest | None:
        """Return a manifest that this process has already read."""
        return self._manifests.get(digest)

    def manifest(
        self, transaction: Transaction, digest: str
    ) -> Manifest | None:
        """Return the manifest with a digest, if a live member has it."""
        manifest = self.known_manifest(digest)
        if manifest is not None:
            return manifest
        texts = transaction.scalars(self._select_manifests, {'digest': digest})
        for text in texts.all():
            manifest = _parse_manifest(text, digest)
            if manifest is not None:
                self._manifests = {**self._manifests, digest: manifest}
                return manifest
        return None

    def is_first(self, transaction: Transaction, member_id: str) -> bool:
        """Return whether a member has the lowest id of its topic."""
        members = self._members.c
        topic = (
            sa.select(members.topic)
            .where(members.id == member_id)
            .scalar_subquery()
        )
        first = (
            sa.select(members.id)
            .where(members.topic == topic)
            .order_by(members.id)
            .limit(1)
        )
        return transaction.scalar(first) == member_id

    def now(self, transaction: Transaction) -> float:
        """Return the database's time, in seconds since 1970."""
        now = transaction.scalar(sa.select(utcnow()))
        assert now is not None
        return float(now.timestamp())

    # The state

    def hold(self, transaction: Transaction, topic: str) -> None:
        """Keep the cap of a topic from rising above its current value."""
        # First, so that no member joins in between.
        self._increment_generation(transaction)
        cap = self.exact_view(transaction).cap(topic)
        self._set_hold(transaction, dict(cap))

    def finalize(self, transaction: Transaction) -> None:
        """End a hold."""
        self._increment_generation(transaction)
        self._set_hold(transaction, None)

    def lock(self, transaction: Transaction) -> None:
        """Delay joins, leaves and changes until the transaction ends."""
        if transaction.execute(self._lock_state).first() is None:
            transaction.execute(
                sa.insert(self._state).values(id=STATE_ID, generation=0)
            )

    def _note_changes(
        self,
        transaction: Transaction,
        changed: Iterable[_GroupKey],
        member_id: str = '',
    ) -> bool:
        """Decide whether the generation increases after a change.

        :param changed: the groups that a member has joined, left or changed
        :param member_id: id of that member, if it is still there
        :returns: whether the generation increased
        """
        self.lock(transaction)
        # With READ COMMITTED, these statements see all changes that were
        # decided before, and none that will be decided later.
        for topic, digest in changed:
            others = transaction.execute(
                self._select_others,
                {'on_topic': topic, 'digest': digest, 'member': member_id},
            ).all()
            if len(others) < EXACT_COUNT:
                self._increment_generation(transaction)
                return True
        return False

    def _groups_of(
        self, transaction: Transaction, member_ids: Collection[str]
    ) -> set[_GroupKey]:
        members = self._members.c
        return {
            (row.topic, row.manifest_digest)
            for row in transaction.execute(
                sa.select(members.topic, members.manifest_digest).where(
                    members.id.in_(list(member_ids))
                )
            )
        }

    def _set_hold(
        self, transaction: Transaction, manifest: dict[str, str] | None
    ) -> None:
        transaction.execute(
            sa.update(self._state)
            .where(self._state.c.id == STATE_ID)
            .values(held_manifest=manifest)
        )

    def _increment_generation(self, transaction: Transaction) -> None:
        self.lock(transaction)
        state = self._state
        transaction.execute(
            sa.update(state)
            .where(state.c.id == STATE_ID)
            .values(
                generation=state.c.generation + 1,
                generation_token=uuid.uuid4().hex,
            )
        )

    # Groups and members

    def _count_groups(self, transaction: Transaction) -> list[dict[str, Any]]:
        """Count the members by topic, manifest and state, as JSON data."""
        members = self._members.c
        key = (members.topic, members.manifest_digest, members.state)
        counts = transaction.execute(
            sa.select(*key, sa.func.count()).group_by(*key).order_by(*key)
        ).all()
        groups = []
        for topic, digest, state, number in counts:
            examples = transaction.execute(
                sa.select(*self._columns)
                .where(
                    members.manifest_digest == digest,
                    members.topic == topic,
                    members.state == state,
                )
                .order_by(members.id)
                .limit(EXAMPLES)
            ).all()
            if examples:  # otherwise, they have left in between
                groups.append(
                    {
                        'topic': topic,
                        'digest': digest,
                        'state': state,
                        'count': number,
                        'examples': [
                            dataclasses.asdict(_process(row))
                            for row in examples
                        ],
                    }
                )
        return groups

    def _to_view(
        self,
        transaction: Transaction,
        state: Any,
        groups: Sequence[Mapping[str, Any]],
    ) -> View:
        manifests = self._manifests_of(
            transaction, {group['digest'] for group in groups}
        )
        # Forget the manifests that no member has any more.
        self._manifests = manifests
        return View(
            state.generation,
            tuple(
                Group(
                    group['topic'],
                    manifests[group['digest']],
                    cast(State, group['state']),
                    group['count'],
                    tuple(Process(**example) for example in group['examples']),
                )
                for group in groups
                # Without a manifest: the last member has left since.
                if group['digest'] in manifests
            ),
            _held(state),
            token=state.generation_token or '',
        )

    def _manifests_of(
        self, transaction: Transaction, digests: Iterable[str]
    ) -> dict[str, Manifest]:
        return {
            digest: manifest
            for digest in digests
            if (manifest := self.manifest(transaction, digest)) is not None
        }


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


def _parse_manifest(text: str, digest: str) -> Manifest | None:
    """Return a stored manifest; None if it is unreadable."""
    try:
        content = json_text.loads(text.encode())
        return Manifest.parse(content, f'The manifest {digest} in the ledger')
    except (exceptions.VobjectsError, ValueError, RecursionError) as error:
        LOG.warning('Ignored an unreadable process: %s', error)
        return None


def _change(
    transaction: Transaction,
    statement: sa.Update | sa.Delete,
    values: dict[str, Any] | None = None,
) -> int:
    """Run a statement, and return the number of matching rows."""
    result = transaction.execute(statement, values)
    return cast('sa.CursorResult[Any]', result).rowcount


def _held(state: Any) -> Manifest | None:
    if state is None or state.held_manifest is None:
        return None
    return Manifest(state.held_manifest)


def _process(row: Any) -> Process:
    return Process(row.id, row.binary, row.host, row.topic, row.release)


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
