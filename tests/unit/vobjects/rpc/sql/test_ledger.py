# SPDX-License-Identifier: Apache-2.0
"""Both ledgers of the library, the SQL ledger on each database."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import pathlib
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy

from tests import databases
from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet
from vobjects.rpc.ledger import LedgerStore
from vobjects.rpc.memory_ledger import MemoryLedger
from vobjects.rpc.sql import LedgerTables, SqlLedger, create_tables

MEMBER = fleet.Member(
    id=str(uuid.uuid4()),
    binary='engine',
    host='one',
    topic='engine',
    release='1.0',
    manifest=Manifest({'Thing': '1.1', 'Other': '1.0'}),
)

OTHER = dataclasses.replace(MEMBER, id=str(uuid.uuid4()), host='two')

#: Seconds by which a silent member is older than the limit of a test.
SILENCE = 1000.0


@dataclasses.dataclass(frozen=True)
class Store:
    """A ledger, and a function that moves a member's heartbeat back."""

    ledger: LedgerStore
    silence: Callable[[str, float], None]


@pytest.fixture(scope='module')
def open_engine(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], sqlalchemy.Engine]]:
    """A function that returns an engine of a backend, with the tables."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def open_once(backend: str) -> sqlalchemy.Engine:
            directory = tmp_path_factory.mktemp(backend)
            url = stack.enter_context(databases.temporary(backend, directory))
            engine = sqlalchemy.create_engine(url)
            stack.callback(engine.dispose)
            create_tables(engine)
            return engine

        yield open_once


@pytest.fixture(params=databases.BACKENDS)
def engine(
    request: pytest.FixtureRequest,
    open_engine: Callable[[str], sqlalchemy.Engine],
) -> sqlalchemy.Engine:
    """Each database in turn, with empty tables."""
    return emptied(open_engine(request.param))


@pytest.fixture(params=['memory', *databases.BACKENDS])
def store(
    request: pytest.FixtureRequest,
    open_engine: Callable[[str], sqlalchemy.Engine],
) -> Store:
    """An empty ledger of each kind in turn."""
    if request.param == 'memory':
        return memory_store()
    return sql_store(emptied(open_engine(request.param)))


def emptied(engine: sqlalchemy.Engine) -> sqlalchemy.Engine:
    """Delete all rows, even the row that the migration has inserted."""
    with engine.begin() as connection:
        for table in LedgerTables().metadata.sorted_tables:
            connection.execute(sqlalchemy.delete(table))
    return engine


def sql_store(engine: sqlalchemy.Engine) -> Store:
    """A ledger in a database."""
    members = LedgerTables().members

    def silence(member_id: str, seconds: float) -> None:
        past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(
            seconds=seconds
        )
        with engine.begin() as connection:
            connection.execute(
                sqlalchemy.update(members)
                .where(members.c.id == member_id)
                .values(heartbeat=past)
            )

    return Store(SqlLedger(engine), silence)


def memory_store() -> Store:
    """A ledger in memory; its clock runs ahead for one report."""
    now = 0.0
    ledger = MemoryLedger(lambda: now)

    def silence(member_id: str, seconds: float) -> None:
        nonlocal now
        (member,) = (m for m in ledger.get().members if m.id == member_id)
        now -= seconds
        ledger.report(member)
        now += seconds

    return Store(ledger, silence)


def test_report_of_a_new_member_raises_the_generation_it_is_in(
    store: Store,
) -> None:
    view = store.ledger.report(MEMBER)
    assert view.generation == 1
    (member,) = view.members
    assert member.age < SILENCE
    assert dataclasses.replace(member, age=0.0) == MEMBER
    assert view.now is not None


def test_heartbeat_keeps_the_generation(store: Store) -> None:
    store.ledger.report(MEMBER)
    view = store.ledger.report(dataclasses.replace(MEMBER, seen=1))
    assert view.generation == 1
    assert view.members[0].seen == 1


@pytest.mark.parametrize(
    'change',
    [
        {'state': 'up'},
        {'manifest': Manifest({'Thing': '1.0'})},
        {'topic': 'other'},
    ],
    ids=lambda change: next(iter(change)),
)
def test_report_of_a_change_raises_the_generation(
    store: Store, change: dict[str, Any]
) -> None:
    store.ledger.report(MEMBER)
    changed = dataclasses.replace(MEMBER, **change)
    view = store.ledger.report(changed)
    assert view.generation == 2
    assert dataclasses.replace(view.members[0], age=0.0) == changed


def test_leave_raises_the_generation_once(store: Store) -> None:
    store.ledger.report(MEMBER)
    store.ledger.leave(MEMBER.id)
    store.ledger.leave(MEMBER.id)
    view = store.ledger.get()
    assert (view.generation, view.members) == (2, ())


def test_expire_by_several_threads_removes_silent_members_once(
    store: Store,
) -> None:
    store.ledger.report(MEMBER)
    store.ledger.report(OTHER)
    store.silence(MEMBER.id, 2 * SILENCE)
    removed: list[fleet.Member] = []
    threads = [
        threading.Thread(
            target=lambda: removed.extend(store.ledger.expire(SILENCE))
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [member.id for member in removed] == [MEMBER.id]
    view = store.ledger.get()
    assert view.generation == 3
    assert [member.id for member in view.members] == [OTHER.id]


def test_expire_keeps_members_that_reported_meanwhile(store: Store) -> None:
    store.ledger.report(MEMBER)
    store.silence(MEMBER.id, 2 * SILENCE)
    store.ledger.report(MEMBER)
    assert store.ledger.expire(SILENCE) == []


def test_hold_keeps_the_cap_until_it_is_finalized(store: Store) -> None:
    ledger = store.ledger
    newer = dataclasses.replace(
        OTHER, manifest=Manifest({'Thing': '1.2', 'Other': '1.0'})
    )
    ledger.report(MEMBER)
    assert ledger.hold('engine').held == MEMBER.manifest
    ledger.report(newer)
    ledger.leave(MEMBER.id)
    assert ledger.get().cap('engine')['Thing'] == '1.1'
    generation = ledger.get().generation
    view = ledger.finalize()
    assert view.cap('engine')['Thing'] == '1.2'
    assert view.generation == generation + 1


def test_generation_counts_each_change_of_concurrent_members(
    engine: sqlalchemy.Engine,
) -> None:
    sql_ledger = SqlLedger(engine)
    members = [
        dataclasses.replace(MEMBER, id=str(uuid.uuid4())) for _ in range(4)
    ]
    views: list[fleet.View] = []
    threads = [
        threading.Thread(
            target=lambda member=member: views.append(
                sql_ledger.report(member)
            )
        )
        for member in members
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sql_ledger.get().generation == len(members)
    for view in views:
        assert len(view.members) >= view.generation


def test_heartbeat_runs_three_statements(
    engine: sqlalchemy.Engine,
) -> None:
    sql_ledger = SqlLedger(engine)
    for member in (MEMBER, OTHER):
        sql_ledger.report(member)
    statements: list[str] = []

    def note(connection: Any, cursor: Any, text: str, *_: Any) -> None:
        statements.append(text)

    sqlalchemy.event.listen(engine, 'before_cursor_execute', note)
    try:
        sql_ledger.report(MEMBER)
    finally:
        sqlalchemy.event.remove(engine, 'before_cursor_execute', note)
    assert [text.split()[0] for text in statements] == [
        'UPDATE',
        'SELECT',
        'SELECT',
    ]


def test_rejected_member_is_not_recorded(engine: sqlalchemy.Engine) -> None:
    def reject(transaction: Any) -> None:
        raise exceptions.FleetError('too old')

    newcomer = dataclasses.replace(MEMBER, id=str(uuid.uuid4()))
    with pytest.raises(exceptions.FleetError, match='too old'):
        SqlLedger(engine, admit=reject).report(newcomer)
    ids = {member.id for member in SqlLedger(engine).get().members}
    assert newcomer.id not in ids


def test_ledger_without_its_tables_is_out_of_reach(
    tmp_path: pathlib.Path,
) -> None:
    engine = sqlalchemy.create_engine(f'sqlite:///{tmp_path}/empty.sqlite')
    ledger = SqlLedger(engine)
    with pytest.raises(exceptions.NoLivePeer, match='vobjects_members'):
        ledger.report(MEMBER)
    with pytest.raises(exceptions.Unreachable, match='vobjects_ledger'):
        ledger.get()
    engine.dispose()


def test_rpc_package_imports_no_sqlalchemy() -> None:
    code = (
        'import sys, vobjects.rpc\n'
        'from vobjects.rpc import *\n'
        'sys.exit("sqlalchemy" in sys.modules)'
    )
    subprocess.run([sys.executable, '-c', code], check=True)
