# SPDX-License-Identifier: Apache-2.0
"""The engine's database.

Modules named after a noun hold the statements about it; each function takes
a session, so that a caller puts several of them into one transaction.
"""
