# SPDX-License-Identifier: Apache-2.0
"""The ``vobjects`` command-line interface.

::

    main.py        finds a command by its entry point and runs it
    up.py          `vobjects up`: the whole service on this machine
    state.py       the state directory: its lock, logs and configuration
    supervisor.py  starts, monitors, restarts and stops processes
    keeper.py      stands between the supervisor and one process
    logs.py        reads the end of a log, and follows several logs
    terminal.py    writes messages, coloured on a terminal only
    fleet.py       `vobjects fleet`: the live processes and their manifests
    lock.py        `vobjects lock`, `vobjects diff`, `vobjects history`
    matrix.py      `vobjects matrix`: every microversion, every release
    contract.py    `vobjects api history`, `diff` and `openapi`
    usage.py       `vobjects api who-uses`: the clients of a microversion
    settings.py    checks configuration files

Nothing here imports the API or the engine: their commands are found through
the entry point group ``vobjects.commands``.
"""
