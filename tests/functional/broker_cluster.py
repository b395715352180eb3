# SPDX-License-Identifier: Apache-2.0
"""Three RabbitMQ nodes of our own, as one cluster, on this machine.

They have nothing in common with the broker that other tests use: neither
ports nor directories, nor the daemon in which Erlang's nodes find each other.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.functional.processes import (
    TIMEOUT,
    Process,
    ProcessGroup,
    free_port,
    wait_for,
)

#: The scripts below /usr/sbin insist on being root and become rabbitmq.
PROGRAMS = pathlib.Path('/usr/lib/rabbitmq/bin')
SIZE = 3

CONFIGURATION = """\
listeners.tcp.1 = 127.0.0.1:{port}
cluster_formation.peer_discovery_backend = classic_config
cluster_formation.classic_config.nodes.1 = {first}
cluster_formation.randomized_startup_delay_range.min = 0
cluster_formation.randomized_startup_delay_range.max = 1
# As in a network where a lost node is noticed soon.
net_ticktime = 10
"""


def require() -> None:
    """Skip the test if there is no RabbitMQ; fail it where CI is set."""
    if (PROGRAMS / 'rabbitmq-server').exists() and shutil.which('epmd'):
        return
    reason = f'no RabbitMQ in {PROGRAMS}; see `make services`'
    if os.environ.get('CI'):
        pytest.fail(reason)
    pytest.skip(reason)


class Node:
    """A node of the cluster, which may be running.

    :param first: name of the node that the others join
    """

    def __init__(
        self,
        number: int,
        group: ProcessGroup,
        directory: pathlib.Path,
        epmd: int,
        first: str = '',
    ) -> None:
        self.name = f'node{number}@localhost'
        self.port = free_port()
        self._group = group
        self._process: Process | None = None
        self._home = directory / f'node{number}'
        self._home.mkdir()
        (self._home / 'rabbitmq.conf').write_text(
            CONFIGURATION.format(port=self.port, first=first or self.name)
        )
        (self._home / 'plugins').write_text('[].\n')
        self._environment = {
            'PATH': os.environ['PATH'],
            'HOME': str(directory),  # of the cookie, which all have
            'ERL_EPMD_ADDRESS': '127.0.0.1',
            'ERL_EPMD_PORT': str(epmd),
            'RABBITMQ_NODENAME': self.name,
            'RABBITMQ_DIST_PORT': str(free_port()),
            'RABBITMQ_CONF_ENV_FILE': str(self._home / 'none'),
            'RABBITMQ_CONFIG_FILE': str(self._home / 'rabbitmq'),
            'RABBITMQ_ENABLED_PLUGINS_FILE': str(self._home / 'plugins'),
            'RABBITMQ_MNESIA_BASE': str(self._home / 'mnesia'),
            'RABBITMQ_LOG_BASE': str(self._home / 'said'),
            'RABBITMQ_PID_FILE': str(self._home / 'pid'),
            'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS': '+S 1:1 +sbwt none',
            # Has the script become the node, so that a signal is for it.
            'RUNNING_UNDER_SYSTEMD': 'true',
        }

    def start(self) -> None:
        """Start it, and wait until it serves."""
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
        """Kill it, as `kill -9` does."""
        assert self._process is not None
        self._process.kill()
        self._group.remove(self._process)
        self._process = None
        (self._home / 'pid').unlink()

    def control(self, *words: object) -> str:
        """Run rabbitmqctl; return what it prints."""
        done = subprocess.run(
            (
                PROGRAMS / 'rabbitmqctl',
                '--quiet',
                *('--node', self.name),
                *map(str, words),
            ),
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, f'{words}: {done.stdout} {done.stderr}'
        return done.stdout


class Cluster:
    """Nodes that are one broker.

    :ivar url: ``transport_url`` with all of them
    """

    def __init__(self, directory: pathlib.Path) -> None:
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
        for number in range(SIZE):
            first = self.nodes[0].name if self.nodes else ''
            node = Node(number, self.group, directory, epmd, first)
            self.nodes.append(node)
        hosts = [f'guest:guest@127.0.0.1:{node.port}' for node in self.nodes]
        self.url = f'rabbit://{",".join(hosts)}/'

    def start(self) -> None:
        """Start all, and wait until they are one."""
        for node in self.nodes:
            node.start()

        def is_whole() -> bool:
            said = self.nodes[0].control('cluster_status')
            return all(said.count(node.name) > 1 for node in self.nodes)

        wait_for('the nodes are one cluster', is_whole)

    def leader(self, queue: str) -> Node:
        """Return the node that leads a quorum queue."""
        said = self.nodes[0].control('list_queues', 'name', 'type', 'leader')
        found = {
            name: (kind, leader)
            for name, kind, leader in (
                line.split('\t') for line in said.splitlines()[1:]
            )
        }
        kind, leader = found[queue]
        assert kind == 'quorum', found
        (node,) = (node for node in self.nodes if node.name == leader)
        return node


@contextlib.contextmanager
def running(directory: pathlib.Path) -> Iterator[Cluster]:
    """Yield a cluster; nothing of it is left after."""
    require()
    cluster = Cluster(directory)
    try:
        cluster.start()
        yield cluster
    finally:
        # They are of no interest any more, and slow to leave in order.
        for process in cluster.group.processes:
            process.kill()
        cluster.group.processes.clear()
        cluster.group.close()
