# SPDX-License-Identifier: Apache-2.0
"""Expanding revisions, one module each, in the order of their numbers.

Each only adds: new tables, new columns that are nullable or have a default
in the database, new indices. A test looks after that.
"""
