# SPDX-License-Identifier: Apache-2.0
"""The engine: an RPC service that does what the API accepted.

::

    service      answers requests (handlers/), queues actions
    scheduler    claims actions that are ready and runs them in threads
    reaper       takes over from the dead, ends what is overdue
    actions/     what each action does, as a table of stages
    profiles/    types of things that nodes can be
    providers/   clouds that nodes are made in
    db/          tables, migrations and statements
"""
