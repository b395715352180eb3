# SPDX-License-Identifier: Apache-2.0
"""Exchange versioned objects between releases over oslo.messaging.

In the order of a call::

    fleet          live members, their manifests and the cap: Member, View
    fleet_types    object types of the fleet protocol
    ledger         the record of live members, and access to it over RPC
    sql/           a ledger in an SQL database, with its migrations
    memory_ledger  a ledger in memory, for tests
    expiry         removes dead members from the ledger
    suspend_detector  delays that after this process was suspended
    step_detector  delays it after the clock of the ledger was set
    membership     reports one process to the ledger and keeps its view fresh
    join_barrier   the membership of a server, which waits before it consumes
    serializer     objects <-> primitives and JSON text, at a peer's versions
    response_text  responses as JSON text, in the form that an API shows
    call_state     the call that a thread handles; the record of its response
    call_limits    limits how many callers wait
    client         sends requests at a version that every live server supports
    server         handles them and responds in the caller's version
    concurrency_limit  limits the number of requests that run at a time
    byte_budget    bounds the total size of large responses
    dispatcher     routes messages to methods within that limit
    wakeups        "fleet changed" or "work", sent to all processes of a topic
    server_process  a server process, assembled from the modules above
    client_process  a client process, likewise
    transport      configures oslo.messaging, discovers what a driver can do
    conf           configuration options

A service needs only the names in ``__all__``, and :mod:`vobjects.rpc.sql`.
"""

from typing import TYPE_CHECKING

from vobjects import (
    _lazy,
    _threading,  # noqa: F401 - before oslo.messaging
)

if TYPE_CHECKING:
    from oslo_messaging import MessagingException, RemoteError

    from vobjects.rpc.call_state import current_call
    from vobjects.rpc.client import Client
    from vobjects.rpc.client_process import ClientProcess, connect_to_ledger
    from vobjects.rpc.fleet import Member, View
    from vobjects.rpc.ledger import LedgerStore, RemoteLedger
    from vobjects.rpc.memory_ledger import MemoryLedger
    from vobjects.rpc.server import handles
    from vobjects.rpc.server_process import ServerProcess

__all__ = [
    'Client',
    'ClientProcess',
    'LedgerStore',
    'Member',
    'MemoryLedger',
    'MessagingException',
    'RemoteError',
    'RemoteLedger',
    'ServerProcess',
    'View',
    'connect_to_ledger',
    'current_call',
    'handles',
]

__getattr__ = _lazy.attributes(
    __name__,
    {
        'oslo_messaging': ['MessagingException', 'RemoteError'],
        'vobjects.rpc.client': ['Client'],
        'vobjects.rpc.client_process': ['ClientProcess', 'connect_to_ledger'],
        'vobjects.rpc.fleet': ['Member', 'View'],
        'vobjects.rpc.ledger': ['LedgerStore', 'RemoteLedger'],
        'vobjects.rpc.memory_ledger': ['MemoryLedger'],
        'vobjects.rpc.call_state': ['current_call'],
        'vobjects.rpc.server': ['handles'],
        'vobjects.rpc.server_process': ['ServerProcess'],
    },
)
