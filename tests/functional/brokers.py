# SPDX-License-Identifier: Apache-2.0
"""Transports for tests: one of its own for each deployment.

On RabbitMQ a deployment gets a virtual host that goes at the end; only that
keeps it from hearing others, because queues are named by topic alone. It
takes ``rabbitmqctl`` and the right to use it. ``VOBJECTS_TEST_RABBITMQ`` may
name another broker by an AMQP URL; the virtual host in it is used as it is.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import urllib.parse
import uuid
from collections.abc import Iterator

import pytest

VARIABLE = 'VOBJECTS_TEST_RABBITMQ'
LOCAL = 'rabbit://guest:guest@127.0.0.1:5672/'

#: Seconds for one run of rabbitmqctl.
TIMEOUT = 240


def broker_url() -> str:
    """Return the URL of the broker that tests use."""
    return os.environ.get(VARIABLE, LOCAL)


@functools.cache
def unavailable_reason() -> str | None:
    """Return why RabbitMQ cannot be used; None when it can."""
    parts = urllib.parse.urlsplit(broker_url())
    address = (parts.hostname or '127.0.0.1', parts.port or 5672)
    try:
        socket.create_connection(address, timeout=20).close()
    except OSError as error:
        return f'no RabbitMQ broker at {address[0]}:{address[1]}: {error}'
    if VARIABLE in os.environ:
        return None
    if shutil.which('rabbitmqctl') is None:
        return f'no rabbitmqctl to make virtual hosts; set {VARIABLE}'
    try:
        _control('list_vhosts')
    except (subprocess.SubprocessError, OSError) as error:
        return f'rabbitmqctl cannot be used: {error}; set {VARIABLE}'
    return None


def require() -> None:
    """Skip the test if the broker is missing; fail it where CI is set."""
    reason = unavailable_reason()
    if reason is None:
        return
    if os.environ.get('CI'):
        pytest.fail(reason)
    pytest.skip(reason)


@contextlib.contextmanager
def temporary(transport: str) -> Iterator[str]:
    """Yield a ``transport_url`` that nobody else uses.

    :param transport: ``embedded`` or ``rabbit``
    """
    if transport == 'embedded':
        # Not below pytest's own directories: a socket's path has to be short.
        with tempfile.TemporaryDirectory(prefix='vobjects-rpc-') as name:
            yield f'embedded://{pathlib.Path(name).resolve()}'
        return
    require()
    if VARIABLE in os.environ:
        yield broker_url()
        return
    name = f'vobjects-test-{uuid.uuid4().hex[:12]}'
    _control('add_vhost', name)
    try:
        _control('set_permissions', '-p', name, 'guest', '.*', '.*', '.*')
        yield f'{LOCAL}{name}'
    finally:
        _control('delete_vhost', name)


def close_connections(url: str) -> None:
    """End all connections to a virtual host, as a broker that goes away does.

    :param url: of :func:`temporary`
    """
    name = urllib.parse.urlsplit(url).path.lstrip('/')
    _control('close_all_connections', '--vhost', name, 'by a test')


def entities(url: str) -> set[str]:
    """Return the queues, exchanges and bindings of a virtual host.

    :param url: of :func:`temporary`
    """
    vhost = urllib.parse.urlsplit(url).path.lstrip('/')
    return {
        f'{command}: {line}'
        for command, *columns in (
            ('list_queues', 'name'),
            ('list_exchanges', 'name', 'type'),
            ('list_bindings', 'source_name', 'destination_name'),
        )
        for line in _control(command, '-p', vhost, *columns).splitlines()
    }


def restart() -> None:
    """Have the broker end and start again, for everybody who uses it."""
    _control('stop_app')
    _control('start_app')


def _control(*words: str) -> str:
    """Return what ``rabbitmqctl`` prints."""
    return subprocess.run(
        ('rabbitmqctl', '--quiet', *words),
        check=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    ).stdout
