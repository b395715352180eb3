# SPDX-License-Identifier: Apache-2.0
"""Run actions, from one stage to the next.

::

    runtime         shared services of actions: database, cloud, types, cap
    action_factory  new actions, with requests that all live engines can read
    action_run      an action while it runs: stages, waiting, ending
    action_types    name of an action -> its stages, locks and failure handler
    clusters, members, operations, recovery, updating
                    stages of cluster actions
    nodes, deletion_hooks
                    stages of node actions
    node_steps      steps that these stages share
    policy_bindings  stages that attach, detach and update policies
    attachments     a policy and a cluster, as these stages see them
    policy_checks   calls of the cluster's policies before and after an action
    node_policies   calls of the policies that track each node
    container_hosts  nodes that host other nodes
    cancellation    the end of an action outside of its worker
"""
