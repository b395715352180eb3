# SPDX-License-Identifier: Apache-2.0
"""A complete service: an API and engines, with a ledger in SQLite."""
