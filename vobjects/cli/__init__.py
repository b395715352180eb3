# SPDX-License-Identifier: Apache-2.0
"""``vobjects COMMAND``: what an operator types.

::

    main.py        finds a command by its entry point and runs it
    up.py          `vobjects up`: the whole service on this machine
    state.py       the state directory: its lock, logs and configuration
    supervisor.py  starts, watches, restarts and stops processes
    keeper.py      stands between the supervisor and one process
    logs.py        the last lines of a log, and following several
    terminal.py    what is said to the operator, coloured on a terminal
    fleet.py       `vobjects fleet`: who is alive and what they speak

Nothing here imports the API or the engine: their commands are found through
the entry point group ``vobjects.commands``.
"""
