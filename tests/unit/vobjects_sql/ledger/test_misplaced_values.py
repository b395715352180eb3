# SPDX-License-Identifier: Apache-2.0
"""A value that its column cannot have harms only its own row.

Only SQLite stores such values, for example after a mistake in an SQL shell.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy

from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet
from vobjects_sql.ledger import (
    LedgerStatements,
    LedgerTables,
    SqlLedger,
    create_tables,
)

MEMBER = fleet.Member(
    id=str(uuid.uuid4()),
    binary='engine',
    host='one',
    topic='engine',
    release='1.0',
    manifest=Manifest({'Thing': '1.1'}),
)

OTHER = dataclasses.replace(
    MEMBER, id=str(uuid.uuid4()), manifest=Manifest({'Thing': '1.0'})
)


@dataclasses.dataclass(frozen=True)
class TextOf:
    """Text with any bytes."""

    stored: bytes


VALUES: dict[str, Any] = {
    'text that is not UTF-8': TextOf(b'a\xff'),
    'blob': b'\xff\x00',
    'blob of text': b'engine',
    'text': 'abc',
    'integer': 7,
    'real': -1.5,
    'list': '[1]',
    'object': '{"manifest": 1}',
    'objects': '[{}]',
    'deep': '[' * 100_000,
    'null': None,
}

READERS: dict[str, Callable[[SqlLedger], Any]] = {
    'get': lambda ledger: ledger.get(),
    'members': lambda ledger: ledger.members(10),
    'unaware': lambda ledger: ledger.unaware(10**6, MEMBER.id),
    'report': lambda ledger: ledger.report(MEMBER),
    'is_first': lambda ledger: ledger.is_first(MEMBER.id),
    'manifest': lambda ledger: ledger.manifest(OTHER.manifest.digest),
    'expire': lambda ledger: ledger.expire(10_000.0),
    'hold': lambda ledger: ledger.hold(MEMBER.topic, 'me', 'of a test'),
    'held': lambda ledger: ledger.get(),
    'finalize': lambda ledger: ledger.finalize(),
    'leave': lambda ledger: ledger.leave(str(uuid.uuid4())),
}

TABLES = LedgerTables()


def cases(table: sqlalchemy.Table) -> list[Any]:
    """Return the columns and values that the constraints of a table permit."""
    return [
        pytest.param(column.name, value, id=f'{column.name}, {kind}')
        for column in table.columns
        for kind, value in VALUES.items()
        if value is not None or column.nullable
    ]


def new_ledger(engine: sqlalchemy.Engine) -> SqlLedger:
    """Return a ledger that has read nothing yet.

    All have the same tables: to compile statements takes longest.
    """
    return SqlLedger(engine, LedgerStatements(TABLES))


@pytest.fixture(scope='module')
def database() -> Iterator[sqlalchemy.Engine]:
    """A database with empty tables."""
    engine = sqlalchemy.create_engine(
        'sqlite://', poolclass=sqlalchemy.pool.StaticPool
    )
    create_tables(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def engine(database: sqlalchemy.Engine) -> sqlalchemy.Engine:
    """A database with two members, a hold, and stored groups."""
    with database.begin() as connection:
        for table in (TABLES.members, TABLES.state):
            connection.execute(sqlalchemy.delete(table))
    ledger = new_ledger(database)
    ledger.report(MEMBER)
    ledger.report(OTHER)
    ledger.hold(MEMBER.topic, 'me', 'of a test')
    ledger.report(MEMBER)
    return database


def write(
    engine: sqlalchemy.Engine,
    table: sqlalchemy.Table,
    column: str,
    value: Any,
    id_: Any,
) -> None:
    is_text = isinstance(value, TextOf)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            f'UPDATE {table.name} SET "{column}" ='
            f' {"CAST(? AS TEXT)" if is_text else "?"} WHERE id = ?',
            (value.stored if is_text else value, id_),
        )


def check_readers(engine: sqlalchemy.Engine) -> None:
    for name, read in READERS.items():
        ledger = new_ledger(engine)
        read(ledger)
        assert MEMBER.id in {each.id for each in ledger.members(10)}, name
        examples = {
            each.id for group in ledger.get().groups for each in group.examples
        }
        assert MEMBER.id in examples, name


@pytest.mark.parametrize(('column', 'value'), cases(TABLES.members))
def test_value_of_a_member_harms_no_other_and_expires(
    engine: sqlalchemy.Engine, column: str, value: Any
) -> None:
    write(engine, TABLES.members, column, value, OTHER.id)
    check_readers(engine)

    if column != 'heartbeat':
        with engine.begin() as connection:
            connection.exec_driver_sql(
                f'UPDATE {TABLES.members.name} SET heartbeat = ?'
                ' WHERE id != ?',
                ('2020-01-01 00:00:00.000000', MEMBER.id),
            )
    new_ledger(engine).expire(1000.0)
    with engine.begin() as connection:
        rows = connection.exec_driver_sql(
            f'SELECT id FROM {TABLES.members.name}'
        )
        assert rows.scalars().all() == [MEMBER.id]


@pytest.mark.parametrize(
    ('column', 'value'),
    # Another ID is that of another row.
    [case for case in cases(TABLES.state) if case.values[0] != 'id'],
)
def test_value_of_the_state_harms_no_member(
    engine: sqlalchemy.Engine, column: str, value: Any
) -> None:
    write(engine, TABLES.state, column, value, 1)
    check_readers(engine)

    ledger = new_ledger(engine)
    view = ledger.hold(MEMBER.topic, 'me', 'of a test')
    assert view.held == OTHER.manifest
    assert view.hold_origin is not None
    assert ledger.finalize().held is None


@pytest.mark.parametrize(
    'change',
    ['DELETE FROM {}', 'UPDATE {} SET id = 2', 'UPDATE {} SET id = 0'],
)
@pytest.mark.parametrize('is_first', [False, True])
def test_lost_state_begins_after_what_members_have_seen(
    engine: sqlalchemy.Engine, change: str, is_first: bool
) -> None:
    ledger = new_ledger(engine)
    seen = 1 if is_first else ledger.get().generation
    ledger.report(dataclasses.replace(OTHER, seen=seen))
    with engine.begin() as connection:
        connection.exec_driver_sql(change.format(TABLES.state.name))
        connection.execute(
            sqlalchemy.update(TABLES.members).values(seen_generation=seen)
        )

    report = ledger.report(MEMBER)

    assert report.has_changed
    assert report.view is not None
    assert report.view.count() == 2
    assert report.view.generation > seen
    unaware = ledger.unaware(report.view.generation, MEMBER.id)
    assert [process.id for process in unaware.examples] == [OTHER.id]
    check_readers(engine)


@pytest.mark.parametrize(
    'column', ['held_manifest', 'hold_origin', 'group_counts']
)
def test_unreadable_state_is_logged_with_its_column(
    engine: sqlalchemy.Engine, caplog: pytest.LogCaptureFixture, column: str
) -> None:
    write(engine, TABLES.state, column, '[', 1)

    check_readers(engine)

    assert f'in the ledger: {column}: ' in caplog.text
