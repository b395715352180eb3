# SPDX-License-Identifier: Apache-2.0
"""Expanding revisions, one module each, in numerical order.

Each only adds: new tables, new columns that are nullable or have a server
default, new indexes. A test checks this. e001 creates the tables of the first
release.

::

    e001_first_tables  create all tables of the first release
    e002_fleet_groups  store the groups of processes, and index them
"""
