# SPDX-License-Identifier: Apache-2.0
"""A simulated cloud. Its objects are rows of tables.

::

    conf             configuration options
    provider         combines all parts
    servers          servers and their events
    state            delays, random failures and shared state
    stacks           stacks
    containers       containers
    rows             shared code of servers, stacks and containers
    locations        server groups, zones, hosts
    load_balancing   load balancers
    queues           queues for message receivers and lifecycle hooks
    tables           the tables of all of these
"""
