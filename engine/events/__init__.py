# SPDX-License-Identifier: Apache-2.0
"""What happened, for users to read: events at the start and end of actions.

::

    recorder   which actions have events, and of which level
    database   the dispatcher that keeps them where the API lists them

A dispatcher is an entry point of ``vobjects.dispatchers``: a function of a
session, in whose transaction the event happens, and the event.
"""
