# SPDX-License-Identifier: Apache-2.0
"""The engine's database.

A module named after a noun holds the statements about it. Each function takes
a session, so that callers can combine several of them in one transaction.
"""
