# SPDX-License-Identifier: Apache-2.0
"""Objects in a database, of any age, on each kind of server."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy

from tests import databases
from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import added, exceptions, fields, objects
from vobjects.objects import manifest
from vobjects.rpc import Member
from vobjects_sql.stored import (
    CurrentCap,
    LazyStoredObject,
    StoredColumn,
    StoredObject,
    StoredText,
    StoredTooNew,
    scan,
    text,
    verdict,
    versions_column,
)


@objects.register
class StoredDisk(objects.Object):
    VERSION = '1.1'
    fields = {
        'size': fields.IntegerField(),
        'kind': added('1.1', fields.StringField(default='ssd')),
    }


@objects.register
class StoredBackup(objects.Request):
    VERSION = '1.2'
    VERSION_MAP = {'1.3': '1.1', '1.5': '1.2'}
    fields = {
        'name': fields.StringField(),
        'disks': fields.ListOfObjectsField('StoredDisk', default=[]),
        'force': added('1.1', fields.BooleanField(default=False)),
        'note': added('1.2', fields.StringField(nullable=True)),
    }


#: Release -> its manifest, oldest first.
RELEASES = {
    'r1': {'StoredBackup': '1.0', 'StoredDisk': '1.0'},
    'r2': {'StoredBackup': '1.1', 'StoredDisk': '1.0'},
    'r3': {'StoredBackup': '1.1', 'StoredDisk': '1.1'},
    'r4': {'StoredBackup': '1.2', 'StoredDisk': '1.1'},
}


class Cap:
    """A cap that a test sets."""

    def __init__(self) -> None:
        self.versions: dict[str, str] | None = None

    def __call__(self) -> dict[str, str] | None:
        return self.versions


cap = Cap()
#: Zero is a key, too.
KEY: Any = {'primary_key': True, 'autoincrement': False}

metadata = sqlalchemy.MetaData()
indexed = sqlalchemy.Table(
    'indexed',
    metadata,
    sqlalchemy.Column('id', sqlalchemy.Integer, **KEY),
    sqlalchemy.Column('backup', StoredObject(StoredBackup, cap, 'r1')),
    versions_column('backup', 'backup_versions'),
)
plain = sqlalchemy.Table(
    'plain',
    metadata,
    sqlalchemy.Column('host', sqlalchemy.String(20), primary_key=True),
    sqlalchemy.Column('id', sqlalchemy.Integer, **KEY),
    sqlalchemy.Column('done', sqlalchemy.Boolean, default=False),
    sqlalchemy.Column('backup', StoredObject(StoredBackup, cap, 'r1')),
)
TABLES = (indexed, plain)

#: The objects of a table, unread.
LAZY: sqlalchemy.ColumnElement[Any] = sqlalchemy.type_coerce(
    indexed.c.backup, LazyStoredObject('r1')
)


@pytest.fixture(scope='module', params=databases.BACKENDS)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[sqlalchemy.Engine]:
    """A database of each kind in turn."""
    directory = tmp_path_factory.mktemp('stored')
    with databases.temporary(request.param, directory) as url:
        engine = sqlalchemy.create_engine(url)
        metadata.create_all(engine)
        yield engine
        engine.dispose()


@pytest.fixture
def connection(engine: sqlalchemy.Engine) -> Iterator[sqlalchemy.Connection]:
    """A connection whose changes the database forgets."""
    with engine.connect() as connection:
        yield connection


@pytest.fixture(autouse=True)
def newest_versions() -> Iterator[None]:
    cap.versions = None
    yield
    manifest.emulate(None)


def insert(
    connection: sqlalchemy.Connection, release: str, row: int, **values: Any
) -> None:
    """Store an object as a fleet of some release does."""
    cap.versions = RELEASES[release]
    backup = StoredBackup(name=f'b{row}', **values)
    connection.execute(indexed.insert().values(id=row, backup=backup))
    connection.execute(plain.insert().values(host='h', id=row, backup=backup))


def read_all(connection: sqlalchemy.Connection) -> list[StoredBackup]:
    query = sqlalchemy.select(indexed.c.backup).order_by(indexed.c.id)
    return list(connection.scalars(query))


def rows_read_backward(connection: sqlalchemy.Connection) -> int:
    """Return how many entries of indexes MariaDB has read for a session."""
    status = "SHOW SESSION STATUS LIKE 'Handler_read_prev'"
    return int(connection.exec_driver_sql(status).one()[1])


#: More rows than any test has; a test may pass others.
read_rows = functools.partial(scan.scan, limit=1000, count_limit=1000)


def counts(census: scan.Census) -> dict[str, int]:
    return {count.versions: count.rows for count in census.counts}


def test_object_is_stored_at_the_cap_and_read_as_the_newest_version(
    connection: sqlalchemy.Connection,
) -> None:
    insert(connection, 'r1', 1, disks=[StoredDisk(size=1)])
    insert(connection, 'r4', 2, disks=[StoredDisk(size=2)], note='n')
    connection.execute(indexed.insert().values(id=3, backup=None))
    old, new, none = read_all(connection)
    assert (old.name, old.force, old.note) == ('b1', False, None)
    assert (old.disks[0].size, old.disks[0].kind) == (1, 'ssd')
    assert (new.name, new.note) == ('b2', 'n')
    assert none is None


def test_object_when_the_cap_cannot_hold_it_then_not_stored(
    connection: sqlalchemy.Connection,
) -> None:
    with pytest.raises(exceptions.LossyDowngrade) as caught:
        insert(connection, 'r1', 1, force=True)
    # As an RPC server names the class to its caller.
    assert type(caught.value).__name__ == 'LossyDowngrade'
    assert type(caught.value).__module__ == 'vobjects.exceptions'
    assert 'StoredBackup.force=True needs StoredBackup 1.1' in str(
        caught.value
    )


def test_object_when_of_another_type_then_not_stored(
    connection: sqlalchemy.Connection,
) -> None:
    with pytest.raises(sqlalchemy.exc.StatementError, match='no StoredBackup'):
        connection.execute(indexed.insert().values(id=1, backup={'name': 'b'}))


def test_row_when_newer_than_the_reader_then_error_names_version_and_release(
    connection: sqlalchemy.Connection,
) -> None:
    insert(connection, 'r2', 1, force=True)
    manifest.emulate(manifest.Manifest(RELEASES['r1']))
    with pytest.raises(StoredTooNew) as caught:
        read_all(connection)
    assert 'StoredBackup 1.1 (this release: 1.0)' in str(caught.value)
    assert 'newer release than r1' in str(caught.value)


def test_lazy_row_when_newer_than_the_reader_then_only_its_object_raises(
    connection: sqlalchemy.Connection,
) -> None:
    insert(connection, 'r1', 1)
    insert(connection, 'r2', 2, force=True)
    query = sqlalchemy.select(LAZY).order_by(indexed.c.id)
    r1 = manifest.Manifest(RELEASES['r1'])
    older, newer = connection.scalars(query)
    assert (newer.read().name, newer.read().force) == ('b2', True)
    assert older.read(r1).name == 'b1'
    assert newer.versions == 'StoredBackup 1.1'
    assert newer.primitive()['versioned_object.data']['force'] is True
    with pytest.raises(StoredTooNew) as caught:
        newer.read(r1)
    assert 'StoredBackup 1.1 (this release: 1.0)' in str(caught.value)
    assert 'newer release than r1' in str(caught.value)
    manifest.emulate(r1)
    with pytest.raises(StoredTooNew):
        newer.read()
    assert older.read().name == 'b1'


def test_lazy_column_stores_the_same_text(
    connection: sqlalchemy.Connection,
) -> None:
    lazy = sqlalchemy.table(
        'indexed',
        sqlalchemy.column('id'),
        sqlalchemy.column('backup', LazyStoredObject()),
    )
    backup = StoredBackup(name='b1', force=True)
    with pytest.raises(exceptions.LossyDowngrade, match='force=True needs'):
        StoredText.of(backup, RELEASES['r1'])
    value = StoredText.of(backup, RELEASES['r2'])
    connection.execute(lazy.insert().values(id=1, backup=value))
    connection.execute(lazy.insert().values(id=2, backup=None))
    insert(connection, 'r2', 3, force=True)
    first, none, third = connection.scalars(
        sqlalchemy.select(LAZY).order_by(indexed.c.id)
    )
    assert str(first) == str(value) == str(third).replace('b3', 'b1')
    assert none is None
    assert read_all(connection)[0].force is True
    with pytest.raises(sqlalchemy.exc.StatementError, match='no StoredText'):
        connection.execute(lazy.insert().values(id=4, backup=backup))


def test_scan_counts_rows_by_version(
    connection: sqlalchemy.Connection,
) -> None:
    insert(connection, 'r1', 1, disks=[StoredDisk(size=1)])
    insert(connection, 'r2', 2)
    insert(connection, 'r2', 3)
    insert(connection, 'r3', 4, disks=[StoredDisk(size=1)])
    for table in TABLES:
        census = read_rows(connection, StoredColumn(table.c.backup))
        assert census.not_read is None
        assert counts(census) == {
            'StoredBackup 1.0,StoredDisk 1.0': 1,
            'StoredBackup 1.1': 2,
            'StoredBackup 1.1,StoredDisk 1.1': 1,
        }


def test_scan_when_text_has_no_list_of_versions_then_reads_it(
    connection: sqlalchemy.Connection,
) -> None:
    """As from a release without StoredObject, or another service."""
    other = {
        'nova_object.name': 'Old',
        'nova_object.namespace': 'nova',
        'nova_object.version': '1.4',
        'nova_object.data': {'user': {'version': '9.9'}},
    }
    for row, value in enumerate([json.dumps(other), '{}', 'no json', '[1']):
        connection.execute(
            indexed.insert().values(
                id=row, backup=sqlalchemy.literal(value, sqlalchemy.Text())
            )
        )
    census = read_rows(connection, StoredColumn(indexed.c.backup))
    assert counts(census) == {'Old 1.4': 1, text.UNREADABLE: 3}
    answer = verdict.decide('r1', {'Old': '1.4'}, [census])
    assert answer.can_roll_back is None
    assert 'for example 3; 2; 1' in answer.not_read[0]


def test_scan_when_rows_are_left_out_by_the_declaration_then_not_counted(
    connection: sqlalchemy.Connection,
) -> None:
    insert(connection, 'r1', 1)
    insert(connection, 'r2', 2)
    connection.execute(plain.update().where(plain.c.id == 2).values(done=True))
    column = StoredColumn(plain.c.backup, plain.c.done.is_(False))
    assert counts(read_rows(connection, column)) == {'StoredBackup 1.0': 1}


@pytest.mark.parametrize('rows', [4, 5, 6, 12])
def test_scan_when_a_limit_is_reached_then_says_what_it_has_not_read(
    connection: sqlalchemy.Connection, rows: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr(scan, 'BATCH', 2)
    for row in range(rows):
        insert(connection, 'r1', row)
    seen: list[int] = []
    census = read_rows(
        connection,
        StoredColumn(plain.c.backup),
        limit=5,
        progress=seen.append,
    )
    assert counts(census) == {'StoredBackup 1.0': min(rows, 5)}
    assert sum(seen) == min(rows, 6)
    if rows > 5:
        first = f'host, id h, {rows - 5}'
        assert census.not_read == f'rows of plain.backup before {first}'
        answer = verdict.decide('r1', RELEASES['r1'], [census])
        assert answer.can_roll_back is None
    else:
        assert census.not_read is None


def test_scan_when_a_limit_is_reached_then_has_read_the_newest_rows(
    connection: sqlalchemy.Connection,
) -> None:
    for row in range(6):
        insert(connection, 'r1' if row < 4 else 'r2', row)
    census = read_rows(connection, StoredColumn(plain.c.backup), limit=2)
    assert counts(census) == {'StoredBackup 1.1': 2}
    answer = verdict.decide('r1', RELEASES['r1'], [census])
    assert answer.can_roll_back is False


@pytest.mark.parametrize(
    'engine', [pytest.param('mysql', marks=pytest.mark.mysql)], indirect=True
)
def test_scan_when_a_key_has_two_columns_then_reads_each_row_once(
    connection: sqlalchemy.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MariaDB does not find a tuple of columns in their index."""
    monkeypatch.setattr(scan, 'BATCH', 10)
    for row in range(200):
        insert(connection, 'r1', row)
    before = rows_read_backward(connection)
    census = read_rows(connection, StoredColumn(plain.c.backup))
    assert counts(census) == {'StoredBackup 1.0': 200}
    assert rows_read_backward(connection) - before < 300


def test_scan_when_keys_have_the_same_first_column_then_counts_each_row(
    connection: sqlalchemy.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, 'BATCH', 2)
    cap.versions = RELEASES['r1']
    for host in 'abc':
        for row in range(3):
            backup = StoredBackup(name=f'b{row}')
            connection.execute(
                plain.insert().values(host=host, id=row, backup=backup)
            )
    census = read_rows(connection, StoredColumn(plain.c.backup))
    assert counts(census) == {'StoredBackup 1.0': 9}
    assert census.counts[0].examples == ['c, 2', 'c, 1', 'c, 0']


def test_scan_when_indexed_and_rows_are_left_out_then_not_counted(
    connection: sqlalchemy.Connection,
) -> None:
    for row in range(6):
        insert(connection, 'r2' if row < 4 else 'r1', row)
    column = StoredColumn(indexed.c.backup, indexed.c.id >= 4)
    census = read_rows(connection, column)
    assert counts(census) == {'StoredBackup 1.0': 2}
    answer = verdict.decide('r1', RELEASES['r1'], [census])
    assert answer.can_roll_back is True


def test_scan_when_indexed_then_reads_no_row_of_known_versions(
    connection: sqlalchemy.Connection,
) -> None:
    for row in range(8):
        insert(connection, 'r2', row)
    column = StoredColumn(indexed.c.backup)
    census = read_rows(connection, column, count_limit=5)
    (count,) = census.counts
    assert (count.rows, count.is_cut) == (5, True)
    assert census.not_read is None
    answer = verdict.decide('r1', RELEASES['r1'], [census])
    assert answer.can_roll_back is False
    assert str(answer.obstacles[0]).startswith(
        'indexed.backup: more than 5 with StoredBackup 1.1 (at most 1.0); for'
    )


def test_verdict_agrees_with_the_older_release_itself(
    connection: sqlalchemy.Connection,
) -> None:
    """200 plans: a history of rows at risen caps, and a way back."""
    draw = random.Random(29)
    releases = list(RELEASES)
    answers = set()
    for _ in range(200):
        for table in TABLES:
            connection.execute(table.delete())
        stored = sorted(draw.choices(releases[:2] + releases, k=3))
        for row, release in enumerate(stored):
            disks = [StoredDisk(size=1)] * draw.randrange(2)
            insert(connection, release, row, disks=disks)
        target = draw.choice(releases)
        found = {
            verdict.decide(
                target,
                RELEASES[target],
                [read_rows(connection, StoredColumn(table.c.backup))],
            ).can_roll_back
            for table in TABLES
        }
        manifest.emulate(manifest.Manifest(RELEASES[target]))
        try:
            read_all(connection)
            can_read = True
        except StoredTooNew:
            can_read = False
        finally:
            manifest.emulate(None)
        assert found == {can_read}
        answers.add(can_read)
    assert answers == {True, False}


def test_verdict_when_newer_versions_may_be_stored_then_says_so() -> None:
    count = scan.Count('StoredBackup 1.0', 1)
    census = scan.Census(StoredColumn(plain.c.backup), [count])
    answer = verdict.decide('r1', RELEASES['r1'], [census], RELEASES['r2'])
    assert answer.can_roll_back
    assert answer.rising == ['StoredBackup 1.1 (at most 1.0)']
    held = verdict.decide('r1', RELEASES['r1'], [census], RELEASES['r1'])
    assert held.rising == []


def test_current_cap_follows_the_fleet() -> None:
    current = CurrentCap('engine')
    with pytest.raises(exceptions.FleetError, match='ServerProcess of engine'):
        current()
    ledger = MemoryLedger()
    current.update(ledger.get())
    assert current() == manifest.local()
    old = manifest.Manifest(RELEASES['r1'])
    member = Member('1', 'engine', 'host', 'engine', 'r1', old)
    view = ledger.report(member).view
    assert view is not None
    current.update(view)
    assert current() == old


def test_versions_when_too_long_to_index_then_left_out() -> None:
    primitive = {
        'versioned_object.name': 'Many',
        'versioned_object.version': '1.0',
        'versioned_object.data': {
            'items': [
                {
                    'versioned_object.name': f'Type{number}',
                    'versioned_object.version': '1.0',
                    'versioned_object.data': {},
                }
                for number in range(40)
            ]
        },
    }
    written = json.dumps(primitive)
    found = text.versions_of_primitive(primitive)
    assert text.with_versions(written, found) == written
    assert text.versions_in_text(written) == found
    assert len(text.parse_versions(found)) == 41


@objects.register
class StoredNote(objects.Object):
    fields = {
        'content': fields.JsonField(),
        'disk': fields.ObjectField('StoredDisk', nullable=True, default=None),
    }


#: Values that users choose: like a primitive, and with the end of a string.
LIKE_PRIMITIVES = [
    {f'{space}.name': name, f'{space}.version': version, f'{space}.data': {}}
    for space in ('versioned_object', 'other')
    for name, version in [
        ('StoredDisk', '9.9'),
        ('Other', '1.0'),
        ('a"', '1.0'),
        ('a","versioned_object.name":"b', '1.0'),
        ('Other', '1.0"'),
        ('Other 1.0,More', '1.0'),
    ]
]


@pytest.mark.parametrize('content', LIKE_PRIMITIVES)
def test_versions_when_data_resembles_primitives_then_only_types(
    content: Any,
) -> None:
    note = StoredNote(content={'list': [content]}, disk=StoredDisk(size=1))
    stored = StoredText.of(note, None)
    assert stored.versions == 'StoredDisk 1.1,StoredNote 1.0'
    assert stored.read().content == {'list': [content]}
    # Text that an older release has stored has no list.
    written = json.dumps(note.obj_to_primitive())
    assert text.versions_in_text(written) == stored.versions


def test_versions_when_type_is_unknown_then_of_all_that_fit() -> None:
    unknown = {
        'versioned_object.name': 'Unknown',
        'versioned_object.version': '1.0',
        'versioned_object.data': {'values': LIKE_PRIMITIVES},
    }
    assert text.versions_of_primitive(unknown) == (
        'Other 1.0,StoredDisk 9.9,Unknown 1.0'
    )
