# SPDX-License-Identifier: Apache-2.0
"""The ledger of live processes, in the engines' database.

:mod:`vobjects_sql.ledger` implements it. Here, its transactions are those of
:class:`engine.db.database.Database`, and it admits no process that a newer
release has excluded by contracting the database.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import database, migrations, models
from vobjects import exceptions
from vobjects_sql.ledger import LedgerStatements, SqlLedger
from vobjects_sql.ledger.state import Transaction

Result = TypeVar('Result')

#: Statements about the ledger, for use in a transaction of the engine.
STATEMENTS = LedgerStatements(models.LEDGER)


class OutdatedError(exceptions.FleetError):
    """Raised when a newer release contracted the database."""


def open_ledger(
    target: database.Database,
    contract: migrations.Chain = migrations.CONTRACT,
) -> SqlLedger:
    """Return the ledger of a database.

    A report raises :class:`OutdatedError` if this release can no longer use
    the database.

    :param contract: the contracting revisions that this release knows
    """
    return SqlLedger(
        _Transactions(target),
        STATEMENTS,
        admit=lambda transaction: check_not_contracted(transaction, contract),
    )


def check_not_contracted(
    transaction: Transaction, contract: migrations.Chain
) -> None:
    """Check that no newer release has contracted the database.

    :raises OutdatedError: a newer release has
    """
    revision = transaction.scalar(
        sqlalchemy.select(models.ContractVersion.version_num)
    )
    if not contract.knows(revision):
        raise OutdatedError(
            'a newer release has contracted the database to revision'
            f' {revision}: this release cannot use it'
        )


class _Transactions:
    """Transactions of the ledger; its heartbeats go before other writes."""

    def __init__(self, target: database.Database) -> None:
        self._database = target

    def reader(self) -> contextlib.AbstractContextManager[orm.Session]:
        """See :class:`vobjects_sql.ledger.transactions.Transactions`."""
        return self._database.reader()

    def write(
        self,
        work: Callable[[orm.Session], Result],
        *,
        urgent: bool = False,
    ) -> Result:
        """See :class:`vobjects_sql.ledger.transactions.Transactions`."""
        try:
            return self._database.write(work, urgent=urgent)
        except oslo_db_exception.DBError as error:
            raise exceptions.Unreachable(
                f'the database fails: {error}'
            ) from error
