# SPDX-License-Identifier: Apache-2.0
"""The ``vobjects`` command-line interface.

A service builds its own commands with ``Parser`` and ``Command``.

::

    main        find a command by its entry point and run it
    parser      parsers of commands: help, examples, suggestions
    arguments   arguments that several commands share
    settings    configuration files, and options that commands require
    special_files  reject FIFOs, devices and folders in the place of files
    output      print data as a table, JSON or YAML
    collector   let the garbage collector skip the modules that a command loads
    terminal    messages and progress, coloured on a terminal only
    completion  `vobjects completion`: scripts for bash, zsh and fish
    fleet       `vobjects fleet`: the live processes and their manifests
    fleet_commands  runs its commands
    lock        `vobjects lock`, `vobjects diff`, `vobjects history`
    lock_commands  runs their commands

A service adds commands by entry points of the group ``vobjects.commands``, and
one line of help for each by the group ``vobjects.summaries``.
"""

from vobjects import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
