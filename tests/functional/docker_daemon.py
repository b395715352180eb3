# SPDX-License-Identifier: Apache-2.0
"""A real Docker daemon for tests, without registry.

It listens on a Unix socket, and with TLS on a port of 127.0.0.1. Its image
:data:`IMAGE` contains only busybox. Containers have no network, or one that
they share with nothing else on this machine.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import shutil
import socket
import tarfile
import tempfile
from collections.abc import Iterator
from typing import Any

import docker
import psutil
import requests

from tests import certificates, requirements
from tests.functional.processes import (
    Process,
    ProcessGroup,
    free_port,
    is_alive,
    log_excerpt,
    wait_for,
)

IMAGE = 'busybox:test'

#: What the daemon shows for an image without a tag.
_NO_TAG = '<none>:<none>'

#: Commands of busybox in the image.
_COMMANDS = ('cat', 'sh', 'sleep', 'true')

#: Instructions of the image. A process with ID 1 ignores SIGTERM by default.
_CHANGES = [
    """CMD ["sh", "-c", "trap 'exit 0' TERM; sleep 3600 & wait"]""",
    'VOLUME /data',
]

#: The command of a daemon whose containers have no network.
_ISOLATED = (
    *('dockerd', '--iptables=false', '--bridge=none'),
    '--storage-driver=vfs',
)

#: The command of a daemon in a network namespace of its own.
_CONNECTED = (
    *('--net', 'sh', '-c', 'busybox ip link set lo up && exec "$0" "$@"'),
    'dockerd',
)


def require() -> None:
    """Skip the test if no daemon can run; fail it in CI."""
    requirements.programs('dockerd', 'containerd', 'busybox', 'unshare')
    if os.geteuid() != 0:
        requirements.missing('dockerd needs root')


class DaemonEnded(Exception):
    """The daemon has ended by itself; the message is from its log."""


class Daemon:
    """A daemon, which runs until :meth:`close`.

    :param directory: for its state; a short path, because it has sockets
    :param has_network: whether containers have a network; nobody reaches the
        port of such a daemon
    :ivar url: URL of its Unix socket
    :ivar tls_url: URL of its port with TLS
    :ivar port: its port with TLS
    """

    def __init__(
        self, directory: pathlib.Path, *, has_network: bool = False
    ) -> None:
        self.directory = directory
        self._has_network = has_network
        self._socket = directory / 'docker.sock'
        self.url = f'unix://{self._socket}'
        self.port = free_port()
        self.tls_url = f'tcp://127.0.0.1:{self.port}'
        self.authority = certificates.CertificateAuthority(directory)
        self._certificate = self.authority.sign('daemon', '127.0.0.1')
        self._client = self.authority.sign('client')
        self._group = ProcessGroup(directory, str(directory))
        self._process: Process | None = None
        self._was_killed = False
        self.start()
        self._import_image()

    def start(self) -> None:
        """Start the daemon and wait until it answers."""
        certificate, key = self._certificate
        state = {'data-root': 'data', 'exec-root': 'exec', 'pidfile': 'pid'}
        self._process = self._group.start(
            'dockerd',
            # The kernel unmounts its file systems when it is gone.
            shutil.which('unshare') or '',
            *('--mount', '--propagation', 'private'),
            *(_CONNECTED if self._has_network else _ISOLATED),
            f'--host={self.url}',
            *(f'--host={self.tls_url}', '--tlsverify'),
            f'--tlscacert={self.authority.file}',
            f'--tlscert={certificate}',
            f'--tlskey={key}',
            *(f'--{name}={self.directory / v}' for name, v in state.items()),
        )
        process = self._process

        def answers() -> bool:
            if not process.is_alive:
                self._group.remove(process)
                self._process = None
                raise DaemonEnded(log_excerpt(process.log))
            # The library leaks a socket if the daemon does not listen.
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(str(self._socket)) != 0:
                    return False
            with contextlib.suppress(requests.RequestException):
                return bool(self.client.ping())
            return False

        wait_for('the Docker daemon answers', answers)

    def stop(self) -> None:
        """Stop the daemon, and with it all containers."""
        assert self._process is not None
        assert self._process.stop() == 0
        self._group.remove(self._process)
        self._process = None

    def kill(self) -> None:
        """Kill the daemon; its containers keep running for now.

        When it starts again, it ends them.
        """
        assert self._process is not None
        file = self.directory / 'exec/containerd/containerd.pid'
        containerd = int(file.read_text())
        self._was_killed = True
        self._process.kill()
        wait_for('containerd has ended', lambda: not is_alive(containerd))
        # A process that is not reaped, which depends on the machine, would be
        # alive for the next daemon.
        file.unlink(missing_ok=True)
        self._group.remove(self._process)
        self._process = None

    @property
    def network_namespace(self) -> pathlib.Path:
        """The file of the daemon's network namespace."""
        assert self._process is not None
        return pathlib.Path(f'/proc/{self._process.pid}/ns/net')

    @functools.cached_property
    def client(self) -> Any:
        """A client that does not use this project."""
        return docker.APIClient(base_url=self.url, version='1.41', timeout=60)

    def tls_options(self) -> dict[str, object]:
        """Return the options ``[provider_docker]`` for its port with TLS."""
        certificate, key = self._client
        return {
            'tls': True,
            'tls_ca_file': str(self.authority.file),
            'tls_cert_file': certificate,
            'tls_key_file': key,
        }

    def containers(self) -> list[dict[str, Any]]:
        """Return all containers, with the names of Docker's API."""
        containers = self.client.containers(all=True)
        return [
            self.client.inspect_container(container['Id'])
            for container in containers
        ]

    def statuses(self) -> list[str]:
        """Return the status of each container, sorted."""
        return sorted(
            container['State']['Status'] for container in self.containers()
        )

    def remove(self, container_id: str) -> None:
        """Remove a container without the knowledge of the service."""
        self.client.remove_container(container_id, force=True, v=True)

    def left(self) -> list[str]:
        """Return the containers, volumes and images of tests."""
        if self._process is None:
            return ['the daemon is stopped']
        volumes = self.client.volumes()['Volumes'] or []
        images = {
            tag
            for image in self.client.images()
            for tag in image['RepoTags'] or [_NO_TAG]
        }
        return [
            *(container['Name'] for container in self.containers()),
            *(volume['Name'] for volume in volumes),
            *images.difference({IMAGE}),
        ]

    def clear(self) -> None:
        """Remove all that tests have left; start the daemon if necessary."""
        if self._process is None:
            self.start()
        for container in self.client.containers(all=True):
            self.remove(container['Id'])
        self.client.prune_volumes()
        for image in self.client.images():
            for tag in image['RepoTags'] or []:
                if tag not in (IMAGE, _NO_TAG):
                    self.client.remove_image(tag)

    def close(self) -> None:
        """Remove the containers and stop the daemon."""
        self.clear()
        self.client.close()
        if self._was_killed:
            # Of containers that a killed daemon had not started completely,
            # Docker leaves the shim.
            self.stop()
            for shim in self._group.members():
                with contextlib.suppress(psutil.NoSuchProcess):
                    shim.kill()
        problems = self._group.close()
        assert not problems, '\n'.join(problems)

    def _import_image(self) -> None:
        archive = root_file_system(self.directory / 'image.tar')
        repository, _, tag = IMAGE.partition(':')
        self.client.import_image(
            str(archive), repository=repository, tag=tag, changes=_CHANGES
        )


def root_file_system(path: pathlib.Path) -> pathlib.Path:
    """Write the root file system of the image to a tar file."""
    program = shutil.which('busybox')
    assert program is not None
    with tarfile.open(path, 'w') as archive:
        archive.add(os.path.realpath(program), '/bin/busybox')
        for name in _COMMANDS:
            link = tarfile.TarInfo(f'/bin/{name}')
            link.type, link.linkname = tarfile.SYMTYPE, 'busybox'
            archive.addfile(link)
    return path


@contextlib.contextmanager
def running(*, has_network: bool = False) -> Iterator[Daemon]:
    """Run a daemon with an empty state; skip the test if that fails."""
    require()
    # Paths of sockets have to be short.
    directory = pathlib.Path(tempfile.mkdtemp(prefix='docker-'))
    try:
        try:
            daemon = Daemon(directory, has_network=has_network)
        except DaemonEnded as ended:
            # For example in a container without privileges.
            requirements.missing(f'no Docker daemon can run here: {ended}')
        try:
            yield daemon
        finally:
            daemon.close()
    finally:
        shutil.rmtree(directory)
