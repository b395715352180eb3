# SPDX-License-Identifier: Apache-2.0
"""A ledger in an SQL database."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy

from vobjects import exceptions
from vobjects.rpc.fleet import Member, View
from vobjects.rpc.sql.statements import LedgerStatements, Transaction
from vobjects.rpc.sql.tables import LedgerTables
from vobjects.rpc.sql.transactions import EngineTransactions, Transactions


class SqlLedger:
    """A :class:`vobjects.rpc.ledger.LedgerStore` in an SQL database.

    Ages are measured by the database's clock.

    :param database: an SQLAlchemy engine, or the service's own transactions
    :param statements: statements about the service's tables; default: tables
        with the default names
    :param admit: called in the transaction that records a new or changed
        member, after the write. It raises to reject the member, for example
        if a newer release has contracted the schema
    """

    def __init__(
        self,
        database: sqlalchemy.Engine | Transactions,
        statements: LedgerStatements | None = None,
        *,
        admit: Callable[[Transaction], None] = lambda transaction: None,
    ) -> None:
        self._transactions: Transactions = (
            EngineTransactions(database)
            if isinstance(database, sqlalchemy.Engine)
            else database
        )
        self._statements = statements or LedgerStatements(LedgerTables())
        self._admit = admit

    def report(self, member: Member) -> View:
        """Record a heartbeat and return the whole ledger.

        :raises vobjects.exceptions.NoLivePeer: the database does not answer
        """

        def work(transaction: Transaction) -> View:
            if self._statements.record(transaction, member):
                # Checked only now, because the write waited for a contraction
                # in progress.
                self._admit(transaction)
            return self._statements.view(transaction)

        try:
            return self._transactions.write(work, urgent=True)
        except exceptions.Unreachable as error:
            raise exceptions.NoLivePeer(str(error)) from error

    def get(self) -> View:
        """Return the whole ledger.

        :raises vobjects.exceptions.Unreachable: the database does not answer;
            the methods below raise it, too
        """
        with self._transactions.reader() as transaction:
            return self._statements.view(transaction)

    def leave(self, member_id: str) -> None:
        """Remove a member, and increment the generation if it existed."""
        self._transactions.write(
            lambda transaction: self._statements.remove(
                transaction, [member_id]
            )
        )

    def expire(self, older_than: float) -> list[Member]:
        """Remove the members that have not reported for too long.

        :param older_than: seconds
        :returns: the members that this call removed
        """
        silent = {
            member.id: member
            for member in self.get().members
            if member.age > older_than
        }
        if not silent:
            return []
        # This keeps members that become silent while the transaction waits to
        # write: whatever delayed it may have delayed them, too.
        removed = self._transactions.write(
            lambda transaction: self._statements.remove_silent(
                transaction, silent.keys(), older_than
            )
        )
        return [silent[id_] for id_ in silent if id_ in removed]

    def hold(self, topic: str) -> View:
        """Keep the cap of a topic from rising above its current value."""

        def work(transaction: Transaction) -> View:
            self._statements.hold(transaction, topic)
            return self._statements.view(transaction)

        return self._transactions.write(work)

    def finalize(self) -> View:
        """End a hold, so that the cap follows the live members again."""

        def work(transaction: Transaction) -> View:
            self._statements.finalize(transaction)
            return self._statements.view(transaction)

        return self._transactions.write(work)
