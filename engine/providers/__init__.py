# SPDX-License-Identifier: Apache-2.0
"""Clouds to create nodes in: entry points of ``vobjects.providers``.

::

    base             the interface, and its errors
    server_events    the interface for events about servers
    load_balancing   the interface for load balancers
    openstack        the provider for an OpenStack cloud

The distributions ``vobjects-clustering-docker`` and
``vobjects-clustering-simulated`` have further providers.
"""
