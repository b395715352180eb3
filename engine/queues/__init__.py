# SPDX-License-Identifier: Apache-2.0
"""Message queues for users: entry points of ``vobjects.queues``.

::

    base       the interface of queue services
    simulated  simulated queues, stored in a table that all engines share
    zaqar      OpenStack's queue service Zaqar, using version 2 of its API
"""
