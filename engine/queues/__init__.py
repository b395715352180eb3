# SPDX-License-Identifier: Apache-2.0
"""Message queues for users: entry points of ``vobjects.queues``.

::

    base    the interface of queue services
    zaqar   OpenStack's queue service Zaqar, using version 2 of its API

The distribution ``vobjects-clustering-simulated`` has the default queues.
"""
