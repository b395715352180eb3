# SPDX-License-Identifier: Apache-2.0
"""Run the clustering service on one machine: ``vobjects up``.

::

    up            the command: the API, its engines and their configuration
    welcome       what it tells the user when the service is ready
    state         the state directory: its lock, logs and configuration
    supervisor    start, monitor, restart and stop processes
    allocator     bound the free memory that a process keeps
    subreaper     run one command, and leave no process behind
    log_setup     set up the logging of a process
    logs          read the end of a log, and follow several logs
    config_check  check configuration files, and log them at start
    who_uses      `vobjects api who-uses`: the clients of a microversion
"""

from __future__ import annotations

#: Port of the API, unless it is configured.
DEFAULT_PORT = 8777

#: Group of entry points: the name of a server, such as that of a provider, and
#: a function of the configuration that connects to it, and raises
#: :exc:`vobjects.exceptions.Unreachable`.
SERVERS = 'vobjects.servers'

#: Provider or queue service -> how to install it.
INSTALLATIONS = {
    'docker': "pip install 'vobjects-clustering[docker]'",
    'simulated': 'pip install vobjects-clustering-simulated',
}

#: The service's commands in `vobjects --help`.
SUMMARIES = {
    'up': 'run the whole service on this machine',
    'api': 'run the REST API; print its history, differences, OpenAPI',
    'engine': 'run an engine',
    'db': 'create and upgrade the database',
    'config': 'check configuration files',
    'queue': 'post and show messages of the queue service',
}
