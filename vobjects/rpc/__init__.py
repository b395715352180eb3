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
    objects      the object types of the fleet protocol
    keeper       serves the ledger to processes without a database
    gate         limits the number of requests handled concurrently
    dispatcher   routes messages to methods, through the gate
    notices      "something changed", sent to every process at once
    worker       a server process, assembled from the modules above
    caller       a client process, likewise
    transport    configures oslo.messaging
    conf         the options
    drivers/     the embedded driver, for one host without a broker
"""
