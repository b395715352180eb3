# SPDX-License-Identifier: Apache-2.0
"""The ledger of live processes, stored in the database.

:class:`vobjects.rpc.ledger.Ledger` defines the guarantees. Ages are measured
by the database's clock. Every change of the fleet increments
``ledger_state.generation`` in its own transaction, after the change. A view of
a generation therefore contains at least all changes up to it.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import cast

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import clock, database, migrations, models, statements
from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet

#: ID of the single row of ``ledger_state``.
STATE_ID = 1


class OutdatedError(exceptions.FleetError):
    """Raised when a newer release contracted the database."""


class DatabaseLedger:
    """A :class:`vobjects.rpc.ledger.Ledger` stored in the database.

    :param contract: the contracting revisions that this release knows
    """

    def __init__(
        self,
        target: database.Database,
        contract: migrations.Chain = migrations.CONTRACT,
    ) -> None:
        self._database = target
        self._contract = contract

    def report(self, member: fleet.Member) -> fleet.View:
        """Record a heartbeat and return the whole ledger.

        :raises vobjects.exceptions.NoLivePeer: the database does not answer
        :raises OutdatedError: this release can no longer use the database
        """

        def body(session: orm.Session) -> fleet.View:
            if not _record_heartbeat(session, member):
                _record_member(session, member)
                increment_generation(session)
                # Checked only now, because the write waited for a contraction
                # in progress.
                check_not_contracted(session, self._contract)
            return view(session)

        try:
            return self._database.write(body, urgent=True)
        except exceptions.Unreachable as error:
            raise exceptions.NoLivePeer(str(error)) from error
        except oslo_db_exception.DBError as error:
            raise exceptions.NoLivePeer(
                f'the database fails: {error}'
            ) from error

    def leave(self, member_id: str) -> None:
        """Remove a member, and increment the generation if it existed."""
        self._database.write(
            lambda session: remove_members(session, [member_id])
        )

    def expire(self, older_than: float) -> list[fleet.Member]:
        """Remove the members that have not reported for too long.

        :param older_than: seconds
        :returns: the members that this call removed
        """
        with self._database.reader() as session:
            silent = _silent_members(session, older_than)
        if not silent:
            return []

        def body(session: orm.Session) -> list[fleet.Member]:
            # Keep members that became silent while this transaction waited to
            # write: whatever delayed it may have delayed them, too.
            dead = _silent_members(session, older_than)
            return [
                member
                for id_, member in dead.items()
                if id_ in silent and _remove_if_silent(session, member)
            ]

        return self._database.write(body)

    def get(self) -> fleet.View:
        """Return the whole ledger."""
        with self._database.reader() as session:
            return view(session)

    def hold(self, topic: str) -> fleet.View:
        """Keep the cap of a topic from rising above its current value."""

        def body(session: orm.Session) -> fleet.View:
            _set_hold(session, view(session).cap(topic))
            return view(session)

        return self._database.write(body)

    def finalize(self) -> fleet.View:
        """End a hold, so that the cap follows the live members again."""

        def body(session: orm.Session) -> fleet.View:
            _set_hold(session, None)
            return view(session)

        return self._database.write(body)


def check_not_contracted(
    session: orm.Session, contract: migrations.Chain
) -> None:
    """Check that no newer release has contracted the database.

    :raises OutdatedError: a newer release has
    """
    revision = session.scalar(
        sqlalchemy.select(models.ContractVersion.version_num)
    )
    if not contract.knows(revision):
        raise OutdatedError(
            'a newer release has contracted the database to revision'
            f' {revision}: this release cannot use it'
        )


def view(session: orm.Session) -> fleet.View:
    """Return the ledger as the session sees it."""
    # Read the generation first: later reads may return newer data, but never
    # older data.
    state = session.get(models.LedgerState, STATE_ID, populate_existing=True)
    if state is None:
        raise RuntimeError('ledger_state has no row; run "vobjects db sync"')
    services = rows(session)
    held = state.held_manifest
    return fleet.View(
        state.generation,
        tuple(_member(row, now) for row, now in services),
        None if held is None else Manifest(held),
        now=services[0][1].timestamp() if services else None,
    )


def rows(
    session: orm.Session,
) -> Sequence[tuple[models.Service, datetime.datetime]]:
    """Return the services, each with the database's current time."""
    services = session.execute(
        sqlalchemy.select(models.Service, clock.utcnow())
        .order_by(models.Service.created_at, models.Service.id)
        .execution_options(populate_existing=True)
    ).all()
    return [(row, now) for row, now in services]


def increment_generation(session: orm.Session) -> None:
    """Increment the generation."""
    statements.change(
        session,
        sqlalchemy.update(models.LedgerState)
        .where(models.LedgerState.id == STATE_ID)
        .values(generation=models.LedgerState.generation + 1),
    )


def remove_members(session: orm.Session, member_ids: Sequence[str]) -> bool:
    """Remove members and tell whether any existed."""
    removed = statements.change(
        session,
        sqlalchemy.delete(models.Service).where(
            models.Service.id.in_(list(member_ids))
        ),
    )
    if removed:
        increment_generation(session)
    return removed > 0


def _record_heartbeat(session: orm.Session, member: fleet.Member) -> bool:
    """Record the heartbeat of a known member that has not changed.

    :returns: whether the ledger has such a member
    """
    service = models.Service
    beaten = statements.change(
        session,
        sqlalchemy.update(service)
        .where(
            service.id == member.id,
            service.topic == member.topic,
            service.state == member.state,
            service.manifest_digest == member.manifest.digest,
        )
        .values(heartbeat=clock.utcnow(), seen_generation=member.seen),
    )
    return beaten > 0


def _record_member(session: orm.Session, member: fleet.Member) -> None:
    service = session.get(
        models.Service, member.id, populate_existing=True
    ) or models.Service(id=member.id)
    service.binary = member.binary
    service.host = member.host
    service.topic = member.topic
    service.release = member.release
    service.manifest = dict(member.manifest)
    service.manifest_digest = member.manifest.digest
    service.state = member.state
    service.seen_generation = member.seen
    service.heartbeat = clock.utcnow()
    session.add(service)
    session.flush()


def _silent_members(
    session: orm.Session, older_than: float
) -> dict[str, fleet.Member]:
    """Return by ID the members silent for more than ``older_than`` seconds."""
    members = view(session).members
    return {m.id: m for m in members if m.age > older_than}


def _remove_if_silent(session: orm.Session, member: fleet.Member) -> bool:
    """Remove a member unless it has reported since it was found silent."""
    row = session.get(
        models.Service, member.id, populate_existing=True, with_for_update=True
    )
    if row is None:
        return False
    silent = clock.now(session) - row.heartbeat
    # It may have reported while this transaction waited for its row.
    if silent.total_seconds() < member.age:
        return False
    return remove_members(session, [member.id])


def _set_hold(session: orm.Session, manifest: Manifest | None) -> None:
    state = session.get(models.LedgerState, STATE_ID, with_for_update=True)
    if state is None:
        raise RuntimeError('ledger_state has no row; run "vobjects db sync"')
    state.held_manifest = None if manifest is None else dict(manifest)
    session.flush()
    increment_generation(session)


def _member(row: models.Service, now: datetime.datetime) -> fleet.Member:
    return fleet.Member(
        id=row.id,
        binary=row.binary,
        host=row.host,
        topic=row.topic,
        release=row.release,
        manifest=Manifest(row.manifest),
        state=cast(fleet.State, row.state),
        seen=row.seen_generation,
        age=max(0.0, (now - row.heartbeat).total_seconds()),
    )
