# SPDX-License-Identifier: Apache-2.0
"""The ``vobjects`` command-line interface.

::

    main        find a command by its entry point and run it
    parser      parsers of commands: help, examples, suggestions
    arguments   arguments that several commands share
    settings    configuration files, and options that commands require
    output      print data as a table, JSON or YAML
    terminal    messages and progress, coloured on a terminal only
    completion  `vobjects completion`: scripts for bash, zsh and fish
    fleet       `vobjects fleet`: the live processes and their manifests
    lock        `vobjects lock`, `vobjects diff`, `vobjects history`
    matrix      `vobjects matrix`: every microversion, every release
    contract    history, differences and OpenAPI of an API, for the command of
                a service

A service adds commands by entry points of the group ``vobjects.commands``, and
one line of help for each by the group ``vobjects.summaries``.
"""
