# SPDX-License-Identifier: Apache-2.0
"""A deterministic simulation of the fleet protocol.

::

    kernel       virtual time, processes, and the parts of `threading` and
                 `time` that the protocol uses
    fleet        clients, servers, ledger and network of one schedule
    invariants   the guarantees of doc/source/protocol.rst
    schedules    runs a schedule from its seed
    mutants      weaker variants of the protocol, which must be detected
"""
