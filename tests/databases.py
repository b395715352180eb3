# SPDX-License-Identifier: Apache-2.0
"""Temporary databases for tests.

By default, tests use the PostgreSQL and MariaDB servers of this host. The
environment variables ``VOBJECTS_TEST_POSTGRESQL`` and ``VOBJECTS_TEST_MYSQL``
select other servers by the URL of an administrator.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import uuid
from collections.abc import Iterator

import pytest
import sqlalchemy

from tests import requirements

#: Backend -> (environment variable, default URL of an administrator).
SERVERS = {
    'postgresql': (
        'VOBJECTS_TEST_POSTGRESQL',
        'postgresql+psycopg2://postgres@127.0.0.1:5432/postgres',
    ),
    'mysql': (
        'VOBJECTS_TEST_MYSQL',
        'mysql+pymysql://root@127.0.0.1:3306/',
    ),
}

#: Parameters of fixtures and tests; servers have marks.
BACKENDS = (
    'sqlite',
    pytest.param('postgresql', marks=pytest.mark.postgresql),
    pytest.param('mysql', marks=pytest.mark.mysql),
)


def server_url(backend: str) -> sqlalchemy.URL:
    """Return the URL of the administrator of a server."""
    variable, default = SERVERS[backend]
    return sqlalchemy.make_url(os.environ.get(variable, default))


@functools.cache
def unavailable_reason(backend: str) -> str | None:
    """Return why a server is unavailable; None if it is available."""
    try:
        with _administration(backend):
            return None
    except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
        reason = str(error).splitlines()[0]
        return f'no {backend} server at {server_url(backend)}: {reason}'


def require(backend: str) -> None:
    """Skip the test if the server is unavailable; fail it in CI."""
    reason = None if backend == 'sqlite' else unavailable_reason(backend)
    if reason is None:
        return
    requirements.missing(reason)


@contextlib.contextmanager
def temporary(backend: str, directory: pathlib.Path) -> Iterator[str]:
    """Yield the URL of an empty database, which is dropped at the end.

    :param backend: ``sqlite``, ``postgresql`` or ``mysql``
    :param directory: for an SQLite file
    """
    name = f'vobjects_test_{uuid.uuid4().hex[:12]}'
    if backend == 'sqlite':
        yield f'sqlite:///{directory / name}.sqlite'
        return
    require(backend)
    with _administration(backend) as connection:
        connection.exec_driver_sql(f'CREATE DATABASE {name}')
        if backend == 'postgresql':
            # Only a crash of the server itself would lose a commit.
            connection.exec_driver_sql(
                f'ALTER DATABASE {name} SET synchronous_commit = off'
            )
    try:
        url = server_url(backend).set(database=name)
        yield url.render_as_string(hide_password=False)
    finally:
        force = ' WITH (FORCE)' if backend == 'postgresql' else ''
        with _administration(backend) as connection:
            connection.exec_driver_sql(f'DROP DATABASE {name}{force}')


@contextlib.contextmanager
def _administration(backend: str) -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine(
        server_url(backend), isolation_level='AUTOCOMMIT'
    )
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()
