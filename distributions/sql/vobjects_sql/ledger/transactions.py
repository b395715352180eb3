# SPDX-License-Identifier: Apache-2.0
"""Transactions of a ledger on an SQLAlchemy engine."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import sqlalchemy

from vobjects import exceptions
from vobjects_sql.ledger.state import Transaction

LOG = logging.getLogger(__name__)

Result = TypeVar('Result')

#: Attempts to run a transaction that another one, or a lost connection, ended.
ATTEMPTS = 3


class Transactions(Protocol):
    """Runs the transactions of a ledger.

    A service that has its own rules for connections, retries and timeouts
    implements this. Transactions are READ COMMITTED: after a transaction has
    waited for a lock, its next statement must see the changes that it waited
    for.
    """

    def reader(self) -> contextlib.AbstractContextManager[Any]:
        """Return a connection or session for reading.

        :raises vobjects.exceptions.Unreachable: the database does not answer
        """

    def write(
        self, work: Callable[[Any], Result], *, urgent: bool = False
    ) -> Result:
        """Run ``work(transaction)`` in a transaction, and commit it.

        :param work: may run again after a conflict with another transaction
        :param urgent: run it before other work that waits
        :raises vobjects.exceptions.Unreachable: the database does not answer
        """


class EngineTransactions:
    """Transactions on an SQLAlchemy engine.

    :param engine: connections to SQLite, PostgreSQL or MariaDB
    """

    def __init__(self, engine: sqlalchemy.Engine) -> None:
        # SQLite has no READ COMMITTED. Its transactions are stricter, and a
        # ledger's begin with the statement that writes.
        self._engine = (
            engine
            if engine.dialect.name == 'sqlite'
            else engine.execution_options(isolation_level='READ COMMITTED')
        )

    @contextlib.contextmanager
    def reader(self) -> Any:
        """See :meth:`Transactions.reader`."""
        try:
            with self._engine.connect() as connection:
                yield connection
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise _unreachable(error) from error

    def write(
        self,
        work: Callable[[Transaction], Result],
        *,
        urgent: bool = False,
    ) -> Result:
        """See :meth:`Transactions.write`."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._engine.begin() as connection:
                    return work(connection)
            except sqlalchemy.exc.SQLAlchemyError as error:
                # A deadlock, a lost connection, or the first row of two
                # processes at the same time.
                if attempt == ATTEMPTS or not isinstance(
                    error, sqlalchemy.exc.DBAPIError
                ):
                    raise _unreachable(error) from error
                LOG.debug('Running the transaction again: %s', error)
        raise AssertionError('unreachable')


def _unreachable(error: Exception) -> exceptions.Unreachable:
    reason = str(error).strip().partition('\n')[0]
    return exceptions.Unreachable(f'the database fails: {reason}')
