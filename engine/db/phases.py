# SPDX-License-Identifier: Apache-2.0
"""Where a database is between two releases, and its contraction.

::

    up to date --(new release)--> to expand --expand--> to contract
         ^                                                  |
         '---------- contract, when nobody older lives -----'

Contracting ends the life of older engines on this database: none may be
alive, and one that comes back is not let into the ledger
(:func:`engine.db.services.admit`).
"""

from __future__ import annotations

import dataclasses
import enum
import importlib.metadata

import sqlalchemy
from oslo_config import cfg
from packaging import version
from sqlalchemy import orm

from engine.db import database, migrations, models, services
from vobjects import exceptions
from vobjects.clustering import topics
from vobjects.rpc import fleet


class State(enum.Enum):
    """What a database needs; the value is the exit code of ``check``.

    1 and 2 say, as of every command, that it failed or was given bad input.
    """

    UP_TO_DATE = 0
    EXPAND = 3
    CONTRACT = 4
    TOO_NEW = 5


class OlderEnginesError(exceptions.FleetError):
    """Engines live that need what a contraction would take away."""

    def __init__(self, older: list[fleet.Member]) -> None:
        self.older = older
        names = ', '.join(
            f'{member.label} (release {member.release})' for member in older
        )
        super().__init__(
            f'older engines still use what would go: {names}; stop or upgrade'
            ' them'
        )


class NotExpandedError(exceptions.FleetError):
    """A contraction before its expansion."""

    def __init__(self) -> None:
        super().__init__(
            'the database has to be expanded first; run "vobjects db expand"'
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Phases:
    """The two chains of one release.

    :ivar expand: which it adds by
    :ivar contract: which it takes away by
    """

    expand: migrations.Chain = migrations.EXPAND
    contract: migrations.Chain = migrations.CONTRACT


#: Those of this release.
OWN = Phases()


def state(target: database.Database, phases: Phases = OWN) -> State:
    """Return what a database needs."""
    if migrations.is_behind(target, phases.expand):
        return State.EXPAND
    if not phases.contract.knows(migrations.current(target, phases.contract)):
        return State.TOO_NEW
    if migrations.is_behind(target, phases.contract):
        return State.CONTRACT
    return State.UP_TO_DATE


def contract(
    target: database.Database, conf: cfg.ConfigOpts, phases: Phases = OWN
) -> None:
    """Take away what only engines of older releases used.

    :param conf: with the options of :mod:`vobjects.rpc.conf`
    :raises OlderEnginesError: such engines live
    :raises NotExpandedError: ``expand`` comes first
    :raises RuntimeError: another process held the lock for too long
    """
    with migrations.alone(target) as connection:
        if migrations.lacks(connection, phases.expand):
            raise NotExpandedError
        if not migrations.lacks(connection, phases.contract):
            return
        _take_leave(connection, conf)
        migrations.upgrade(connection, phases.contract)


def _take_leave(
    connection: sqlalchemy.Connection, conf: cfg.ConfigOpts
) -> None:
    """Forget the dead of older releases, and let none of them join.

    :raises OlderEnginesError: some live
    """
    # It ends with the transaction, and not the transaction with it.
    with orm.Session(
        connection, join_transaction_mode='rollback_only'
    ) as session:
        # Nobody joins before the transaction ends.
        session.get(
            models.LedgerState, services.STATE_ID, with_for_update=True
        )
        living, silent = _older(session, conf)
        if living:
            raise OlderEnginesError(living)
        # One that was only frozen has to join again, and is refused.
        services.forget(session, [member.id for member in silent])


def older_engines(
    target: database.Database, conf: cfg.ConfigOpts
) -> list[fleet.Member]:
    """Return the live engines that are not known to be as new as this build.

    :param conf: with the options of :mod:`vobjects.rpc.conf`
    """
    with target.reader() as session:
        return _older(session, conf)[0]


def _older(
    session: orm.Session, conf: cfg.ConfigOpts
) -> tuple[list[fleet.Member], list[fleet.Member]]:
    """Return those that live, and those not heard of for too long."""
    dead_after = conf.fleet.heartbeat_interval * fleet.DEAD_AFTER_PERIODS
    release = importlib.metadata.version('vobjects')
    older = [
        member
        for member in services.view(session).servers(topics.ENGINE)
        if not _is_as_new(member.release, release)
    ]
    return (
        [member for member in older if member.age <= dead_after],
        [member for member in older if member.age > dead_after],
    )


def _is_as_new(theirs: str, ours: str) -> bool:
    """Tell whether a release is known to be ours or a newer one."""
    try:
        return version.Version(theirs) >= version.Version(ours)
    except version.InvalidVersion:
        return theirs == ours
