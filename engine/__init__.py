# SPDX-License-Identifier: Apache-2.0
"""The engine: the RPC service that carries out what the API accepts.

::

    actions           run actions, from one stage to the next
    cli               the commands ``vobjects engine`` and ``vobjects db``
    conf              configuration options of the engine; oslo.db defines
                      ``[database]``
    config_commands   the command ``vobjects config``: check configuration
                      files
    db                the engine's database
    db_commands       subcommands of ``vobjects db``; :mod:`engine.cli` opens
                      the database
    distribution      distribute new and removed nodes over zones and regions
    events            events at the start and at the end of actions, for users
                      to read
    exporter          serve an engine's metrics to Prometheus
    handlers          request handlers, one module per resource
    health            monitor the nodes of clusters that have a health policy
    http_client       HTTP requests to addresses that tenants choose
    jsonpath          evaluate tenants' JSON paths lazily, with a limited
                      number of steps
    lifecycle_hooks   send the lifecycle hook of a deletion policy before a
                      node is removed
    log_context       add the action to the lines that its thread logs
    metrics           Prometheus counters of an engine process
    names             generate the names of a cluster's nodes
    patterns          match tenants' regular expressions with RE2, in linear
                      time
    periodic          do something in the background again and again
    plugins           registries of plug-in types: profile types and policy
                      types, by name
    policies          policy types: entry points of ``vobjects.policies``
    profiles          profile types: entry points of ``vobjects.profiles``
    providers         clouds to create nodes in: entry points of
                      ``vobjects.providers``
    purger            delete old actions and events regularly, if configured
    queue_commands    the command ``vobjects queue``, which posts and shows
                      messages
    queues            message queues for users: entry points of
                      ``vobjects.queues``
    reaper            take over actions of dead engines, and end overdue
                      actions
    scheduler         claim ready actions, and run them in a pool of threads
    senlin_import     import the database of Senlin
    senlin_tables     the tables of Senlin, and how to convert their rows
    service           assemble an engine process; start and stop its components
                      in order
    sizes             compute cluster sizes, their limits, and the resulting
                      health status
    spec_schema       schemas for the properties of specs
    storage           what plug-ins use of the engine's database
    trusts            act for users, and store the credentials for it
"""
