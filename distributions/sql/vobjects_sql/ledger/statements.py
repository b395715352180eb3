# SPDX-License-Identifier: Apache-2.0
"""Statements about the members of a ledger.

Each runs in a transaction of the caller. A change of a member writes the
member's row, then locks the row of the state and decides whether the
generation increases. Changes are decided one after the other, and each
decision sees the ones before it. A view of a generation therefore contains at
least all changes up to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

import sqlalchemy as sa

from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import (
    EXACT_COUNT,
    EXAMPLES,
    Group,
    HoldOrigin,
    Member,
    Process,
    Report,
    State,
    Unaware,
    View,
)
from vobjects_sql.columns import utcnow
from vobjects_sql.ledger.invalid_text import equals
from vobjects_sql.ledger.manifests import ManifestReader
from vobjects_sql.ledger.rows import member_columns, to_member, to_process
from vobjects_sql.ledger.silent import SilentMember, find_silent
from vobjects_sql.ledger.state import (
    StateStatements,
    Transaction,
    change,
    held_manifest,
    hold_origin,
    stored_groups,
)
from vobjects_sql.ledger.step_detector import StepDetector
from vobjects_sql.ledger.tables import LedgerTables

#: A topic, the digest of a manifest, and a state.
_GroupKey = tuple[str, str, str]


class LedgerStatements:
    """Statements about one ledger.

    :param tables: the tables of the ledger
    :ivar state: statements about its state
    """

    def __init__(self, tables: LedgerTables) -> None:
        self.tables = tables
        self._members = tables.members
        self.state = StateStatements(tables)
        self._manifests = ManifestReader(tables.members)
        # Built once: that takes longer than running them.
        members = self._members.c
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
        self._select_others = (
            sa.select(members.id)
            .where(
                members.manifest_digest == sa.bindparam('digest'),
                members.topic == sa.bindparam('on_topic'),
                members.state.in_([sa.bindparam('in_state'), 'up']),
                members.id != sa.bindparam('member'),
            )
            .limit(EXACT_COUNT)
        )
        self._columns = member_columns(tables.members)

    # Heartbeats

    def report(
        self,
        transaction: Transaction,
        known: View | None,
        steps: StepDetector,
        *,
        has_changed: bool,
    ) -> Report:
        """Return the response to a heartbeat that :meth:`record` recorded.

        :param known: the view that the member has
        :param steps: notes the time of the database
        :param has_changed: whether the heartbeat increased the generation
        """
        pulse = self._pulse(transaction, steps)
        if pulse is None:  # a person has deleted the row
            self.state.increment_generation(transaction)
            return self.report(transaction, None, steps, has_changed=True)
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
        beaten = change(
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
        own = member.topic, member.manifest.digest, str(member.state)
        changed = {own}
        changed |= self._groups_of(transaction, [member.id])
        update = (
            sa.update(self._members)
            .where(self._members.c.id == member.id)
            .values(values)
        )
        if not change(transaction, update):
            transaction.execute(
                sa.insert(self._members).values(id=member.id, **values)
            )
        return self._note_changes(transaction, changed, member.id)

    def remove(
        self, transaction: Transaction, member_ids: Collection[str]
    ) -> bool:
        """Remove members, and return whether the generation increased."""
        changed = self._groups_of(transaction, member_ids)
        ids = self._members.c.id
        statement = sa.delete(self._members).where(ids.in_(list(member_ids)))
        removed = change(transaction, statement)
        return removed > 0 and self._note_changes(transaction, changed)

    # Dead members

    def silent(
        self,
        transaction: Transaction,
        older_than: float,
        ahead: float,
        steps: StepDetector,
    ) -> list[SilentMember]:
        """Return the members to expire; see ``silent.find_silent``.

        :param steps: notes the time of the database. If its clock was set
            within the time of ``older_than``, ages are unknown, and the result
            is empty

        :meta private:
        """
        pulse = self._pulse(transaction, steps)
        if pulse is None:
            return []
        found = find_silent(
            *(transaction, self._members, self._manifests),
            *(pulse.now, older_than, ahead),
        )
        # A step is noted with the heartbeats that it affects: read this later.
        self._pulse(transaction, steps)
        return found if steps.is_steady(older_than) else []

    def remove_silent(
        self, transaction: Transaction, silent: Iterable[SilentMember]
    ) -> list[Member]:
        """Remove those members that have not reported meanwhile.

        A heartbeat in the future is set to the present time instead: if the
        member is dead, a later sweep removes it.

        :param silent: sorted by ``id``, so that transactions lock the rows in
            the same order
        :returns: the members that this call removed

        :meta private:
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
                change(
                    transaction,
                    statement.where(
                        equals(members.id, each.member.id),
                        equals(stored, each.heartbeat),
                    ),
                )
                and not each.is_ahead
            ):
                removed.append(each)
        if removed:
            self._note_changes(
                transaction,
                {
                    (each.member.topic, each.digest, each.member.state)
                    for each in removed
                },
            )
        return [each.member for each in removed]

    # Reading

    def view(self, transaction: Transaction) -> View:
        """Return the view of the current generation.

        The transaction may write: the first call after a change stores the
        groups.
        """
        state = self.state.read(transaction)
        if state is None:
            return View(0, ())
        groups = stored_groups(state)
        if groups is None:
            groups = self._count_groups(transaction)
            self.state.store_groups(transaction, state.generation, groups)
        return self._to_view(transaction, state, groups)

    def exact_view(self, transaction: Transaction) -> View:
        """Return a view with exact counts, without writing."""
        # Read the generation first: later reads may return newer data, but
        # never older data.
        state = self.state.read(transaction)
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
        manifests = self._manifests.find_all(
            transaction, {row.manifest_digest for row in rows}
        )
        return [
            to_member(row, manifests[row.manifest_digest])
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
        return Unaware(count, tuple(to_process(row) for row in rows))

    def known_manifest(self, digest: str) -> Manifest | None:
        """Return a manifest that this process has already read."""
        return self._manifests.known(digest)

    def manifest(
        self, transaction: Transaction, digest: str
    ) -> Manifest | None:
        """Return the manifest with a digest, if a live member has it."""
        return self._manifests.find(transaction, digest)

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

    def hold(
        self,
        transaction: Transaction,
        topic: str,
        owner: str = '',
        reason: str = '',
    ) -> None:
        """Keep the cap of a topic from rising; see ``Ledger.hold``."""
        # First, so that no member joins in between.
        self.state.increment_generation(transaction)
        cap = self.exact_view(transaction).cap(topic)
        origin = HoldOrigin(owner, reason, self.now(transaction))
        self.state.set_hold(transaction, cap, origin)

    def finalize(self, transaction: Transaction) -> None:
        """End a hold."""
        self.state.increment_generation(transaction)
        self.state.end_hold(transaction)

    def lock(self, transaction: Transaction) -> None:
        """Delay joins, leaves and changes until the transaction ends."""
        self.state.lock(transaction)

    def _pulse(self, transaction: Transaction, steps: StepDetector) -> Any:
        start = steps.clock()
        pulse = self.state.pulse(transaction)
        if pulse is not None:
            steps.note(pulse, start)
        return pulse

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
        for topic, digest, state in changed:
            others = transaction.execute(
                self._select_others,
                {
                    'on_topic': topic,
                    'digest': digest,
                    'in_state': state,
                    'member': member_id,
                },
            ).all()
            if len(others) < EXACT_COUNT:
                self.state.increment_generation(transaction)
                return True
        return False

    def _groups_of(
        self, transaction: Transaction, member_ids: Collection[str]
    ) -> set[_GroupKey]:
        members = self._members.c
        key = members.topic, members.manifest_digest, members.state
        rows = transaction.execute(
            sa.select(*key).where(members.id.in_(list(member_ids)))
        )
        return {(topic, digest, state) for topic, digest, state in rows}

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
                            dataclasses.asdict(to_process(row))
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
        manifests = self._manifests.find_all(
            transaction, {group['digest'] for group in groups}
        )
        self._manifests.keep(manifests)
        held = held_manifest(state)
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
            held,
            token=state.generation_token or '',
            hold_origin=hold_origin(state, held),
        )
