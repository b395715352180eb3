# SPDX-License-Identifier: Apache-2.0
"""A ledger in an SQL database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import sqlalchemy

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import Member, Report, Unaware, View
from vobjects_sql.ledger import invalid_text, migrations
from vobjects_sql.ledger.state import Transaction
from vobjects_sql.ledger.statements import LedgerStatements
from vobjects_sql.ledger.step_detector import StepDetector
from vobjects_sql.ledger.tables import LedgerTables
from vobjects_sql.ledger.transactions import EngineTransactions, Transactions

Result = TypeVar('Result')


class SqlLedger:
    """A :class:`vobjects.rpc.ledger.LedgerStore` in an SQL database.

    Ages are measured by the database's clock. All methods except
    :meth:`report` raise :class:`vobjects.exceptions.Unreachable` if the
    database does not answer.

    :param database: an SQLAlchemy engine, or the service's own transactions
    :param statements: statements about the service's tables; default: tables
        with the default names
    :param steps: detects that the database's clock was set
    :param admit: called in the transaction that records a new or changed
        member, after the write. It raises to reject the member, for example
        if a newer release has contracted the schema
    """

    def __init__(
        self,
        database: sqlalchemy.Engine | Transactions,
        statements: LedgerStatements | None = None,
        *,
        steps: StepDetector | None = None,
        admit: Callable[[Transaction], None] = lambda transaction: None,
    ) -> None:
        self._engine: sqlalchemy.Engine | None = None
        if isinstance(database, sqlalchemy.Engine):
            self._engine = database
            database = EngineTransactions(database)
        self._transactions: Transactions = database
        self._statements = statements or LedgerStatements(LedgerTables())
        self._steps = StepDetector() if steps is None else steps
        self._admit = admit

    def report(self, member: Member, known: View | None = None) -> Report:
        """Record a heartbeat, and return the view if it has changed.

        :raises vobjects.exceptions.NoLivePeer: the database does not answer
        """

        def work(transaction: Transaction) -> tuple[Report, str | None]:
            has_changed = self._statements.record(transaction, member)
            if has_changed is not None:
                # Checked only now, because the write waited for a contraction
                # in progress.
                self._admit(transaction)
            report = self._statements.report(
                transaction, known, self._steps, has_changed=bool(has_changed)
            )
            token = self._steps.untold()
            if token is not None:
                self._statements.state.note_step(transaction, token)
            return report, token

        try:
            report, token = self._write(work, urgent=True)
        except exceptions.Unreachable as error:
            raise exceptions.NoLivePeer(
                f'{error}{self._missing_steps()}'
            ) from error
        if token is not None:
            self._steps.told(token)
        return report

    def get(self) -> View:
        """Return the view with exact counts."""
        return self._read(self._statements.exact_view)

    def members(self, limit: int) -> list[Member]:
        """Return the members with the oldest heartbeats, oldest first."""
        return self._read(lambda t: self._statements.members(t, limit))

    def unaware(self, generation: int, member_id: str) -> Unaware:
        """Return the members that have not seen a generation."""
        return self._read(
            lambda t: self._statements.unaware(t, generation, member_id)
        )

    def manifest(self, digest: str) -> Manifest | None:
        """Return the manifest with a digest, if a live member has it."""
        known = self._statements.known_manifest(digest)
        return known or self._read(
            lambda t: self._statements.manifest(t, digest)
        )

    def now(self) -> float:
        """Return the database's time, in seconds since 1970."""
        return self._read(self._statements.now)

    def is_first(self, member_id: str) -> bool:
        """Return whether a member has the lowest id of its topic."""
        return self._read(lambda t: self._statements.is_first(t, member_id))

    def leave(self, member_id: str) -> bool:
        """Remove a member, and return whether the generation increased."""
        return self._write(lambda t: self._statements.remove(t, [member_id]))

    def expire(self, older_than: float, interval: float = 0.0) -> list[Member]:
        """Remove the members that have not reported for too long.

        :param older_than: seconds
        :param interval: do nothing if another call did it less than this
            number of seconds ago
        :returns: the members that this call removed; none if the database's
            clock was set within the time of ``older_than``
        """

        def claim(transaction: Transaction) -> bool:
            return self._statements.state.claim_sweep(transaction, interval)

        if not self._write(claim):
            return []
        silent = self._read(
            lambda t: self._statements.silent(
                t, older_than, interval, self._steps
            )
        )
        if not silent:
            return []
        # This keeps members that become silent while the transaction waits to
        # write: whatever delayed it may have delayed them, too.
        return self._write(lambda t: self._statements.remove_silent(t, silent))

    def hold(self, topic: str, owner: str = '', reason: str = '') -> View:
        """Keep the cap of a topic from rising above its current value."""

        def work(transaction: Transaction) -> View:
            self._statements.hold(transaction, topic, owner, reason)
            return self._statements.exact_view(transaction)

        return self._write(work)

    def finalize(self) -> View:
        """End a hold, so that the cap follows the live members again."""

        def work(transaction: Transaction) -> View:
            self._statements.finalize(transaction)
            return self._statements.exact_view(transaction)

        return self._write(work)

    def _missing_steps(self) -> str:
        # A service with its own transactions checks its own schema.
        if self._engine is None:
            return ''
        return migrations.missing_steps(self._engine, self._statements.tables)

    def _read(self, read: Callable[[Transaction], Result]) -> Result:
        with (
            self._transactions.reader() as transaction,
            invalid_text.readable(transaction),
        ):
            return read(transaction)

    def _write(
        self, work: Callable[[Transaction], Result], *, urgent: bool = False
    ) -> Result:
        def readable(transaction: Transaction) -> Result:
            with invalid_text.readable(transaction):
                return work(transaction)

        return self._transactions.write(readable, urgent=urgent)
