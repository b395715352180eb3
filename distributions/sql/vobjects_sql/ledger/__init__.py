# SPDX-License-Identifier: Apache-2.0
"""A ledger of live processes in an SQL database.

It supports SQLite, PostgreSQL and MariaDB::

    engine = sqlalchemy.create_engine('postgresql+psycopg2://...')
    create_tables(engine)
    ledger = SqlLedger(engine)

A service with a schema of its own adds the tables to its metadata
(:class:`LedgerTables`), and creates them in its own alembic history
(:func:`vobjects_sql.ledger.migrations.expand`).

::

    sql_ledger    SqlLedger
    statements    the statements about the two tables, for a transaction of the
                  service: LedgerStatements
    state         those about the state of the ledger
    manifests     reads the manifests of members
    silent        finds the members that no longer report
    step_detector  notes steps of the database's clock
    invalid_text  reads text that is not UTF-8
    rows          converts the rows of members
    tables        the definitions of the two tables
    migrations    steps that change the tables, for alembic
    transactions  transactions on an SQLAlchemy engine
"""

from vobjects_sql.ledger.migrations import create_tables
from vobjects_sql.ledger.sql_ledger import SqlLedger
from vobjects_sql.ledger.statements import LedgerStatements
from vobjects_sql.ledger.tables import LedgerTables

__all__ = [
    'LedgerStatements',
    'LedgerTables',
    'SqlLedger',
    'create_tables',
]
