# SPDX-License-Identifier: Apache-2.0
"""Schema phases of a database during an upgrade, and its contraction.

::

    up to date --(new release)--> to expand --expand--> to contract
         ^                                                  |
         '------ contract, after all older engines stop ----'

After a contraction, older engines cannot use the database. No such engine may
be alive when it starts. An older engine that comes back is not admitted to the
ledger (:func:`engine.db.ledger.check_not_contracted`).
"""

from __future__ import annotations

import dataclasses
import enum
import importlib.metadata

import sqlalchemy
from oslo_config import cfg
from packaging import version
from sqlalchemy import orm

from engine.db import database, ledger, migrations
from vobjects import exceptions
from vobjects.clustering import topics
from vobjects.rpc import fleet


class Phase(enum.Enum):
    """The next step for a database; its value is the exit code of ``check``.

    As with every command, 1 means failure and 2 invalid input.
    """

    UP_TO_DATE = 0
    EXPAND = 3
    CONTRACT = 4
    TOO_NEW = 5
    UNKNOWN = 6


class OlderEnginesError(exceptions.FleetError):
    """Raised when live engines need what a contraction drops."""

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
    """Raised if the expansion has not run yet."""

    def __init__(self) -> None:
        super().__init__(
            'the database has to be expanded first; run "vobjects db expand"'
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Chains:
    """The two migration chains of one release.

    :ivar expand: the chain that adds
    :ivar contract: the chain that drops
    """

    expand: migrations.Chain = migrations.EXPAND
    contract: migrations.Chain = migrations.CONTRACT


#: The chains of this release.
CHAINS = Chains()


def phase_of(target: database.Database, phases: Chains = CHAINS) -> Phase:
    """Return the next step for a database."""
    try:
        require_known(target, phases)
    except migrations.UnknownRevisionError:
        return Phase.UNKNOWN
    if migrations.is_behind(target, phases.expand):
        return Phase.EXPAND
    if phases.contract.is_newer(migrations.current(target, phases.contract)):
        return Phase.TOO_NEW
    if migrations.is_behind(target, phases.contract):
        return Phase.CONTRACT
    return Phase.UP_TO_DATE


def require_known(target: database.Database, phases: Chains = CHAINS) -> None:
    """Raise unless this release or a newer one has made the database.

    :raises engine.db.migrations.UnknownRevisionError: neither has
    """
    for chain in (phases.expand, phases.contract):
        chain.check(migrations.current(target, chain))


def require_expanded(target: database.Database) -> None:
    """Raise unless a database has all that this release reads.

    :raises NotExpandedError: ``expand`` has not run yet
    :raises engine.db.migrations.UnknownRevisionError: no release has made the
        database
    """
    require_known(target)
    if migrations.is_behind(target):
        raise NotExpandedError


def contract(
    target: database.Database,
    conf: cfg.ConfigOpts,
    phases: Chains = CHAINS,
    report: migrations.Report = lambda revision: None,
) -> None:
    """Drop what only engines of older releases used.

    :param conf: the configuration, with the options of
        :mod:`vobjects.rpc.conf`
    :param report: called with each revision, after it has run
    :raises OlderEnginesError: older engines are alive
    :raises NotExpandedError: ``expand`` has not run yet
    :raises engine.db.migrations.UnknownRevisionError: no release has made the
        database
    :raises RuntimeError: another process held the lock for too long
    """
    with migrations.locked(target) as connection:
        if migrations.lacks_revisions(connection, phases.expand):
            raise NotExpandedError
        if not migrations.lacks_revisions(connection, phases.contract):
            return
        _exclude_older_engines(connection, conf)
        migrations.upgrade(connection, phases.contract, report=report)


def _exclude_older_engines(
    connection: sqlalchemy.Connection, conf: cfg.ConfigOpts
) -> None:
    """Remove dead engines of older releases, and stop new ones joining.

    :raises OlderEnginesError: some of them are alive
    """
    # The session joins the transaction and must not commit it.
    with orm.Session(
        connection, join_transaction_mode='rollback_only'
    ) as session:
        # Until the transaction ends, no engine can join the fleet.
        ledger.STATEMENTS.lock(session)
        living, silent = _split_older_engines(session, conf)
        if living:
            raise OlderEnginesError(living)
        # An engine that was only frozen must join again, and is rejected.
        ledger.STATEMENTS.remove(session, [member.id for member in silent])


def older_engines(
    target: database.Database, conf: cfg.ConfigOpts
) -> list[fleet.Member]:
    """Return the live engines not known to be as new as this release.

    :param conf: the configuration, with the options of
        :mod:`vobjects.rpc.conf`
    """
    with target.reader() as session:
        return _split_older_engines(session, conf)[0]


def _split_older_engines(
    session: orm.Session, conf: cfg.ConfigOpts
) -> tuple[list[fleet.Member], list[fleet.Member]]:
    """Return the older engines that are alive, and those that are not."""
    dead_after = conf.fleet.heartbeat_interval * fleet.DEAD_AFTER_PERIODS
    release = importlib.metadata.version('vobjects')
    older = [
        member
        for member in ledger.STATEMENTS.members(session)
        if member.topic == topics.ENGINE
        and not _is_as_new(member.release, release)
    ]
    return (
        [member for member in older if member.age <= dead_after],
        [member for member in older if member.age > dead_after],
    )


def _is_as_new(release: str, own_release: str) -> bool:
    """Tell whether a release is known to be this one or a newer one."""
    try:
        return version.Version(release) >= version.Version(own_release)
    except version.InvalidVersion:
        return release == own_release
