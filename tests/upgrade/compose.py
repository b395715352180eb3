# SPDX-License-Identifier: Apache-2.0
"""The stack of ``etc/docker/compose.yaml`` on a real Docker daemon.

:func:`with_monitoring` adds ``compose.monitoring.yaml`` and
:func:`with_keystone` adds ``compose.keystone.yaml``.

The images are built from Debian's packages, without a registry and without a
network: see ``tools/debian-image``. :data:`OLD` emulates an older release.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import requests

from tests import downloads, requirements, tcp_proxy
from tests.functional import docker_daemon
from tests.functional.docker_daemon import Daemon
from tests.functional.keystone import ADMIN, KEY, Keystone
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.prometheus import Prometheus
from tests.programs import run_program

ROOT = pathlib.Path(__file__).parents[2]
DOCKER = ROOT / 'etc/docker'
IMAGES = pathlib.Path(__file__).parent / 'images'

#: Timeout of ``tools/debian-image`` in seconds.
DOWNLOAD_TIMEOUT = 1200

NEW = 'vobjects-clustering'
OLD = 'vobjects-clustering:old'

#: Service of an API -> its port on the machine of the daemon.
APIS = {'api-1': 8777, 'api-2': 8778}

ENGINES = ('engine-1', 'engine-2')

MONITORING = DOCKER / 'compose.monitoring.yaml'
PROMETHEUS_PORT = 9090

#: Seconds between two scrapes, see ``etc/prometheus/compose.yaml``.
SCRAPE_INTERVAL = 15

KEYSTONE_PORT = 5000

#: Variables of ``compose.keystone.yaml``.
KEYSTONE_VARIABLES = {
    'KEYSTONE_ADMIN_PASSWORD': ADMIN,
    'KEYSTONE_SERVICE_PASSWORD': 'secret',
    'ENCRYPTION_KEYS': KEY,
}


class Stack:
    """Containers of the stack.

    :ivar urls: service of an API -> its URL on this machine
    :ivar variables: further environment variables of Docker Compose
    """

    def __init__(self, daemon: Daemon, urls: dict[str, str]) -> None:
        self.daemon = daemon
        self.urls = urls
        self.variables = {'COMPOSE_FILE': str(DOCKER / 'compose.yaml')}

    def compose(self, *words: str, image: str = NEW) -> str:
        """Run a command of Docker Compose and return its output."""
        completed = run_program(
            ('docker-compose', *words),
            env={
                **os.environ,
                **self.variables,
                'DOCKER_HOST': self.daemon.url,
                'VOBJECTS_IMAGE': image,
                'POSTGRESQL_IMAGE': 'postgresql',
                'RABBITMQ_IMAGE': 'rabbitmq',
            },
            timeout=2 * TIMEOUT,
        )
        assert completed.returncode == 0, self._describe(words, completed)
        return completed.stdout

    def up(self, image: str) -> None:
        """Start everything and wait until both APIs serve requests."""
        self.compose('up', '--detach', image=image)
        for service in APIS:
            self.wait_until_served(service)

    def replace(self, service: str, image: str) -> None:
        """Run a service with another image, and wait until it is healthy."""
        self.compose('up', '--detach', '--no-deps', service, image=image)
        wait_for(f'{service} is healthy', lambda: self.is_healthy(service))

    def run(self, *words: str) -> str:
        """Run a ``vobjects`` command in a new container, and remove it."""
        options = ('--rm', '--no-deps', '-T')
        return self.compose('run', *options, 'expand', *words)

    def is_healthy(self, service: str) -> bool:
        """Return whether the container of a service passes its check."""
        container = self.inspect(service)
        return bool(container['State']['Health']['Status'] == 'healthy')

    def inspect(self, service: str) -> dict[str, Any]:
        """Return the container of a service, as Docker's API shows it."""
        (container,) = self.daemon.client.containers(
            all=True,
            filters={
                'label': [
                    'com.docker.compose.project=vobjects',
                    f'com.docker.compose.service={service}',
                    'com.docker.compose.oneoff=False',
                ]
            },
        )
        details: dict[str, Any] = self.daemon.client.inspect_container(
            container['Id']
        )
        return details

    def wait_until_served(self, service: str) -> None:
        """Wait until an API reaches an engine."""

        def is_served() -> bool:
            with contextlib.suppress(requests.RequestException):
                url = f'{self.urls[service]}/healthcheck'
                return requests.get(url, timeout=TIMEOUT).ok
            return False

        wait_for(f'{service} serves requests', is_served)

    def _describe(
        self,
        words: tuple[str, ...],
        completed: subprocess.CompletedProcess[str],
    ) -> str:
        lines = [f'{" ".join(words)}: {completed.returncode}']
        lines.append((completed.stdout + completed.stderr)[-2000:])
        for container in self.daemon.client.containers(all=True):
            lines.append(f'{container["Names"]}: {container["Status"]}')
            log = self.daemon.client.logs(container['Id'], tail=12)
            lines.append(log.decode(errors='replace'))
        return '\n'.join(lines)


def _build(daemon: Daemon, tag: str, path: pathlib.Path, **more: Any) -> None:
    """Build an image.

    :param path: directory of the context
    """
    lines = []
    for line in daemon.client.build(
        path=str(path),
        tag=tag,
        rm=True,
        decode=True,
        **more,
    ):
        lines.append(line.get('stream') or json.dumps(line))
        assert 'error' not in line, ''.join(lines[-40:])


def _build_images(daemon: Daemon, manifest: str) -> None:
    """Build the images of all services.

    :param manifest: of the old release, in JSON
    """
    files = downloads.require('debian-image', DOWNLOAD_TIMEOUT)
    daemon.client.import_image(
        str(files / 'debian.tar'), repository='debian', tag='latest'
    )
    for name in ('python', 'postgresql', 'rabbitmq'):
        _build(
            daemon,
            name,
            files if name == 'python' else IMAGES,
            dockerfile=str(IMAGES / f'{name}.Dockerfile'),
        )
    _build(
        daemon,
        NEW,
        ROOT,
        dockerfile=str(DOCKER / 'Dockerfile'),
        buildargs={'PYTHON': 'python'},
    )
    context = daemon.directory / 'old'
    context.mkdir()
    (context / 'old.json').write_text(manifest)
    _build(daemon, OLD, context, dockerfile=str(IMAGES / 'old.Dockerfile'))


@contextlib.contextmanager
def running(manifest: str) -> Iterator[Stack]:
    """Run the stack with the image of the old release.

    :param manifest: of the old release, in JSON
    """
    requirements.programs('docker-compose', 'mmdebstrap')
    with (
        docker_daemon.running(has_network=True) as daemon,
        contextlib.ExitStack() as proxies,
    ):
        _build_images(daemon, manifest)
        urls = {}
        for service, port in APIS.items():
            proxy = proxies.enter_context(
                tcp_proxy.running('127.0.0.1', port, daemon.network_namespace)
            )
            urls[service] = f'http://127.0.0.1:{proxy.port}'
        stack = Stack(daemon, urls)
        stack.up(OLD)
        # The end of the daemon removes the containers.
        yield stack


@contextlib.contextmanager
def with_monitoring(stack: Stack) -> Iterator[Prometheus]:
    """Add Prometheus to a running stack of the new release.

    Debian has no Grafana: the image with its name contains only busybox.
    """
    daemon = stack.daemon
    prometheus, grafana = re.findall(
        r'image: \$\{\w+:-(\S+)\}', MONITORING.read_text()
    )
    _build(
        daemon,
        prometheus,
        IMAGES,
        dockerfile=str(IMAGES / 'prometheus.Dockerfile'),
    )
    daemon.client.tag(docker_daemon.IMAGE, *grafana.rsplit(':', 1))
    stack.variables = {
        'COMPOSE_FILE': f'{DOCKER / "compose.yaml"}:{MONITORING}'
    }
    stack.up(NEW)
    with tcp_proxy.running(
        '127.0.0.1', PROMETHEUS_PORT, daemon.network_namespace
    ) as proxy:
        url = f'http://127.0.0.1:{proxy.port}'
        yield Prometheus(url, SCRAPE_INTERVAL)
    stack.compose('rm', '--stop', '--force', 'prometheus', 'grafana')


@contextlib.contextmanager
def with_keystone(stack: Stack) -> Iterator[Keystone]:
    """Add Keystone to a running stack of the new release."""
    _build(
        stack.daemon,
        'vobjects-keystone',
        DOCKER / 'keystone',
        buildargs={'PYTHON': 'python'},
    )
    files = (DOCKER / 'compose.yaml', DOCKER / 'compose.keystone.yaml')
    stack.variables = {
        'COMPOSE_FILE': ':'.join(map(str, files)),
        **KEYSTONE_VARIABLES,
    }
    stack.up(NEW)
    with tcp_proxy.running(
        '127.0.0.1', KEYSTONE_PORT, stack.daemon.network_namespace
    ) as proxy:
        server = Keystone(f'http://127.0.0.1:{proxy.port}/v3')
        try:
            yield server
        finally:
            server.close()
