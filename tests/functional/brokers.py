# SPDX-License-Identifier: Apache-2.0
"""Temporary transports for tests.

On RabbitMQ, each deployment gets a virtual host, because queues are named by
topic only. This needs permission to run ``rabbitmqctl``. The environment
variable ``VOBJECTS_TEST_RABBITMQ`` selects another broker by its URL; tests
then use the virtual host in the URL.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import urllib.parse
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests import requirements
from tests.programs import run_program

VARIABLE = 'VOBJECTS_TEST_RABBITMQ'
LOCAL = 'guest:guest@127.0.0.1:5672/'

#: Timeout of rabbitmqctl in seconds.
TIMEOUT = 240

#: Virtual hosts that one start of rabbitmqctl creates, or deletes: each start
#: takes half a second of CPU time.
BATCH = 4

#: Names of virtual hosts that no test has used, and of those to delete.
_UNUSED: list[str] = []
_USED: list[str] = []


def broker_url() -> str:
    """Return the URL of the broker that tests use."""
    return os.environ.get(VARIABLE, f'rabbit://{LOCAL}')


@functools.cache
def unavailable_reason() -> str | None:
    """Return why RabbitMQ is unavailable; None if it is available."""
    parts = urllib.parse.urlsplit(broker_url())
    address = (parts.hostname or '127.0.0.1', parts.port or 5672)
    try:
        socket.create_connection(address, timeout=20).close()
    except OSError as error:
        return f'no RabbitMQ broker at {address[0]}:{address[1]}: {error}'
    if VARIABLE in os.environ:
        return None
    if shutil.which('rabbitmqctl') is None:
        return f'no rabbitmqctl to create virtual hosts; set {VARIABLE}'
    try:
        _control('list_vhosts')
    except (subprocess.SubprocessError, OSError) as error:
        return f'rabbitmqctl cannot be used: {error}; set {VARIABLE}'
    return None


def require() -> None:
    """Skip the test if the broker is unavailable; fail it in CI."""
    reason = unavailable_reason()
    if reason is None:
        return
    requirements.missing(reason)


def create_vhost(name: str) -> None:
    """Create a virtual host that the user guest may use."""
    _create_vhosts([name])


def delete_vhost(name: str) -> None:
    """Delete a virtual host with its queues."""
    _control('delete_vhost', name)


@contextlib.contextmanager
def temporary(transport: str) -> Iterator[str]:
    """Yield a ``transport_url`` for one deployment.

    :param transport: scheme of the URL: ``embedded``, or that of a driver for
        RabbitMQ
    """
    if transport == 'embedded':
        # pytest's directories are too long for paths of sockets.
        with tempfile.TemporaryDirectory(prefix='vobjects-rpc-') as name:
            yield f'embedded://{pathlib.Path(name).resolve()}'
        return
    require()
    if VARIABLE in os.environ:
        _, _, address = broker_url().partition('://')
        yield f'{transport}://{address}'
        return
    if not _UNUSED:
        _delete_used_vhosts()
        _UNUSED.extend(
            f'vobjects-test-{uuid.uuid4().hex[:12]}' for _ in range(BATCH)
        )
        _create_vhosts(_UNUSED)
    name = _UNUSED.pop()
    try:
        yield f'{transport}://{LOCAL}{name}'
    finally:
        _USED.append(name)


@contextlib.contextmanager
def temporary_with_user(transport: str) -> Iterator[str]:
    """Yield the URL of a temporary virtual host with a new user.

    :param transport: scheme of the URL
    """
    require()
    if VARIABLE in os.environ:
        pytest.skip(f'{VARIABLE} is set: cannot create users')
    with temporary(transport) as url:
        name = urllib.parse.urlsplit(url).path.lstrip('/')
        password = uuid.uuid4().hex
        user = {'name': name, 'password': password, 'tags': ''}
        _import({'users': [user], **_permissions(name, name)})
        try:
            yield url.replace('guest:guest', f'{name}:{password}')
        finally:
            _control('delete_user', name)


def change_password(url: str, password: str = '') -> None:
    """Change the password of a user.

    The broker checks it when a client connects, and keeps connections.

    :param url: of :func:`temporary_with_user`
    :param password: the new password; empty: that in the URL
    """
    parts = urllib.parse.urlsplit(url)
    _control(
        'change_password',
        parts.username or '',
        password or parts.password or '',
    )


def forbid_declarations(url: str) -> None:
    """Forbid a user to create queues and exchanges.

    :param url: of :func:`temporary_with_user`
    """
    name = urllib.parse.urlsplit(url).path.lstrip('/')
    _control('set_permissions', '-p', name, name, '^$', '.*', '.*')


def forbid_messages(url: str) -> None:
    """Forbid a user to send messages, except to the default exchange.

    :param url: of :func:`temporary_with_user`
    """
    name = urllib.parse.urlsplit(url).path.lstrip('/')
    _control('set_permissions', '-p', name, name, '.*', '^amq.default$', '.*')


def limit_queues(url: str, length: int) -> None:
    """Let the broker reject messages for queues that are full.

    :param url: of :func:`temporary`
    :param length: maximum number of messages in each queue
    """
    name = urllib.parse.urlsplit(url).path.lstrip('/')
    policy = {'max-length': length, 'overflow': 'reject-publish'}
    _control('set_policy', '-p', name, 'limit', '.*', json.dumps(policy))


def close_connections(url: str) -> None:
    """Close all connections to a virtual host.

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


def queues(url: str) -> list[str]:
    """Return the names of the queues of a virtual host.

    :param url: of :func:`temporary`
    """
    vhost = urllib.parse.urlsplit(url).path.lstrip('/')
    return _control('list_queues', '-p', vhost, 'name').splitlines()


def declarations(url: str) -> set[str]:
    """Return the properties of a virtual host's exchanges and used queues.

    IDs in names are replaced. Replies need no acknowledgement, so the limit
    of their consumers is without meaning.

    :param url: of :func:`temporary`
    """
    vhost = urllib.parse.urlsplit(url).path.lstrip('/')

    def rows(*words: str) -> Iterator[list[str]]:
        listed = _control(words[0], '-p', vhost, *words[1:])
        for line in listed.splitlines():
            yield line.split('\t')

    consumers = {
        row[0]: row[1]
        for row in rows('list_consumers', 'queue_name', 'prefetch_count')
    }
    found = [
        f'queue {" ".join(row)} limit {consumers[row[0]]}'
        for row in rows(
            *('list_queues', 'name', 'durable', 'auto_delete', 'arguments')
        )
        if row[0] in consumers
    ]
    found += [
        f'exchange {" ".join(row)}'
        for row in rows(
            *('list_exchanges', 'name', 'type', 'durable', 'auto_delete')
        )
    ]
    return {
        re.sub('(queue reply_.*) limit .*', r'\1', text)
        for text in (re.sub('[0-9a-f]{32}', 'ID', line) for line in found)
    }


def consumers(url: str, queue: str) -> int:
    """Return the number of consumers of a queue."""
    vhost = url.rpartition('/')[2]
    rows = _control('list_queues', '-q', '-p', vhost, 'name', 'consumers')
    counts = dict(row.split('\t') for row in rows.splitlines())
    return int(counts.get(queue, 0))


def _permissions(user: str, *vhosts: str) -> dict[str, Any]:
    """Return definitions that give a user all permissions."""
    regexes = dict.fromkeys(('configure', 'write', 'read'), '.*')
    return {
        'permissions': [
            {'user': user, 'vhost': vhost, **regexes} for vhost in vhosts
        ]
    }


def _create_vhosts(names: Sequence[str]) -> None:
    """Create virtual hosts that the user guest may use."""
    vhosts = [{'name': name} for name in names]
    _import({'vhosts': vhosts, **_permissions('guest', *names)})


def _delete_used_vhosts() -> None:
    """Do for each what ``rabbitmqctl delete_vhost`` does for one."""
    if not _USED:
        return
    names = ', '.join(f'<<"{name}">>' for name in _USED)
    _USED.clear()
    _control(
        'eval',
        f'[ok = rabbit_vhost:delete(V, <<"tests">>) || V <- [{names}]].',
    )


@atexit.register
def _delete_all_vhosts() -> None:
    _USED.extend(_UNUSED)
    _UNUSED.clear()
    _delete_used_vhosts()


def _import(definitions: dict[str, Any]) -> None:
    """Create what definitions describe, with one start of rabbitmqctl."""
    _control('import_definitions', content=json.dumps(definitions))


def _control(*words: str, content: str = '') -> str:
    """Return the output of ``rabbitmqctl``.

    :param content: its standard input
    """
    return run_program(
        ('rabbitmqctl', '--quiet', *words),
        check=True,
        input=content,
        timeout=TIMEOUT,
    ).stdout
