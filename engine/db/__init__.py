# SPDX-License-Identifier: Apache-2.0
"""The engine's database.

::

    database       transactions
    connections    connections, with the settings of each kind of database
    reachability   detects, translates and logs outages
    writer_queue   a fair queue of writers to an SQLite file
    models         the tables
    types          column types
    clock          the database's clock
    statements     shared SQL helpers
    migrations     migrate a database to the current schema
    schema_phase   the phases of an upgrade: expand and contract

    clusters, nodes, quotas, trusts, credentials, health, ledger
                   statements about these rows
    actions, work_queue, dependencies, locks
                   the state of actions
    find, related, paging
                   find rows, their related rows, and pages of a list
    idempotency    recorded responses of calls
    stored         the columns with versioned objects
    purge          delete old actions and events

Most functions take a session, so that callers can combine several of them in
one transaction.
"""
