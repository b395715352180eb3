# SPDX-License-Identifier: Apache-2.0
"""Run Senlin 16, the service that ours replaces.

``tools/senlin`` installs Senlin on first use. It runs as documented: one
``senlin-api``, ``senlin-conductor`` and ``senlin-engine`` process on MariaDB
and RabbitMQ, with default logging and the cloud of Senlin's test suite.

It does not use Keystone. Two filters are removed from Senlin's pipeline:
``authtoken``, whose headers the client sends instead, and ``trust``, which
would call the conductor again for each request.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

import sqlalchemy

from tests import databases
from tests.functional import brokers
from tests.functional.processes import ProcessGroup, free_port

ROOT = pathlib.Path(__file__).parents[1]

#: The programs that always run.
PROGRAMS = ('senlin-engine', 'senlin-conductor', 'senlin-api')

#: The headers that keystonemiddleware would set.
IDENTITY = {
    'X-User-Id': 'user',
    'X-Project-Id': 'project',
    'X-Roles': 'member',
}

_CONFIGURATION = """\
[DEFAULT]
transport_url = {transport}
cloud_backend = openstack_test
max_clusters_per_project = 1000000
max_nodes_per_cluster = 20000
[senlin_api]
bind_host = 127.0.0.1
bind_port = {port}
api_paste_config = {paste}
[receiver]
host = clustering.example.org
port = 8777
[database]
connection = {database}
"""

#: Stores the credential that an engine needs to create a server.
_CREDENTIAL = sqlalchemy.text(
    'INSERT INTO credential (user, project, cred)'
    ' VALUES (:user, :project, :cred)'
)


class SenlinServer(NamedTuple):
    """A running Senlin.

    :ivar pids: process IDs of the programs
    :ivar port: port of the API on this host
    :ivar database: URL of the database
    """

    pids: list[int]
    port: int
    database: str


@contextlib.contextmanager
def running(*more: str) -> Iterator[SenlinServer]:
    """Run Senlin with a temporary database and virtual host.

    :param more: further programs to run, such as ``senlin-health-manager``
    """
    with (
        tempfile.TemporaryDirectory(prefix='senlin-') as name,
        databases.temporary('mysql', pathlib.Path(name)) as database,
        brokers.temporary('rabbit') as transport,
    ):
        programs = _programs()
        state = pathlib.Path(name)
        port = free_port()
        config = state / 'senlin.conf'
        paste = state / 'api-paste.ini'
        paste.write_text(_pipeline(programs))
        config.write_text(
            _CONFIGURATION.format(
                transport=transport, port=port, paste=paste, database=database
            )
        )
        group = ProcessGroup(state, str(config))
        config_option = f'--config-file={config}'
        subprocess.run(
            (programs / 'senlin-manage', config_option, 'db_sync'),
            env=group.environment(),
            stdout=subprocess.DEVNULL,
            check=True,
        )
        _trust(database)
        pids = [
            group.start(program, str(programs / program), config_option).pid
            for program in (*PROGRAMS, *more)
        ]
        try:
            yield SenlinServer(pids, port, database)
        finally:
            group.close()


def _programs() -> pathlib.Path:
    """Return the directory of Senlin's programs; install it if needed."""
    result = subprocess.run(
        (ROOT / 'tools' / 'senlin', sys.executable),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return pathlib.Path(result.stdout.strip())


def _pipeline(programs: pathlib.Path) -> str:
    """Return Senlin's API pipeline without the Keystone filters."""
    paste = (programs.parent / 'etc' / 'senlin' / 'api-paste.ini').read_text()
    for filter_name in ('authtoken', 'trust'):
        paste = paste.replace(f' {filter_name} ', ' ', 1)
    return paste


def _trust(database: str) -> None:
    """Store the trust between the user of the requests and Senlin."""
    engine = sqlalchemy.create_engine(database)
    with engine.begin() as connection:
        connection.execute(
            _CREDENTIAL,
            {
                'user': IDENTITY['X-User-Id'],
                'project': IDENTITY['X-Project-Id'],
                'cred': json.dumps({'openstack': {'trust': 'trust'}}),
            },
        )
    engine.dispose()
