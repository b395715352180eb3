# SPDX-License-Identifier: Apache-2.0
"""Exchange versioned objects between releases over oslo.messaging.

In the order of a call::

    fleet          live members, their manifests and the cap: Member, View
    fleet_types    object types of the fleet protocol
    ledger         the record of live members, and access to it over RPC
    expiry         removes dead members from the ledger
    suspend_detector  delays that after this process was suspended
    ledger_clock   estimates the time on the ledger's clock
    membership     reports one process to the ledger and keeps its view fresh
    join_barrier   the membership of a server, which waits before it consumes
    serializer     objects <-> primitives and JSON text, at a peer's versions
    own_methods    objects in calls of a service's own RPC methods
    response_text  responses as JSON text, in the form that an API shows
    call_state     the call that a thread handles; the record of its response
    call_limits    limits how many callers wait
    routing        finds servers that support more than all servers do
    client         sends requests at a version that every live server supports
    server         handles them and responds in the caller's version
    tracing        spans of OpenTelemetry for calls and handlers
    concurrency_limit  limits the number of requests that run at a time
    byte_budget    bounds the total size of large responses
    dispatcher     routes messages to methods within that limit
    wakeups        "fleet changed" or "work", sent to all processes of a topic
    server_process  a server process, assembled from the modules above
    client_process  a client process, likewise
    transport      configures oslo.messaging, discovers what a driver can do
    conf           configuration options

A service needs only the public names, and :mod:`vobjects.rpc.own_methods` if
it keeps its RPC methods. :mod:`vobjects_sql.ledger`, of the distribution
vobjects-sql, is a ledger in an SQL database.
"""

from vobjects import (
    _lazy,
    _threading,  # noqa: F401 - before oslo.messaging
)

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
