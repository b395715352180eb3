# SPDX-License-Identifier: Apache-2.0
"""A cluster of three RabbitMQ nodes on this host.

It shares no ports, directories or Erlang port mapper (epmd) with the broker
that other tests use.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterator

from tests import requirements
from tests.functional.processes import (
    TIMEOUT,
    Process,
    ProcessGroup,
    free_port,
    wait_for,
)
from tests.programs import run_program

#: The scripts in /usr/sbin require root and switch to the user rabbitmq.
PROGRAMS = pathlib.Path('/usr/lib/rabbitmq/bin')
SIZE = 3

CONFIGURATION = """\
listeners.tcp.1 = 127.0.0.1:{port}
cluster_formation.peer_discovery_backend = classic_config
cluster_formation.classic_config.nodes.1 = {first}
cluster_formation.randomized_startup_delay_range.min = 0
cluster_formation.randomized_startup_delay_range.max = 1
# Detect the loss of a node soon.
net_ticktime = 10
"""


def require() -> None:
    """Skip the test without RabbitMQ; fail it in CI."""
    if (PROGRAMS / 'rabbitmq-server').exists() and shutil.which('epmd'):
        return
    reason = f'no RabbitMQ in {PROGRAMS}; see `make services`'
    requirements.missing(reason)


class Node:
    """A node of the cluster, running or not.

    :param first: name of the node that this one joins
    :param configuration: further lines of ``rabbitmq.conf``
    """

    def __init__(
        self,
        number: int,
        group: ProcessGroup,
        directory: pathlib.Path,
        epmd: int,
        first: str = '',
        configuration: str = '',
    ) -> None:
        self.name = f'node{number}@localhost'
        self.port = free_port()
        self._group = group
        self._process: Process | None = None
        self._home = directory / f'node{number}'
        self._home.mkdir()
        (self._home / 'rabbitmq.conf').write_text(
            CONFIGURATION.format(port=self.port, first=first or self.name)
            + configuration
        )
        (self._home / 'plugins').write_text('[].\n')
        self._environment = {
            'PATH': os.environ['PATH'],
            'HOME': str(directory),  # has the Erlang cookie of all nodes
            'ERL_EPMD_ADDRESS': '127.0.0.1',
            'ERL_EPMD_PORT': str(epmd),
            'RABBITMQ_NODENAME': self.name,
            'RABBITMQ_DIST_PORT': str(free_port()),
            'RABBITMQ_CONF_ENV_FILE': str(self._home / 'none'),
            'RABBITMQ_CONFIG_FILE': str(self._home / 'rabbitmq'),
            'RABBITMQ_ENABLED_PLUGINS_FILE': str(self._home / 'plugins'),
            'RABBITMQ_MNESIA_BASE': str(self._home / 'mnesia'),
            'RABBITMQ_LOG_BASE': str(self._home / 'log'),
            'RABBITMQ_PID_FILE': str(self._home / 'pid'),
            'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS': '+S 1:1 +sbwt none',
            # The script executes the node, so that signals reach it.
            'RUNNING_UNDER_SYSTEMD': 'true',
        }

    def start(self) -> None:
        """Start the node and wait until it serves."""
        number = len(list(self._home.glob('*.log')))
        self._process = self._group.start(
            f'{self.name.partition("@")[0]}-{number}',
            '/usr/bin/env',
            *(f'{key}={value}' for key, value in self._environment.items()),
            str(PROGRAMS / 'rabbitmq-server'),
            stop_order=9,
        )
        self.control('wait', '--timeout', str(TIMEOUT), self._home / 'pid')
        self.control('await_startup', '--timeout', str(TIMEOUT))

    def kill(self) -> None:
        """Send SIGKILL and wait."""
        assert self._process is not None
        self._process.kill()
        self._group.remove(self._process)
        self._process = None
        (self._home / 'pid').unlink()

    def control(self, *words: object) -> str:
        """Run rabbitmqctl and return its output."""
        completed = run_program(
            (
                PROGRAMS / 'rabbitmqctl',
                '--quiet',
                *('--node', self.name),
                *map(str, words),
            ),
            env=self._environment,
            timeout=TIMEOUT,
        )
        output = f'{words}: {completed.stdout} {completed.stderr}'
        assert completed.returncode == 0, output
        return completed.stdout


class BrokerCluster:
    """A cluster of nodes.

    :param size: number of nodes
    :param configuration: further lines of ``rabbitmq.conf``
    :ivar url: ``transport_url`` with all nodes
    """

    def __init__(
        self,
        directory: pathlib.Path,
        size: int = SIZE,
        configuration: str = '',
    ) -> None:
        self.group = ProcessGroup(directory, str(directory))
        epmd = free_port()
        cookie = directory / '.erlang.cookie'
        cookie.write_text('vobjects-test')
        cookie.chmod(0o400)
        self.group.start(
            'epmd',
            shutil.which('epmd') or '',
            *('-port', str(epmd), '-address', '127.0.0.1'),
            stop_order=10,
        )
        self.nodes: list[Node] = []
        for number in range(size):
            first = self.nodes[0].name if self.nodes else ''
            node = Node(
                number, self.group, directory, epmd, first, configuration
            )
            self.nodes.append(node)
        self.tls: dict[str, str] = {}
        hosts = [f'guest:guest@127.0.0.1:{node.port}' for node in self.nodes]
        self.url = f'pyamqp://{",".join(hosts)}/'

    def start(self) -> None:
        """Start all nodes and wait until they form a cluster."""
        for node in self.nodes:
            node.start()

        def is_complete() -> bool:
            status = self.nodes[0].control('cluster_status')
            return all(status.count(node.name) > 1 for node in self.nodes)

        wait_for('the nodes form a cluster', is_complete)

    def leader(self, queue: str) -> Node:
        """Return the node that leads a quorum queue."""
        output = self.nodes[0].control('list_queues', 'name', 'type', 'leader')
        queues = {
            name: (type_, leader)
            for name, type_, leader in (
                line.split('\t') for line in output.splitlines()[1:]
            )
        }
        type_, leader = queues[queue]
        assert type_ == 'quorum', queues
        (node,) = (node for node in self.nodes if node.name == leader)
        return node


@contextlib.contextmanager
def running(
    directory: pathlib.Path, size: int = SIZE, configuration: str = ''
) -> Iterator[BrokerCluster]:
    """Run a cluster."""
    require()
    cluster = BrokerCluster(directory, size, configuration)
    try:
        cluster.start()
        yield cluster
    finally:
        # A graceful shutdown would be slow.
        for process in cluster.group.processes:
            process.kill()
        cluster.group.processes.clear()
        cluster.group.close()
