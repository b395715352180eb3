# SPDX-License-Identifier: Apache-2.0
"""Request handlers, one module per resource.

A handler reads the database, or changes it in one transaction and queues an
action. Handlers also enforce visibility: callers see the rows of their
project; administrators see those of all projects if they request it.
"""
