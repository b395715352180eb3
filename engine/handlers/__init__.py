# SPDX-License-Identifier: Apache-2.0
"""Request handlers, one module per resource.

A handler reads the database, or changes it in one transaction and queues an
action. Handlers also enforce visibility: callers see the rows of their
project; administrators see those of all projects if they request it.

::

    actions      handlers that list, show and cancel actions
    adoption     handlers that create nodes from existing cloud objects
    policy_bindings  handlers for the policies of a cluster
    clusters     handlers for clusters; all but list and show only queue an
                 action
    common       base class and helpers of the request handlers
    events       handlers that list and show events
    members      handlers that add, remove and replace members of clusters
    messages     handlers for message receivers, which start actions from a
                 queue
    nodes        handlers for nodes; all but list and show only queue an action
    operations   handlers that operate on, or collect attributes of, cluster
                 nodes
    policies     handlers for policies and policy types
    profiles     handlers for profiles and profile types
    queueing     base class of the handlers that queue actions
    receivers    handlers for receivers, and for webhooks that start their
                 actions
    services     handlers for the service itself: its processes and its build
    triggers     convert webhook calls and messages to requests, and run them
    views        convert database rows to API resources
"""
