# SPDX-License-Identifier: Apache-2.0
"""Monitor the nodes of clusters that have a health policy.

::

    manager   claims clusters that are due, and recovers failed nodes
    probes    the detection modes
"""
