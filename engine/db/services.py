# SPDX-License-Identifier: Apache-2.0
"""The ledger of live processes, in the database.

See :mod:`vobjects.rpc.ledger` for what a ledger promises. Ages are by the
database's clock. Every change of the fleet raises ``ledger_state.generation``
in its own transaction, after the change: a view of a generation therefore
holds at least the changes up to it.
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
from vobjects.manifest import Manifest
from vobjects.rpc import fleet

#: The one row of ``ledger_state``.
STATE_ID = 1


class OutdatedError(exceptions.FleetError):
    """The database was contracted: this release misses what is gone."""


class DatabaseLedger:
    """See :class:`vobjects.rpc.ledger.Ledger`.

    :param contract: what this release knows to have been taken away
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
        :raises OutdatedError: this release cannot use the database any more
        """

        def body(session: orm.Session) -> fleet.View:
            if not _beat(session, member):
                _record(session, member)
                bump(session)
                # Now, because that waited for a contraction under way.
                admit(session, self._contract)
            return view(session)

        try:
            return self._database.write(body, urgent=True)
        except oslo_db_exception.DBError as error:
            raise exceptions.NoLivePeer(
                f'the database does not answer: {error}'
            ) from error

    def leave(self, member_id: str) -> None:
        """Forget a member and raise the generation, if it was there."""
        self._database.write(lambda session: forget(session, [member_id]))

    def expire(self, older_than: float) -> list[fleet.Member]:
        """Forget the members that have not been heard of for long.

        :param older_than: seconds
        :returns: those that this call removed
        """
        with self._database.reader() as session:
            silent = _silent(session, older_than)
        if not silent:
            return []

        def body(session: orm.Session) -> list[fleet.Member]:
            # Not those that fell silent while we waited to write: who kept
            # us waiting may have kept them.
            dead = _silent(session, older_than)
            return [
                member
                for id_, member in dead.items()
                if id_ in silent and _forget_if_silent(session, member)
            ]

        return self._database.write(body)

    def get(self) -> fleet.View:
        """Return the whole ledger."""
        with self._database.reader() as session:
            return view(session)

    def hold(self, topic: str) -> fleet.View:
        """Keep the cap of a topic from rising above what it is now."""

        def body(session: orm.Session) -> fleet.View:
            _set_hold(session, view(session).cap(topic))
            return view(session)

        return self._database.write(body)

    def finalize(self) -> fleet.View:
        """End a hold: the cap follows the live members again."""

        def body(session: orm.Session) -> fleet.View:
            _set_hold(session, None)
            return view(session)

        return self._database.write(body)


def admit(session: orm.Session, contract: migrations.Chain) -> None:
    """Refuse to go on where a newer release has taken something away.

    :raises OutdatedError: it has
    """
    revision = session.scalar(
        sqlalchemy.select(models.ContractVersion.version_num)
    )
    if not contract.knows(revision):
        raise OutdatedError(
            'a newer release has contracted the database to revision'
            f' {revision}: this one cannot use it any more'
        )


def view(session: orm.Session) -> fleet.View:
    """Return the ledger as the session sees it."""
    # The generation first: what is read after it may be newer, never older.
    state = session.get(models.LedgerState, STATE_ID, populate_existing=True)
    if state is None:
        raise RuntimeError('ledger_state has no row; run "vobjects db sync"')
    members = tuple(_member(row, now) for row, now in rows(session))
    held = state.held_manifest
    return fleet.View(
        state.generation, members, None if held is None else Manifest(held)
    )


def rows(
    session: orm.Session,
) -> Sequence[tuple[models.Service, datetime.datetime]]:
    """Return the services, each with the database's time."""
    found = session.execute(
        sqlalchemy.select(models.Service, clock.utcnow())
        .order_by(models.Service.created_at, models.Service.id)
        .execution_options(populate_existing=True)
    ).all()
    return [(row, now) for row, now in found]


def bump(session: orm.Session) -> None:
    """Raise the generation."""
    statements.change(
        session,
        sqlalchemy.update(models.LedgerState)
        .where(models.LedgerState.id == STATE_ID)
        .values(generation=models.LedgerState.generation + 1),
    )


def forget(session: orm.Session, member_ids: Sequence[str]) -> bool:
    """Remove members; tell whether there was one."""
    removed = statements.change(
        session,
        sqlalchemy.delete(models.Service).where(
            models.Service.id.in_(list(member_ids))
        ),
    )
    if removed:
        bump(session)
    return removed > 0


def _beat(session: orm.Session, member: fleet.Member) -> bool:
    """Record that a known member lives, if nothing about it changed."""
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


def _record(session: orm.Session, member: fleet.Member) -> None:
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


def _silent(
    session: orm.Session, older_than: float
) -> dict[str, fleet.Member]:
    """Return by ID the members not heard of for so many seconds."""
    members = view(session).members
    return {m.id: m for m in members if m.age > older_than}


def _forget_if_silent(session: orm.Session, member: fleet.Member) -> bool:
    """Remove a member unless it was heard of since we looked."""
    heard = session.get(
        models.Service, member.id, populate_existing=True, with_for_update=True
    )
    if heard is None:
        return False
    silent = clock.now(session) - heard.heartbeat
    # It may have reported while we waited for its row.
    if silent.total_seconds() < member.age:
        return False
    return forget(session, [member.id])


def _set_hold(session: orm.Session, manifest: Manifest | None) -> None:
    state = session.get(models.LedgerState, STATE_ID, with_for_update=True)
    if state is None:
        raise RuntimeError('ledger_state has no row; run "vobjects db sync"')
    state.held_manifest = None if manifest is None else dict(manifest)
    session.flush()
    bump(session)


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
