# SPDX-License-Identifier: Apache-2.0
"""Events at the start and at the end of actions, for users to read.

::

    recorder   decides which actions have events, and their levels
    database   the dispatcher that stores events for the API

A dispatcher is an entry point of ``vobjects.dispatchers``: a function that
receives the session of the current transaction and the event.
"""
