# SPDX-License-Identifier: Apache-2.0
"""Upgrade of a running Magnum, with the library and without it.

::

    cloud       the services that Magnum calls: Keystone, Glance, Nova, Heat,
                Barbican
    driver      a cluster driver, for Magnum's processes
    deployment  databases, configuration and processes of two releases
    workload    clients that send requests, and compare the effects with them
    upgrade     the steps of a rolling upgrade under a workload
"""
