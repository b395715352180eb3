# SPDX-License-Identifier: Apache-2.0
"""Both ledgers of the library, the SQL ledger on each database."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import datetime
import functools
import json
import pathlib
import random
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, get_args

import pytest
import sqlalchemy

from tests import databases
from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import exceptions
from vobjects.objects.manifest import Manifest, minimum
from vobjects.rpc import fleet
from vobjects.rpc.ledger import LedgerStore
from vobjects_sql.ledger import LedgerTables, SqlLedger, create_tables
from vobjects_sql.ledger.statements import LedgerStatements
from vobjects_sql.ledger.transactions import EngineTransactions

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
    now = 1e9  # far from 0, as in a process
    ledger = MemoryLedger(monotonic=lambda: now)

    def silence(member_id: str, seconds: float) -> None:
        nonlocal now
        (member,) = (m for m in ledger.members(99) if m.id == member_id)
        now -= seconds
        ledger.report(member)
        now += seconds

    return Store(ledger, silence)


def add(ledger: LedgerStore, count: int, **changes: Any) -> list[fleet.Member]:
    """Add members with the manifest of MEMBER."""
    members = [
        dataclasses.replace(MEMBER, id=str(uuid.uuid4()), **changes)
        for _ in range(count)
    ]
    for member in members:
        ledger.report(member)
    return members


def view_of(ledger: LedgerStore, member: fleet.Member) -> fleet.View:
    """Report a member and return the view that it gets."""
    view = ledger.report(member).view
    assert view is not None
    return view


def test_report_of_a_new_member_raises_the_generation_it_is_in(
    store: Store,
) -> None:
    report = store.ledger.report(MEMBER)
    assert report.has_changed
    assert report.now is not None
    assert report.view is not None
    assert report.view.generation == 1
    (group,) = report.view.groups
    assert group.count == 1
    assert group.examples == (MEMBER.process,)
    (member,) = store.ledger.members(1)
    assert member.age < SILENCE
    assert dataclasses.replace(member, age=0.0) == MEMBER


def test_heartbeat_with_the_current_view_returns_none(store: Store) -> None:
    view = view_of(store.ledger, MEMBER)
    report = store.ledger.report(dataclasses.replace(MEMBER, seen=1), view)
    assert (report.view, report.has_changed) == (None, False)
    assert report.now is not None
    assert store.ledger.members(1)[0].seen == 1


def test_heartbeat_with_an_older_view_returns_the_new_one(
    store: Store,
) -> None:
    view = view_of(store.ledger, MEMBER)
    store.ledger.report(OTHER)
    report = store.ledger.report(MEMBER, view)
    assert report.view is not None
    assert report.view.generation == 2
    assert report.view.count('engine') == 2


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
    view = view_of(store.ledger, changed)
    assert view.generation == 2
    assert view == dataclasses.replace(
        fleet.View(2, fleet.group_members([changed])), token=view.token
    )


@pytest.mark.parametrize('count', [fleet.EXACT_COUNT + 1, fleet.EXACT_COUNT])
def test_change_in_a_group_raises_the_generation_only_if_it_is_small(
    store: Store, count: int
) -> None:
    first, *_ = add(store.ledger, count, state='up')
    is_small = count == fleet.EXACT_COUNT
    generation = store.ledger.get().generation
    assert generation == fleet.EXACT_COUNT

    joining = dataclasses.replace(first, state='joining')
    assert store.ledger.report(joining).has_changed == is_small
    assert store.ledger.leave(first.id) == is_small
    view = store.ledger.get()
    assert view.generation == generation + 2 * is_small
    assert view.count() == count - 1  # exact, whatever the generation


def test_first_and_last_servers_that_are_up_raise_the_generation(
    store: Store,
) -> None:
    """Whatever the number of servers with the manifest that are not."""
    members = add(store.ledger, 2 * fleet.EXACT_COUNT)
    changes = [
        store.ledger.report(
            dataclasses.replace(member, state=state)
        ).has_changed
        for state in ('up', 'draining')
        for member in members
    ]
    few, many = [True] * fleet.EXACT_COUNT, [False] * fleet.EXACT_COUNT
    assert changes == few + many + many + few


def test_manifest_change_to_a_large_group_raises_the_generation(
    store: Store,
) -> None:
    older = dataclasses.replace(MEMBER, manifest=Manifest({'Thing': '1.0'}))
    store.ledger.report(older)
    add(store.ledger, fleet.EXACT_COUNT)
    report = store.ledger.report(MEMBER)
    assert report.has_changed
    assert report.view is not None
    assert report.view.cap('engine') == MEMBER.manifest


def test_manifest_change_from_a_large_group_raises_the_generation(
    store: Store,
) -> None:
    first, *_ = add(store.ledger, fleet.EXACT_COUNT + 1)
    older = Manifest({'Thing': '1.0'})
    report = store.ledger.report(dataclasses.replace(first, manifest=older))
    assert report.has_changed
    assert report.view is not None
    assert report.view.cap('engine') == older


def test_first_member_of_a_topic_with_a_common_manifest_raises_it(
    store: Store,
) -> None:
    first, *_ = add(store.ledger, fleet.EXACT_COUNT + 1, state='up')
    other = dataclasses.replace(first, id='other', topic='api')
    assert store.ledger.report(other).has_changed


def test_member_that_joins_many_joining_ones_does_not_raise_it(
    store: Store,
) -> None:
    add(store.ledger, fleet.EXACT_COUNT, state='joining')
    late = dataclasses.replace(MEMBER, id='late', state='joining')
    assert not store.ledger.report(late).has_changed


def test_rolling_restart_costs_a_constant_number_of_generations(
    store: Store,
) -> None:
    newer = Manifest({'Thing': '1.2', 'Other': '1.0'})
    generations = []
    for count in (20, 40):
        before = store.ledger.get().generation
        for member in add(store.ledger, count, state='up'):
            store.ledger.leave(member.id)
            (joined,) = add(store.ledger, 1, manifest=newer)
            store.ledger.report(dataclasses.replace(joined, state='up'))
        for member in store.ledger.members(count):
            store.ledger.leave(member.id)
        generations.append(store.ledger.get().generation - before)
    assert generations[0] == generations[1]


@pytest.mark.parametrize('seed', range(2))
def test_views_of_processes_have_the_minimum_over_random_members(
    store: Store, seed: int
) -> None:
    """Each process keeps its view until the ledger returns another."""
    random_ = random.Random(seed)
    manifests = [
        Manifest({'Thing': f'1.{a}', 'Other': f'1.{b}'})
        for a, b in ((0, 3), (2, 1), (3, 3))
    ]
    observers = [dataclasses.replace(MEMBER, id=i, topic='api') for i in 'ab']
    views: dict[str, fleet.View | None] = {}
    members: dict[str, fleet.Member] = {}
    for step in range(40):
        kind = random_.choice(['join', 'join', 'leave', 'change', 'hold'])
        if kind == 'join':
            id_ = f'm{step}'
            members[id_] = dataclasses.replace(
                MEMBER, id=id_, manifest=random_.choice(manifests)
            )
            store.ledger.report(members[id_])
        elif kind == 'leave' and members:
            for id_ in random_.sample(sorted(members), len(members) // 2 + 1):
                del members[id_]
                store.ledger.leave(id_)
        elif kind == 'change' and members:
            id_ = random_.choice(sorted(members))
            members[id_] = dataclasses.replace(
                members[id_], manifest=random_.choice(manifests), state='up'
            )
            store.ledger.report(members[id_])
        elif kind == 'hold':
            random_.choice(
                [store.ledger.finalize, lambda: store.ledger.hold('engine')]
            )()
        expected = [member.manifest for member in members.values()]
        held = store.ledger.get().held
        if expected and held:
            expected.append(held)
        for observer in observers:
            known = views.get(observer.id)
            view = store.ledger.report(observer, known).view or known
            assert view is not None
            assert view.cap('engine') == minimum(expected)
            views[observer.id] = view


@pytest.mark.parametrize('joins', [True, False])
def test_concurrent_changes_of_one_group_lose_no_generation(
    engine: sqlalchemy.Engine, joins: bool
) -> None:
    """The last member leaves while others join, or all join at once."""
    sql_ledger = SqlLedger(engine)
    older = Manifest({'Thing': '1.0'})
    for round_ in range(5):
        last, *others = (
            dataclasses.replace(MEMBER, id=f'{round_}-{i}', manifest=older)
            for i in range(4)
        )
        if not joins:
            sql_ledger.report(last)
        view = view_of(sql_ledger, OTHER)
        changes: list[Callable[[], Any]] = [
            functools.partial(sql_ledger.report, each) for each in others
        ]
        if not joins:
            changes = [*changes[:1], lambda id_=last.id: sql_ledger.leave(id_)]
        run_at_once(changes)
        report = sql_ledger.report(OTHER, view)
        assert report.view is not None
        assert report.view.groups == sql_ledger.get().groups
        assert report.view.cap('engine') == older
        for each in others:
            sql_ledger.leave(each.id)


def test_change_waits_for_an_earlier_one_of_the_same_group(
    engine: sqlalchemy.Engine,
) -> None:
    """Two members leave, the second of which reduces a large group."""
    ledger = SqlLedger(engine)
    transactions = EngineTransactions(engine)
    first, second, *_ = add(ledger, fleet.EXACT_COUNT + 1)
    has_removed, has_left = threading.Event(), threading.Event()

    def remove_first(transaction: Any) -> bool:
        changed = LedgerStatements(LedgerTables()).remove(
            transaction, [first.id]
        )
        has_removed.set()
        # The second member tries to leave meanwhile.
        assert not has_left.wait(0.1)
        return changed

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        removal = pool.submit(transactions.write, remove_first)
        assert has_removed.wait(SILENCE)
        assert ledger.leave(second.id)
        has_left.set()
    assert not removal.result()


def run_at_once(functions: list[Callable[[], Any]]) -> None:
    """Run functions in threads that start together."""
    barrier = threading.Barrier(len(functions))
    with concurrent.futures.ThreadPoolExecutor(len(functions)) as pool:

        def run(function: Callable[[], Any]) -> None:
            barrier.wait()
            function()

        for future in [pool.submit(run, each) for each in functions]:
            future.result()


def test_groups_have_examples_of_their_members(store: Store) -> None:
    groups = {
        (topic, version, state): {
            member.id
            for member in add(
                store.ledger,
                fleet.EXAMPLES + 1,
                topic=topic,
                manifest=Manifest({'Thing': version}),
                state=state,
            )
        }
        for topic in ('engine', 'api')
        for version in ('1.0', '1.1')
        for state in get_args(fleet.State)
    }
    view = store.ledger.get()
    assert len(view.groups) == len(groups)
    for group in view.groups:
        members = groups[group.topic, group.manifest['Thing'], group.state]
        examples = [process.id for process in group.examples]
        assert group.count == len(members)
        assert len(examples) == fleet.EXAMPLES
        assert set(examples) < members


def test_examples_of_a_group_are_sorted_by_id(
    engine: sqlalchemy.Engine,
) -> None:
    ledger = SqlLedger(engine)
    members = add(ledger, fleet.EXAMPLES + 1)
    (group,) = ledger.get().groups
    assert [process.id for process in group.examples] == sorted(
        member.id for member in members
    )[: fleet.EXAMPLES]


def test_unaware_counts_members_that_have_not_seen_a_generation(
    store: Store,
) -> None:
    members = add(store.ledger, 5, seen=3)
    add(store.ledger, 2, seen=4)
    unaware = store.ledger.unaware(4, members[0].id)
    assert unaware.count == 4
    assert len(unaware.examples) == fleet.EXAMPLES
    assert set(unaware.examples) <= {m.process for m in members[1:]}
    assert store.ledger.unaware(3, members[0].id) == fleet.Unaware(0)


def test_members_are_listed_by_the_age_of_their_heartbeat(
    store: Store,
) -> None:
    members = add(store.ledger, 3, state='up')
    # Not in the order of their IDs, nor in that of their reports.
    oldest, second = sorted(members, key=lambda m: m.id)[:0:-1]
    store.silence(oldest.id, SILENCE * 2)
    store.silence(second.id, SILENCE)
    listed = store.ledger.members(2)
    assert [m.id for m in listed] == [oldest.id, second.id]
    assert [m.age >= SILENCE for m in listed] == [True, True]
    assert dataclasses.replace(listed[0], age=oldest.age) == oldest


def test_members_with_the_same_heartbeat_are_listed_by_id(
    engine: sqlalchemy.Engine,
) -> None:
    ledger = SqlLedger(engine)
    ids = sorted(str(uuid.uuid4()) for _ in range(3))
    for member_id in reversed(ids):
        ledger.report(dataclasses.replace(MEMBER, id=member_id))
    with engine.begin() as connection:
        connection.execute(
            sqlalchemy.update(LedgerTables().members).values(
                heartbeat=datetime.datetime.now(datetime.UTC)
            )
        )
    assert [member.id for member in ledger.members(3)] == ids


def test_first_member_is_one_of_its_topic(store: Store) -> None:
    members = add(store.ledger, 3)
    (other,) = add(store.ledger, 1, topic='other')
    first = [m.id for m in members if store.ledger.is_first(m.id)]
    assert first == [min(m.id for m in members)]
    assert store.ledger.is_first(other.id)
    assert not store.ledger.is_first('absent')


def test_manifest_is_found_by_digest_while_a_member_has_it(
    store: Store,
) -> None:
    digest = MEMBER.manifest.digest
    assert store.ledger.manifest(digest) is None
    store.ledger.report(MEMBER)
    assert store.ledger.manifest(digest) == MEMBER.manifest


def test_manifest_is_found_if_another_process_has_reported_it(
    engine: sqlalchemy.Engine,
) -> None:
    digest = MEMBER.manifest.digest
    SqlLedger(engine).report(MEMBER)
    assert SqlLedger(engine).manifest(digest) == MEMBER.manifest
    SqlLedger(engine).leave(MEMBER.id)
    assert SqlLedger(engine).manifest(digest) is None


def test_time_is_that_of_the_database(engine: sqlalchemy.Engine) -> None:
    assert SqlLedger(engine).now() == pytest.approx(time.time(), abs=SILENCE)


def test_leave_raises_the_generation_once(store: Store) -> None:
    store.ledger.report(MEMBER)
    assert store.ledger.leave(MEMBER.id)
    assert not store.ledger.leave(MEMBER.id)
    view = store.ledger.get()
    assert (view.generation, view.groups) == (2, ())


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
    assert view.groups[0].examples == (OTHER.process,)


def test_expire_keeps_members_that_reported_meanwhile(store: Store) -> None:
    store.ledger.report(MEMBER)
    store.silence(MEMBER.id, 2 * SILENCE)
    store.ledger.report(MEMBER)
    assert store.ledger.expire(SILENCE) == []


def test_expire_returns_each_of_the_members_that_died_at_once(
    engine: sqlalchemy.Engine,
) -> None:
    ledger = SqlLedger(engine)
    ids = {member.id for member in add(ledger, 2)}
    past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    with engine.begin() as connection:
        connection.execute(
            sqlalchemy.update(LedgerTables().members).values(heartbeat=past)
        )
    assert {member.id for member in ledger.expire(SILENCE)} == ids
    assert ledger.get().count() == 0


def test_expire_in_memory_keeps_a_member_at_the_limit() -> None:
    store = memory_store()
    store.ledger.report(MEMBER)
    store.silence(MEMBER.id, SILENCE)
    assert store.ledger.expire(SILENCE) == []


def test_age_after_the_clock_was_set_back_is_zero(
    engine: sqlalchemy.Engine,
) -> None:
    store = sql_store(engine)
    store.ledger.report(MEMBER)
    store.silence(MEMBER.id, -SILENCE)
    (member,) = store.ledger.members(1)
    assert member.age == 0


def test_expire_sets_a_heartbeat_in_the_future_to_the_present(
    engine: sqlalchemy.Engine,
) -> None:
    store = sql_store(engine)
    day = datetime.timedelta(days=1).total_seconds()
    store.ledger.report(MEMBER)
    store.silence(MEMBER.id, -day)
    assert store.ledger.expire(SILENCE) == []
    # A second after the present time, only such a heartbeat is in the past.
    assert [m.id for m in store.ledger.expire(-1.0)] == [MEMBER.id]


def test_expire_twice_within_the_interval_looks_once(store: Store) -> None:
    for member in (MEMBER, OTHER):
        store.ledger.report(member)
        store.silence(member.id, 2 * SILENCE)
        assert len(store.ledger.expire(SILENCE, SILENCE)) == (member is MEMBER)
    assert store.ledger.expire(SILENCE) == [
        dataclasses.replace(m, age=pytest.approx(2 * SILENCE, rel=0.5))
        for m in (OTHER,)
    ]
    since_sweep = store.ledger.report(MEMBER).since_sweep
    assert since_sweep is not None
    assert 0 <= since_sweep < SILENCE


def test_expire_keeps_a_member_that_reports_before_its_removal(
    engine: sqlalchemy.Engine,
) -> None:
    class Delayed(EngineTransactions):
        """Transactions in which the member reports before a removal."""

        writes = 0

        def write(self, work: Any, *, urgent: bool = False) -> Any:
            self.writes += 1
            if self.writes == 2:  # the first claims the sweep
                SqlLedger(engine).report(MEMBER)
            return super().write(work, urgent=urgent)

    store = sql_store(engine)
    delayed = Delayed(engine)
    store.ledger.report(MEMBER)
    store.silence(MEMBER.id, 2 * SILENCE)
    assert SqlLedger(delayed).expire(SILENCE) == []
    assert store.ledger.get().count() == 1
    store.silence(MEMBER.id, 2 * SILENCE)
    assert len(SqlLedger(delayed).expire(SILENCE)) == 1


def test_hold_of_an_empty_ledger_raises_the_generation(store: Store) -> None:
    view = store.ledger.hold('engine')
    assert (view.generation, view.held) == (1, Manifest({}))
    assert store.ledger.get() == view


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


def test_hold_has_its_origin_until_it_is_finalized(store: Store) -> None:
    ledger = store.ledger
    ledger.report(MEMBER)
    began = ledger.now()
    for owner, reason in ('alice', '2.0 is under test'), ('bob', ''):
        view = ledger.hold('engine', owner, reason)
        assert view == ledger.get()
        origin = view.hold_origin
        assert origin is not None
        assert (origin.owner, origin.reason) == (owner, reason)
        assert began <= origin.since <= ledger.now()
    assert ledger.finalize().hold_origin is None
    assert ledger.get().hold_origin is None


@pytest.mark.parametrize('held', [None, {'Thing': '1.0'}])
def test_hold_of_a_release_without_origins_has_none(
    engine: sqlalchemy.Engine, held: dict[str, str] | None
) -> None:
    ledger = SqlLedger(engine)
    ledger.report(MEMBER)
    ledger.hold('engine', 'alice', '2.0 is under test')
    state = LedgerTables().state
    with engine.begin() as connection:
        # As that release ends the hold, or begins another one.
        connection.execute(
            sqlalchemy.update(state).values(
                held_manifest=held, generation=state.c.generation + 1
            )
        )
    view = ledger.get()
    assert view.held == (held and Manifest(held))
    assert view.hold_origin is None


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
                view_of(sql_ledger, member)
            )
        )
        for member in members
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sql_ledger.get().generation == len(members)
    assert len(views) == len(members)
    for view in views:
        assert view.count() >= view.generation


@contextlib.contextmanager
def statements_of(engine: sqlalchemy.Engine) -> Iterator[list[str]]:
    """Collect the first words of the statements that an engine runs."""
    statements: list[str] = []

    def note(connection: Any, cursor: Any, text: str, *_: Any) -> None:
        statements.append(text.split()[0])

    sqlalchemy.event.listen(engine, 'before_cursor_execute', note)
    try:
        yield statements
    finally:
        sqlalchemy.event.remove(engine, 'before_cursor_execute', note)


def test_heartbeat_runs_two_statements_until_the_generation_increases(
    engine: sqlalchemy.Engine,
) -> None:
    sql_ledger = SqlLedger(engine)
    view = view_of(sql_ledger, MEMBER)
    with statements_of(engine) as statements:
        sql_ledger.report(MEMBER, view)
    assert statements == ['UPDATE', 'SELECT']

    sql_ledger.report(OTHER)
    with statements_of(engine) as statements:
        assert sql_ledger.report(MEMBER, view).view is not None
    assert statements == ['UPDATE', 'SELECT', 'SELECT']


def test_generation_of_another_history_is_noticed(
    engine: sqlalchemy.Engine,
) -> None:
    """A database that lost its last commits may count the same number."""
    sql_ledger = SqlLedger(engine)
    view = view_of(sql_ledger, MEMBER)
    other = dataclasses.replace(view, token='0' * 32)
    assert sql_ledger.report(MEMBER, view).view is None
    assert sql_ledger.report(MEMBER, other).view == view
    assert len({view.token, sql_ledger.hold('engine').token, ''}) == 3


def test_change_by_an_older_release_replaces_the_stored_groups(
    engine: sqlalchemy.Engine,
) -> None:
    sql_ledger = SqlLedger(engine)
    view = view_of(sql_ledger, MEMBER)
    older = Manifest({'Thing': '1.0'})
    tables = LedgerTables()
    with engine.begin() as connection:
        connection.execute(
            sqlalchemy.insert(tables.members).values(
                id=OTHER.id,
                binary='engine',
                host='two',
                topic='engine',
                release='0.9',
                manifest=dict(older),
                manifest_digest=older.digest,
                state='joining',
                seen_generation=0,
                heartbeat=datetime.datetime.now(datetime.UTC),
            )
        )
        connection.execute(
            sqlalchemy.update(tables.state).values(
                generation=tables.state.c.generation + 1
            )
        )
    report = sql_ledger.report(MEMBER, view)
    assert report.view is not None
    assert report.view.cap('engine') == older


class RecordingTransactions(EngineTransactions):
    """Records which transactions are urgent."""

    def __init__(self, engine: sqlalchemy.Engine) -> None:
        super().__init__(engine)
        self.are_urgent: list[bool] = []

    def write(
        self, work: Callable[[Any], Any], *, urgent: bool = False
    ) -> Any:
        self.are_urgent.append(urgent)
        return super().write(work, urgent=urgent)


def test_reports_run_before_other_work(engine: sqlalchemy.Engine) -> None:
    transactions = RecordingTransactions(engine)
    ledger = SqlLedger(transactions)
    ledger.report(MEMBER)
    ledger.hold(MEMBER.topic)
    assert transactions.are_urgent == [True, False]


def test_view_of_an_empty_ledger_has_generation_zero(
    engine: sqlalchemy.Engine,
) -> None:
    with engine.begin() as transaction:
        view = LedgerStatements(LedgerTables()).view(transaction)
    assert view == fleet.View(0, ())


def test_rejected_member_is_not_recorded(engine: sqlalchemy.Engine) -> None:
    def reject(transaction: Any) -> None:
        raise exceptions.FleetError('too old')

    newcomer = dataclasses.replace(MEMBER, id=str(uuid.uuid4()))
    with pytest.raises(exceptions.FleetError, match='too old'):
        SqlLedger(engine, admit=reject).report(newcomer)
    assert SqlLedger(engine).get().groups == ()


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


#: Values that no process writes; the text of a time only SQLite stores.
UNREADABLE: dict[str, dict[str, str]] = {
    'invalid JSON': {'manifest': '{nope'},
    'list': {'manifest': '[1]'},
    'null': {'manifest': 'null'},
    'version without a dot': {'manifest': '{"Thing": "x", "Other": "1.0"}'},
    'version not text': {'manifest': '{"Thing": 5}'},
    'deep': {'manifest': '[' * 100_000},
    'too many types': {
        'manifest': json.dumps({f'T{n}': '1.0' for n in range(20_000)})
    },
    'time': {'heartbeat': 'not a time'},
}

READERS: dict[str, Callable[[SqlLedger], Any]] = {
    'get': lambda ledger: ledger.get(),
    'members': lambda ledger: ledger.members(10),
    'unaware': lambda ledger: ledger.unaware(10**6, ''),
    'report': lambda ledger: ledger.report(MEMBER),
    'hold': lambda ledger: ledger.hold(MEMBER.topic),
    'is_first': lambda ledger: ledger.is_first(MEMBER.id),
    'manifest': lambda ledger: ledger.manifest('bad'),
}


@pytest.mark.parametrize('values', UNREADABLE.values(), ids=list(UNREADABLE))
def test_unreadable_member_harms_no_reader_and_expires(
    engine: sqlalchemy.Engine,
    caplog: pytest.LogCaptureFixture,
    values: dict[str, str],
) -> None:
    if 'heartbeat' in values and engine.name != 'sqlite':
        pytest.skip('only SQLite stores text as a time')
    SqlLedger(engine).report(MEMBER)
    SqlLedger(engine).report(OTHER)
    members = LedgerTables().members
    columns = ('manifest', 'heartbeat', 'manifest_digest')
    raw = sqlalchemy.table(
        members.name, *map(sqlalchemy.column, ('id', *columns))
    )
    past = '2020-01-01 00:00:00.000000'
    with engine.begin() as connection:
        connection.execute(
            sqlalchemy.update(raw)
            .where(raw.c.id == OTHER.id)
            .values({'manifest_digest': 'bad', 'heartbeat': past, **values})
        )
    for name, read in READERS.items():
        ledger = SqlLedger(engine)
        read(ledger)
        shown = [member.id for member in ledger.members(10)]
        assert MEMBER.id in shown, name
    expired = SqlLedger(engine).expire(100.0)
    assert [member.id for member in expired] == [OTHER.id]
    assert [m.id for m in SqlLedger(engine).members(10)] == [MEMBER.id]
