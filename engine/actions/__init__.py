# SPDX-License-Identifier: Apache-2.0
"""What engines do, and how an action gets from one stage to the next.

::

    runtime   what every action may use: database, cloud, types, the cap
    queue     new actions, with their request at a version all can read
    work      an action being run: stages, waiting, ending
    table     kind of action -> its stages, locks and loose ends
    clusters, nodes
              the stages
    endings   ending an action that nobody runs, or against its will
"""
