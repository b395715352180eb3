# SPDX-License-Identifier: Apache-2.0
"""The engine: the RPC service that carries out what the API accepts.

::

    service      answers requests (handlers/) and queues actions
    scheduler    claims ready actions and runs them in threads
    reaper       takes over from dead engines, ends overdue actions
    actions/     the stages of each action, as a table
    profiles/    profile types: kinds of nodes
    providers/   clouds in which nodes are created
    db/          tables, migrations and statements
"""
