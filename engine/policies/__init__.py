# SPDX-License-Identifier: Apache-2.0
"""Policy types: entry points of ``vobjects.policies``.

The name of an entry point is the name of the type with its version, such as
``senlin.policy.scaling-1.0``. Its value names a class that takes no arguments.
The properties of a type are those of Senlin's type of the same name.
Their schemas are in YAML files beside the modules.

::

    affinity        ``senlin.policy.affinity``: place servers in a server group
    base            the base class of policy types, and their registry
    batch           ``senlin.policy.batch``: limit how many nodes are updated
                    at once
    deletion        ``senlin.policy.deletion``: choose and remove nodes of a
                    cluster
    health          ``senlin.policy.health``: detect and recover unhealthy
                    nodes
    load_balancing  ``senlin.policy.loadbalance``: put nodes behind a load
                    balancer
    placement       policies that distribute nodes over regions or zones
    scaling         ``senlin.policy.scaling``: decide how many nodes scaling
                    changes
"""
