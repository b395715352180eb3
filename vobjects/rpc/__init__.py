# SPDX-License-Identifier: Apache-2.0
"""Objects between processes of different age, over oslo.messaging.

In the order of a call::

    fleet        who lives and what they speak: Member, View, the cap; values
    ledger       where members are recorded; a protocol of four methods
    membership   keeps one process in the ledger and its view of it fresh;
                 the join barrier
    client       sends a request at a version that every live peer speaks
    server       receives it, answers in what the caller speaks
    objects      the types the fleet itself is spoken of in
    keeper       serves the ledger to processes without a database
    gate         how many requests are worked on at a time
    dispatcher   from messages to methods, through the gate
    notices      "something changed", to every process at once
    worker       a process that serves: all of the above, assembled
    caller       a process that calls: likewise
    transport    oslo.messaging, configured
    conf         the options
    drivers/     the embedded driver, for one host without a broker
"""
