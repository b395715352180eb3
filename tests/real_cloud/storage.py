# SPDX-License-Identifier: Apache-2.0
"""Databases, the virtual host and the Redis database of the cloud."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess

import psutil
import redis
import sqlalchemy

from tests import databases
from tests.functional import brokers
from tests.real_cloud import services
from tests.real_cloud.settings import Settings

#: File that Octavia's no-op network driver always uses.
_OCTAVIA_FILE = pathlib.Path('/tmp/octavia-network-noop.db')


#: The Redis server that is used by default.
REDIS_SERVER = 'redis://127.0.0.1:6379'

#: Key in a database of Redis that names the cloud.
_OWNER = 'vobjects-openstack'

#: Databases of Redis that may be used by default: all but the first.
_REDIS_DATABASES = range(1, 16)


class StorageError(Exception):
    """Raised when a server cannot be used."""


class MissingServer(StorageError):
    """Raised when a server does not answer."""


def empty_redis() -> str:
    """Return the URL of an empty database of the default Redis server."""
    urls = [f'{REDIS_SERVER}/{number}' for number in _REDIS_DATABASES]
    for url in urls:
        # A missing server is an error of create().
        with (
            contextlib.suppress(redis.RedisError),
            redis.Redis.from_url(url) as client,
        ):
            if not client.dbsize():
                return url
    return urls[0]


def check(settings: Settings) -> None:
    """Check that all servers answer.

    :raises MissingServer: a server does not answer
    """
    reasons = [databases.unavailable_reason('mysql')]
    reasons += [brokers.unavailable_reason(), _redis_problem(settings)]
    problems = [reason for reason in reasons if reason]
    if problems:
        raise MissingServer('; '.join(problems))


def create(settings: Settings) -> None:
    """Create empty databases and the virtual host.

    :raises StorageError: Redis has other data
    """
    _claim_redis(settings)
    _drop_databases(settings)
    with _administrator() as connection:
        for name in _names(settings):
            connection.exec_driver_sql(
                f'CREATE DATABASE {name} CHARACTER SET utf8mb4'
            )
    if brokers.VARIABLE not in os.environ:
        brokers.create_vhost(settings.prefix)


def delete(settings: Settings) -> None:
    """Delete what :func:`create` created, and the content of Redis."""
    _drop_databases(settings)
    if brokers.VARIABLE not in os.environ:
        try:
            brokers.delete_vhost(settings.prefix)
        except subprocess.CalledProcessError as error:
            if 'no_such_vhost' not in str(error.stderr):
                raise
    with redis.Redis.from_url(settings.redis) as client:
        client.flushdb()
    # Another cloud on this machine uses it, too.
    if not _is_open(_OCTAVIA_FILE):
        _OCTAVIA_FILE.unlink(missing_ok=True)


def _drop_databases(settings: Settings) -> None:
    with _administrator() as connection:
        for name in _names(settings):
            connection.exec_driver_sql(f'DROP DATABASE IF EXISTS {name}')


def _names(settings: Settings) -> list[str]:
    return [
        settings.database_name(name)
        for service in services.SERVICES
        for name in service.databases
    ]


def _redis_problem(settings: Settings) -> str:
    try:
        with redis.Redis.from_url(settings.redis) as client:
            client.ping()
    except redis.RedisError as error:
        return f'no Redis server at {settings.redis}: {error}'
    return ''


def _claim_redis(settings: Settings) -> None:
    """Empty the database of Redis if it is this cloud's, or empty."""
    with redis.Redis.from_url(settings.redis) as client:
        is_own = client.get(_OWNER) == settings.state.encode()
        if client.dbsize() and not is_own:
            raise StorageError(
                f'{settings.redis} is not empty: choose another --redis'
            )
        client.flushdb()
        client.set(_OWNER, settings.state)


def _is_open(path: pathlib.Path) -> bool:
    """Tell whether a process uses a file."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(file.path == str(path) for file in process.open_files()):
                return True
    return False


def _administrator() -> sqlalchemy.Connection:
    engine = sqlalchemy.create_engine(
        databases.server_url('mysql'),
        isolation_level='AUTOCOMMIT',
        poolclass=sqlalchemy.NullPool,
    )
    return engine.connect()
