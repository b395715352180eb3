# SPDX-License-Identifier: Apache-2.0
"""Looking after the nodes of clusters that have a health policy.

::

    manager   claims clusters that are due, and has sick nodes recovered
    probes    how each mode of detection finds a node sick
    urls      asking a node's URL
"""
