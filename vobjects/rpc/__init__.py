# SPDX-License-Identifier: Apache-2.0
"""Exchange versioned objects between releases over oslo.messaging.

In the order of a call::

    fleet        the live members, their manifests and the cap: value classes
                 Member, View and Limit
    ledger       where members are recorded; a protocol of five methods
    membership   keeps one process in the ledger and its view of it fresh;
                 the join barrier
    client       sends a request at a version that every live server supports
    server       receives it and answers in the caller's version
    fleet_types  the object types of the fleet protocol
    ledger_endpoint  serves the ledger to processes without a database
    concurrency_limit  limits the number of requests handled concurrently
    dispatcher   routes messages to methods, a limited number at a time
    wakeups      "something changed", sent to every process at once
    worker       a server process, assembled from the modules above
    client_process  a client process, likewise
    transport    configures oslo.messaging
    conf         the options
    drivers/     the embedded driver, for one host without a broker
"""

from vobjects import _threading  # noqa: F401 - before oslo.messaging
