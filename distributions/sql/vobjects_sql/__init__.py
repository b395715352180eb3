# SPDX-License-Identifier: Apache-2.0
"""The ledger and the stored objects of a service in an SQL database.

The packages are public. It supports SQLite, PostgreSQL and MariaDB::

    ledger/       the ledger of live processes, and its migrations: SqlLedger
    stored/       columns with versioned objects, and rollbacks: StoredObject
    columns       column types that behave alike on all databases, and the
                  database's clock
    sqlite_files  opens SQLite files from elsewhere
    commands      `vobjects stored` and `vobjects fleet can-roll-back`
"""

#: Summary of the command, for ``vobjects --help``.
SUMMARIES = {
    'stored': 'count the objects in the database by version',
}
