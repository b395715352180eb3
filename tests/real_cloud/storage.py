# SPDX-License-Identifier: Apache-2.0
"""Databases, the virtual host and the Redis database of the cloud."""

from __future__ import annotations

import os
import pathlib
import subprocess

import redis
import sqlalchemy

from tests import databases
from tests.functional import brokers
from tests.real_cloud import services
from tests.real_cloud.settings import Settings

#: File that Octavia's no-op network driver always uses.
_OCTAVIA_FILE = pathlib.Path('/tmp/octavia-network-noop.db')


class StorageError(Exception):
    """Raised when a server cannot be used."""


def create(settings: Settings) -> None:
    """Create empty databases and the virtual host.

    :raises StorageError: a server is missing, or Redis has other data
    """
    reasons = [databases.unavailable_reason('mysql')]
    reasons += [brokers.unavailable_reason(), _redis_problem(settings)]
    problems = [reason for reason in reasons if reason]
    if problems:
        raise StorageError('; '.join(problems))
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
            size = client.dbsize()
    except redis.RedisError as error:
        return f'no Redis server at {settings.redis}: {error}'
    if size:
        return f'{settings.redis} is not empty: choose another --redis'
    return ''


def _administrator() -> sqlalchemy.Connection:
    engine = sqlalchemy.create_engine(
        databases.server_url('mysql'),
        isolation_level='AUTOCOMMIT',
        poolclass=sqlalchemy.NullPool,
    )
    return engine.connect()
