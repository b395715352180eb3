# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime
import logging
import pathlib
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import clock, connections, database, models, reachability
from tests import databases, tcp_proxy, waiting
from tests.unit.engine.conftest import configuration
from vobjects import exceptions


def profile(**values: object) -> models.Profile:
    return models.Profile(**{'name': 'p', 'type': 't', 'spec': {}, **values})


def test_values_round_trip(
    any_database: database.Database,
) -> None:
    spec = {'text': 'NUL \0, half \ud800, \U0001f600', 'deep': [{'n': None}]}
    any_database.write(
        lambda session: session.add(profile(name='\U0001f600', spec=spec))
    )
    with any_database.reader() as session:
        row = session.scalars(sqlalchemy.select(models.Profile)).one()
    assert row.spec == spec
    assert row.name == '\U0001f600'
    assert row.meta == {}


def test_names_that_differ_in_case_are_different(
    any_database: database.Database,
) -> None:
    any_database.write(lambda session: session.add(profile(name='Web')))
    with any_database.reader() as session:
        names = session.scalars(
            sqlalchemy.select(models.Profile.name).where(
                models.Profile.name == 'web'
            )
        ).all()
    assert names == []


def test_clock_is_utc_and_moves_within_a_transaction(
    any_database: database.Database,
) -> None:
    with any_database.writer() as session:
        first = clock.now(session)
        threading.Event().wait(0.01)
        second = clock.now(session)
    assert first < second
    here = datetime.datetime.now(datetime.UTC)
    assert abs((here - second).total_seconds()) < 60


def test_insert_loads_the_time_of_the_database(
    any_database: database.Database,
) -> None:
    def body(session: orm.Session) -> models.Profile:
        row = profile()
        session.add(row)
        session.flush()
        return row

    row = any_database.write(body)
    assert row.created_at.tzinfo is datetime.UTC


def test_write_that_raises_is_rolled_back(
    any_database: database.Database,
) -> None:
    def body(session: orm.Session) -> None:
        session.add(profile())
        session.flush()
        raise KeyError

    with pytest.raises(KeyError):
        any_database.write(body)
    with any_database.reader() as session:
        assert session.scalars(sqlalchemy.select(models.Profile)).all() == []


def test_write_after_a_deadlock_is_retried(
    any_database: database.Database,
) -> None:
    attempts = []

    def body(session: orm.Session) -> int:
        attempts.append(session)
        if len(attempts) == 1:
            raise oslo_db_exception.DBDeadlock
        return len(attempts)

    assert any_database.write(body) == 2


def test_writers_that_read_first_never_lose_an_update(
    any_database: database.Database,
) -> None:
    id_ = models.new_id()
    any_database.write(
        lambda session: session.add(profile(id=id_, spec={'n': 0}))
    )

    def body(session: orm.Session) -> None:
        row = session.get(models.Profile, id_, with_for_update=True)
        assert row is not None
        row.spec = {'n': row.spec['n'] + 1}

    def many(_: int) -> None:
        for _ in range(10):
            any_database.write(body)

    waiting.in_threads(many, range(4))
    with any_database.reader() as session:
        row = session.get(models.Profile, id_)
        assert row is not None
        assert row.spec == {'n': 40}


def test_foreign_keys_are_enforced(any_database: database.Database) -> None:
    orphan = models.Cluster(
        name='c', profile_id=models.new_id(), status='INIT'
    )
    with pytest.raises(oslo_db_exception.DBReferenceError):
        any_database.write(lambda session: session.add(orphan))


@pytest.mark.parametrize(
    ('connection', 'kind', 'message'),
    [
        ('nonsense', database.UnusableError, 'not a URL'),
        (
            'nothing://x/y',
            database.UnusableError,
            'nothing://x/y cannot be used',
        ),
        (
            'sqlite:////proc/none/at/all',
            exceptions.Unreachable,
            'cannot be used',
        ),
        (
            'postgresql+psycopg2://u:secret@127.0.0.1:1/x',
            exceptions.Unreachable,
            r'u:\*\*\*@',
        ),
        (
            # The driver takes the end of the password for a host.
            'postgresql+psycopg2://u:x@secret@127.0.0.1:1/x',
            exceptions.Unreachable,
            r'u:\*\*\*@.*special characters .* escaped',
        ),
        (
            'mysql+pymysql://u:secret@127.0.0.1:port/x',
            database.UnusableError,
            "not a URL .*'port'",
        ),
        (
            'mysql+pymysql://u@127.0.0.1:1/x?no_such=secret',
            database.UnusableError,
            r'no_such=\*\*\* cannot be used: .*no_such',
        ),
    ],
)
def test_unusable_database_error_masks_the_password(
    connection: str, kind: type[Exception], message: str
) -> None:
    conf = configuration(connection)
    conf.set_override('max_retries', 0, 'database')
    with pytest.raises(kind, match=message) as caught:
        database.Database(conf)
    assert 'secret' not in str(caught.value)


@pytest.mark.parametrize(
    'url',
    [
        'postgresql+psycopg2://u:secret@db/x',
        'postgresql+psycopg2://u:x@secret@db/x',
        'postgresql+psycopg2://db/x?user=u&password=secret',
        'mysql+pymysql://db/x?ssl_key_password=secret',
        'sqlite:////x.sqlite?key=secret',
    ],
)
@pytest.mark.parametrize('error', ['full', 'unknown host "secret@db"'])
def test_outage_of_a_database_is_logged_without_secrets(
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    error: str,
) -> None:
    monkeypatch.setattr(reachability, 'CALM', 0.0)
    watched = reachability.Reachability(sqlalchemy.make_url(url))
    watched.note_refusal(OSError(error))
    watched.note_write()
    refused, accepted = caplog.messages
    assert 'accepts no changes: ' in refused
    assert 'accepts changes again' in accepted
    assert 'secret' not in caplog.text


@pytest.mark.parametrize(
    ('scheme', 'module', 'extra'),
    [
        ('postgresql+psycopg2', 'psycopg2', 'postgresql'),
        ('mysql+pymysql', 'pymysql', 'mysql'),
    ],
)
def test_database_whose_driver_is_missing_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, scheme: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    conf = configuration(f'{scheme}://u:secret@127.0.0.1/x')
    with pytest.raises(
        database.UnusableError,
        match=rf"pip install 'vobjects-clustering\[{extra}\]'",
    ):
        database.Database(conf)


def test_server_ends_a_transaction_whose_process_is_frozen(
    any_database: database.Database,
) -> None:
    queries = {
        'postgresql': 'SHOW idle_in_transaction_session_timeout',
        'mysql': 'SELECT @@idle_transaction_timeout',
    }
    query = queries.get(any_database.dialect)
    if query is None:
        pytest.skip('SQLite has no server')
    for _ in range(2):  # the second uses a connection that was rolled back
        with any_database.reader() as session:
            shown = session.scalar(sqlalchemy.text(query))
            assert str(shown).removesuffix('s') == str(
                connections.IDLE_TIMEOUT
            )


#: Statements that return a session's number, and that end it.
ENDINGS = {
    'postgresql': (
        'SELECT pg_backend_pid()',
        'SELECT pg_terminate_backend({})',
    ),
    'mysql': ('SELECT CONNECTION_ID()', 'KILL {}'),
}


def test_connection_closed_while_idle_is_replaced(
    any_database: database.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    if any_database.dialect not in ENDINGS:
        pytest.skip('SQLite has no server')
    mine, end = ENDINGS[any_database.dialect]

    def number(session: orm.Session) -> int:
        return int(session.scalar(sqlalchemy.text(mine)) or 0)

    any_database.close()  # so that its pools have these two, and no other
    with any_database.reader() as session:
        read = number(session)
    written = any_database.write(number)
    administrator = sqlalchemy.create_engine(any_database.engine.url)
    with administrator.connect() as other:
        for ended in {read, written}:
            other.execute(sqlalchemy.text(end.format(ended)))
    administrator.dispose()
    monkeypatch.setattr(connections, 'PING_AFTER', 0.0)
    with any_database.reader() as session:
        assert number(session) not in (read, written)
    assert any_database.write(number) not in (read, written)


def test_reader_sees_rows_that_were_committed_meanwhile(
    any_database: database.Database,
) -> None:
    def rename(session: orm.Session, name: str) -> None:
        session.merge(models.Profile(id='p', name=name, type='t', spec={}))

    query = sqlalchemy.select(models.Profile.name)
    any_database.write(lambda session: rename(session, 'before'))
    with any_database.reader() as session:
        assert session.scalar(query) == 'before'
    any_database.write(lambda session: rename(session, 'after'))
    with any_database.reader() as session:
        assert session.scalar(query) == 'after'


SERVERS = (
    pytest.param('postgresql', marks=pytest.mark.postgresql),
    pytest.param('mysql', marks=pytest.mark.mysql),
)


@pytest.fixture(params=SERVERS)
def behind_proxy(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[tuple[database.Database, tcp_proxy.TcpProxy]]:
    """A database, and a proxy that can cut it off."""
    with databases.temporary(request.param, tmp_path) as text:
        url = sqlalchemy.make_url(text)
        with tcp_proxy.running(str(url.host), int(url.port or 0)) as proxy:
            url = url.set(host='127.0.0.1', port=proxy.port)
            opened = database.Database(
                configuration(url.render_as_string(hide_password=False))
            )
            yield opened, proxy
            opened.close()


def select_one(session: orm.Session) -> int:
    return int(session.scalar(sqlalchemy.text('SELECT 1')) or 0)


def read_one(opened: database.Database) -> int:
    with opened.reader() as session:
        return select_one(session)


def column_one(opened: database.Database) -> int:
    with opened.read_connection() as connection:
        return int(connection.scalar(sqlalchemy.text('SELECT 1')) or 0)


@pytest.mark.parametrize(
    'use', [read_one, column_one, lambda opened: opened.write(select_one)]
)
def test_lost_database_is_unreachable_until_it_answers(
    behind_proxy: tuple[database.Database, tcp_proxy.TcpProxy],
    caplog: pytest.LogCaptureFixture,
    use: Callable[[database.Database], int],
) -> None:
    opened, proxy = behind_proxy
    assert use(opened) == 1
    proxy.cut()
    # The first loses its connection; the others do not get one.
    for _ in range(5):
        with pytest.raises(exceptions.Unreachable, match='does not answer'):
            use(opened)
    proxy.restore()
    assert use(opened) == 1
    outage, recovery = [
        r for r in caplog.records if r.name == 'engine.db.reachability'
    ]
    assert (outage.levelno, recovery.levelno) == (
        logging.WARNING,
        logging.WARNING,
    )
    assert 'does not answer: ' in outage.getMessage()
    assert 'answers again, after ' in recovery.getMessage()
    assert '\n' not in outage.getMessage() + recovery.getMessage()
    assert outage.exc_info is None


def test_log_failure_of_a_lost_database_logs_at_debug_level(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = exceptions.Unreachable('the database does not answer: closed')
    database.log_failure(logging.getLogger('told'), error, 'The sweep failed')
    assert not [r for r in caplog.records if r.levelno > logging.DEBUG]


def test_log_failure_of_another_error_logs_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    try:
        raise KeyError('ours')
    except KeyError as error:
        database.log_failure(
            logging.getLogger('told'), error, 'The sweep failed'
        )

    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info
