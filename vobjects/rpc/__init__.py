# SPDX-License-Identifier: Apache-2.0
"""Exchange versioned objects between releases over oslo.messaging.

In the order of a call::

    fleet          live members, their manifests and the cap: Member, View
    fleet_types    object types of the fleet protocol
    ledger         the record of live members, and access to it over RPC
    membership     reports one process to the ledger and keeps its view fresh;
                   the join barrier
    serializer     objects <-> primitives and JSON text, at a peer's versions
    call_limits    limits how long callers wait, and how many
    client         sends requests at a version that every live server supports
    server         handles them and responds in the caller's version
    concurrency_limit  limits the number of requests that run at a time
    dispatcher     routes messages to methods within that limit
    wakeups        "fleet changed" or "work", sent to all processes of a topic
    late_ack       acknowledges RabbitMQ calls after their response
    server_process  a server process, assembled from the modules above
    client_process  a client process, likewise
    transport      configures oslo.messaging
    conf           configuration options
    drivers/       the embedded driver, for one host without a broker
"""

from vobjects import _threading  # noqa: F401 - before oslo.messaging
