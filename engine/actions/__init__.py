# SPDX-License-Identifier: Apache-2.0
"""Run actions, from one stage to the next.

::

    runtime   shared services of actions: database, cloud, types, the cap
    queue     new actions, with a request that all live engines can read
    work      an action while it runs: stages, waiting, ending
    table     kind of action -> its stages, its locks and its cleanup
    clusters, nodes
              the stages
    endings   ending an action from outside of its worker
"""
