# SPDX-License-Identifier: Apache-2.0
"""Expanding revisions, one module each, in numerical order.

Each only adds: new tables, new columns that are nullable or have a server
default, new indexes. A test checks this. The first is e002: databases with
e001 are older than the first release, and are rejected.

::

    e002_first_tables     create all tables of the first release
    e003_holds_and_clock  record the origin of a hold, and steps of the clock
"""
