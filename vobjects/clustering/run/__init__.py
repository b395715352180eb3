# SPDX-License-Identifier: Apache-2.0
"""Run the clustering service on one machine: ``vobjects up``.

::

    up           the command: the API, its engines and their configuration
    state        the state directory
    supervisor   start, monitor, restart and stop processes
    subreaper    run one command, and leave no process behind
    logs         read and follow logs
    usage        the command ``vobjects api who-uses``
"""
