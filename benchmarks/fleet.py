# SPDX-License-Identifier: Apache-2.0
"""Measure the fleet protocol with 10 to 10,000 processes.

::

    python benchmarks/fleet.py [--members 10 100 1000 10000]
        [--databases sqlite postgresql mysql] [--rounds 5]
    python benchmarks/fleet.py --processes 200

The first form measures simulated processes. It prints these tables:

* a heartbeat without a change: CPU and elapsed time of this process,
  statements and rows; and the same over RPC, without a message bus: CPU time
  of client and server, and bytes of the request and of the response. Rounds of
  all sizes alternate; the ratio is that of the largest fleet to the smallest,
  the median over all rounds;
* a server that lowers the cap, in virtual time with the real classes: when
  every process knows it, when the server passes its join barrier, and the
  messages until then;
* a rolling restart to a release with another manifest: statements per
  process, and how often the generation increases; and, in virtual time, the
  messages per process, with and without the restart.

The second form starts real processes with the embedded message bus and SQLite,
to check the simulation: when all know a server that lowers the cap, when that
server passes its join barrier, and the CPU time of the server per heartbeat.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import heapq
import itertools
import multiprocessing
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import psutil
import sqlalchemy
from oslo_config import cfg

from tests import databases
from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import Service
from vobjects.clustering import types
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import ClientProcess, ServerProcess, serializer
from vobjects.rpc.fleet import LEASE_PERIODS, Member, Report, Unaware, View
from vobjects.rpc.join_barrier import BARRIER_INTERVAL, ServerMembership
from vobjects.rpc.ledger import LedgerEndpoint, RemoteLedger
from vobjects.rpc.server import collect_handlers
from vobjects_sql.ledger import LedgerTables, SqlLedger, create_tables

TYPES = types  # registers them, for a manifest of realistic size

TOPIC = 'engine'
CLIENT_TOPIC = 'api'

#: Heartbeat interval in seconds, as in the default configuration.
PERIOD = 2.0

#: Heartbeats in a round.
HEARTBEATS = 50

#: Part of the processes that are servers.
SERVERS = 0.2

#: Seconds of virtual time in which all processes restart, one by one.
RESTART = 60.0


def main() -> int:
    """Run the measurements that the command line selects."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        '--members', type=int, nargs='+', default=[10, 100, 1000, 10000]
    )
    parser.add_argument(
        '--databases',
        nargs='+',
        choices=['sqlite', *databases.SERVERS],
        default=['sqlite', *databases.SERVERS],
    )
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--processes', type=int)
    options = parser.parse_args()
    if options.processes:
        measure_processes(options.processes)
        return 0
    measure_heartbeats(options.databases, options.members, options.rounds)
    measure_change(options.members)
    measure_restart(options.databases, options.members)
    measure_restart_messages(options.members)
    return 0


def print_table(title: str, rows: Sequence[Sequence[object]]) -> None:
    """Print rows in columns, the first row as header."""
    print(f'\n{title}\n')
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        line = '  '.join(
            cell.rjust(width) for cell, width in zip(row, widths, strict=True)
        )
        print(line, flush=True)


def member(
    number: int, manifest: Manifest | None = None, **changes: Any
) -> Member:
    """Return a process; every fifth is a server."""
    is_server = number % round(1 / SERVERS) == 0
    values = {
        'id': str(uuid.uuid4()),
        'binary': 'engine' if is_server else 'api',
        'host': f'host-{number}.example.org',
        'topic': TOPIC if is_server else CLIENT_TOPIC,
        'release': '1.0.0',
        'manifest': manifest or local(),
        'state': 'up',
        **changes,
    }
    return Member(**values)


def older_manifest() -> Manifest:
    """Return a manifest with a lower version of one type."""
    newest = local()
    name = next(n for n, version in newest.items() if version != '1.0')
    return Manifest({**newest, name: '1.0'})


# Heartbeats


class Counter:
    """Counts the statements of an engine and the rows that they return."""

    def __init__(self, engine: sqlalchemy.Engine) -> None:
        self.statements = 0
        self.rows = 0

        @sqlalchemy.event.listens_for(engine, 'after_cursor_execute')
        def note(connection: Any, cursor: Any, *_: Any) -> None:
            self.statements += 1
            if cursor.description is not None and engine.name != 'sqlite':
                self.rows += cursor.rowcount


class Fleet:
    """A ledger in a database with a number of members."""

    def __init__(self, engine: sqlalchemy.Engine, size: int) -> None:
        self.engine = engine
        self.size = size
        self.ledger = SqlLedger(engine)
        self.members = [member(number) for number in range(size)]
        create_tables(engine)
        # Enough for all groups; the other rows are written at once.
        first, others = self.members[:40], self.members[40:]
        for each in first:
            self.ledger.report(each)
        rows = [
            {
                'id': each.id,
                'binary': each.binary,
                'host': each.host,
                'topic': each.topic,
                'release': each.release,
                'manifest': dict(each.manifest),
                'manifest_digest': each.manifest.digest,
                'state': each.state,
                'seen_generation': 0,
                'heartbeat': datetime.datetime.now(datetime.UTC),
                'created_at': datetime.datetime.now(datetime.UTC),
            }
            for each in others
        ]
        if rows:
            with engine.begin() as connection:
                connection.execute(
                    sqlalchemy.insert(LedgerTables().members), rows
                )
        self.ledger.hold(TOPIC)
        self.ledger.finalize()  # the next heartbeat counts all rows
        view = self.ledger.report(self.members[0]).view
        assert view is not None
        assert view.count() == size
        self.view: View = view
        self.remote_client = LoopbackClient(self.ledger)
        self.remote = RemoteLedger(self.remote_client, 5)
        self.remote.report(self.members[0])
        self.counter = Counter(engine)

    def beat(self, report: Callable[[Member], Any]) -> tuple[float, float]:
        """Return the CPU and elapsed time of a heartbeat, in milliseconds."""
        chosen = random.sample(self.members, min(HEARTBEATS, self.size))
        cpu, start = time.process_time(), time.perf_counter()
        for each in chosen:
            report(each)
        return (
            (time.process_time() - cpu) * 1000 / len(chosen),
            (time.perf_counter() - start) * 1000 / len(chosen),
        )

    def beat_local(self) -> tuple[float, float]:
        """Measure heartbeats of servers."""
        return self.beat(self._report)

    def _report(self, each: Member) -> None:
        report = self.ledger.report(
            dataclasses.replace(each, seen=self.view.generation), self.view
        )
        assert report.view is None

    def beat_remote(self) -> tuple[float, float]:
        """Measure heartbeats of clients."""
        return self.beat(lambda each: self.remote.report(each, self.view))


class LoopbackClient:
    """Sends requests to an endpoint as bytes, without a message bus."""

    topic = TOPIC

    def __init__(self, ledger: Any) -> None:
        self._handlers = collect_handlers(
            [LedgerEndpoint(ledger, lambda: None)]
        )
        self.sent = self.received = 0

    def call_ledger(
        self, request: Any, timeout: float, server: str = ''
    ) -> Any:
        """See :class:`vobjects.rpc.ledger.LedgerClient`."""
        message = serializer.to_bytes(request, local()).decode()
        handler = self._handlers[request.obj_name()]
        response = handler({}, serializer.from_bytes(message, {}))
        answer = serializer.to_bytes(response, local()).decode()
        self.sent, self.received = len(message), len(answer)
        return serializer.from_bytes(answer, {})


def measure_heartbeats(
    names: Sequence[str], sizes: Sequence[int], rounds: int
) -> None:
    """Print the cost of a heartbeat without a change."""
    rows: list[Sequence[object]] = [
        (
            'database', 'members', 'CPU ms', 'elapsed ms', 'statements',
            'rows', 'RPC: CPU ms', 'request bytes', 'response bytes',
        )
    ]  # fmt: skip
    for name in names:
        with contextlib.ExitStack() as stack:
            fleets = [
                Fleet(stack.enter_context(database(name)), size)
                for size in sizes
            ]
            for fleet in fleets:  # warm up
                fleet.beat_local()
            results: dict[int, list[tuple[float, ...]]] = {}
            for _, fleet in itertools.product(range(rounds), fleets):
                results.setdefault(fleet.size, []).append(
                    (*fleet.beat_local(), *fleet.beat_remote())
                )
            for fleet in fleets:
                statements, read = fleet.counter.statements, fleet.counter.rows
                fleet.beat_local()
                count = min(HEARTBEATS, fleet.size)
                cpu, elapsed, remote, _ = (
                    statistics.median(column)
                    for column in zip(*results[fleet.size], strict=True)
                )
                rows.append(
                    (
                        name,
                        fleet.size,
                        f'{cpu:.2f}',
                        f'{elapsed:.2f}',
                        (fleet.counter.statements - statements) / count,
                        '-'
                        if name == 'sqlite'
                        else (fleet.counter.rows - read) / count,
                        f'{remote:.2f}',
                        fleet.remote_client.sent,
                        fleet.remote_client.received,
                    )
                )
            ratios = [
                statistics.median(
                    large[column] / small[column]
                    for small, large in zip(
                        results[sizes[0]], results[sizes[-1]], strict=True
                    )
                )
                for column in range(3)
            ]
            rows.append(
                (
                    name, 'ratio', *(f'{ratio:.2f}x' for ratio in ratios[:2]),
                    '', '', f'{ratios[2]:.2f}x', '', '',
                )
            )  # fmt: skip
    print_table('Heartbeat without a change', rows)


@contextlib.contextmanager
def database(name: str) -> Iterator[sqlalchemy.Engine]:
    """Open an empty database, which is dropped at the end."""
    with (
        tempfile.TemporaryDirectory() as directory,
        databases.temporary(name, pathlib.Path(directory)) as url,
    ):
        engine = sqlalchemy.create_engine(url)
        if name == 'sqlite':
            with engine.connect() as connection:
                connection.exec_driver_sql('PRAGMA journal_mode = WAL')
        try:
            yield engine
        finally:
            engine.dispose()


# A change, in virtual time


class CountingLedger(MemoryLedger):
    """Counts a request and a response of each call in a simulation."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(lambda: simulation.now)
        self._simulation = simulation

    def report(self, *args: Any) -> Report:
        self._simulation.messages += 2
        return super().report(*args)

    def leave(self, *args: Any) -> bool:
        self._simulation.messages += 2
        return super().leave(*args)

    def unaware(self, *args: Any) -> Unaware:
        self._simulation.messages += 2
        return super().unaware(*args)


class Simulation:
    """Processes that send heartbeats in virtual time.

    A response arrives at once; the messages are counted.
    """

    def __init__(self, size: int) -> None:
        self.now = 0.0
        self.random = random.Random(size)
        self.ledger = CountingLedger(self)
        self.messages = self.notices = 0
        #: Time and number of the next heartbeat of each process; the entry
        #: of an earlier time replaces a later one.
        self.queue: list[tuple[float, int]] = []
        self.due: dict[int, float] = {}
        self.memberships: list[ServerMembership] = []
        for number in range(size):
            self.add(member(number))

    def add(self, each: Member) -> ServerMembership:
        """Add a process that has sent its first report."""
        membership = self._membership(each)
        self.memberships.append(membership)
        membership.refresh()
        self._plan_first(len(self.memberships) - 1)
        return membership

    def restart(self, number: int, manifest: Manifest) -> None:
        """Replace a process by one with another manifest."""
        self.memberships[number].stop()
        membership = self._membership(
            member(number, manifest, state='joining')
        )
        self.memberships[number] = membership
        membership.join(lambda seconds: self.run(self.now + seconds))
        self._plan_first(number)

    def _membership(self, each: Member) -> ServerMembership:
        return ServerMembership(
            each,
            self.ledger,
            period=PERIOD,
            announce=self.announce,
            clock=lambda: self.now,
            jitter=self.random.random,
        )

    def _plan_first(self, number: int) -> None:
        """Plan a process's first heartbeat, at any time of its interval."""
        self.plan(number, self.random.random() * PERIOD / 2)

    def plan(self, number: int, seconds: float) -> None:
        """Plan the next heartbeat of a process, unless one is due before."""
        due = self.now + seconds
        if due < self.due.get(number, float('inf')):
            self.due[number] = due
            heapq.heappush(self.queue, (due, number))

    def announce(self) -> None:
        """Wake all processes."""
        self.notices += 1
        for number, membership in enumerate(self.memberships):
            self.messages += 1
            self.plan(number, membership.wakeup_delay())

    def run(self, until: float) -> None:
        """Send heartbeats up to a time."""
        while self.queue and self.queue[0][0] <= until:
            due, number = heapq.heappop(self.queue)
            if self.due.get(number) != due:
                continue
            self.now = due
            del self.due[number]
            membership = self.memberships[number]
            before = membership.view
            view = membership.refresh()
            self.plan(number, membership.heartbeat_pause())
            is_new = before is None or view.revision != before.revision
            if is_new and not membership.is_in_large_fleet:
                # As the thread of the heartbeat does.
                self.plan(number, membership.wakeup_delay())
        self.now = until


def measure_change(sizes: Sequence[int]) -> None:
    """Print how a fleet learns of a server that lowers the cap."""
    rows: list[Sequence[object]] = [
        (
            'members', 'all know, s', 'of a lease', 'messages', 'notices',
            'barrier, s', 'messages then', 'without change',
        )
    ]  # fmt: skip
    for size in sizes:
        simulation = Simulation(size)
        simulation.run(until=2 * PERIOD)
        before = simulation.messages
        simulation.run(until=4 * PERIOD)
        usual = (simulation.messages - before) / (2 * PERIOD)
        start, simulation.messages = simulation.now, 0
        joining = simulation.add(member(0, older_manifest(), state='joining'))
        assert joining.view is not None
        generation = joining.view.generation
        known: list[tuple[float, int]] = []

        def wait(
            seconds: float,
            simulation: Simulation = simulation,
            generation: int = generation,
            known: list[tuple[float, int]] = known,
        ) -> None:
            simulation.run(simulation.now + seconds)
            if not known and all(
                each.view is not None and each.view.generation >= generation
                for each in simulation.memberships
            ):
                known.append((simulation.now, simulation.messages))

        joining.join(wait)
        learned, messages = known[0]
        learned -= start
        elapsed = simulation.now - start
        rows.append(
            (
                size,
                f'{learned:.1f}',
                f'{learned / (PERIOD * LEASE_PERIODS):.0%}',
                messages,
                simulation.notices,
                f'{elapsed:.1f}',
                simulation.messages,
                round(usual * elapsed),
            )
        )
    print_table(
        'A server lowers the cap (virtual time; a notice counts once per'
        f' receiver; time in steps of {BARRIER_INTERVAL} s)',
        rows,
    )


# A rolling restart


def measure_restart(names: Sequence[str], sizes: Sequence[int]) -> None:
    """Print the cost of a rolling restart."""
    rows: list[Sequence[object]] = [
        (
            'database', 'members', 'generations', 'statements/member',
            'CPU ms/member', 'elapsed ms/member',
        )
    ]  # fmt: skip
    for name, size in itertools.product(names, sizes):
        with database(name) as engine:
            fleet = Fleet(engine, size)
            generation = fleet.view.generation
            start = fleet.counter.statements
            cpu, elapsed = time.process_time(), time.perf_counter()
            newer = Manifest({**local(), 'Newer': '1.0'})
            for number, each in enumerate(fleet.members):
                fleet.ledger.leave(each.id)
                joining = member(number, newer, state='joining')
                view = fleet.ledger.report(joining).view
                fleet.ledger.report(
                    dataclasses.replace(joining, state='up'), view
                )
            rows.append(
                (
                    name,
                    size,
                    fleet.ledger.get().generation - generation,
                    round((fleet.counter.statements - start) / size, 1),
                    f'{(time.process_time() - cpu) * 1000 / size:.1f}',
                    f'{(time.perf_counter() - elapsed) * 1000 / size:.1f}',
                )
            )
    print_table('Rolling restart: leave, join, state up', rows)


def measure_restart_messages(sizes: Sequence[int]) -> None:
    """Print how many messages a rolling restart takes."""
    rows: list[Sequence[object]] = [
        ('members', 'notices', 'messages/member', 'without restart', 'more')
    ]
    newer = Manifest({**local(), 'Newer': '1.0'})
    for size in sizes:
        simulation = Simulation(size)
        simulation.run(until=2 * PERIOD)
        counts = []
        for restarts in (False, True):
            start, before = simulation.now, simulation.messages
            for number in range(size):
                if restarts:
                    simulation.restart(number, newer)
                simulation.run(start + (number + 1) * RESTART / size)
            counts.append((simulation.messages - before) / size)
        usual, messages = counts
        rows.append(
            (
                size,
                simulation.notices,
                f'{messages:.1f}',
                f'{usual:.1f}',
                f'{messages - usual:.1f}',
            )
        )
    print_table(
        f'Rolling restart in {RESTART:.0f} s, of one process after the other'
        ' (virtual time; a notice counts once per receiver)',
        rows,
    )


# Real processes

_SERVICE = Service(
    name='fleet-benchmark', types=(), history={'1.0': ['First.']}
)


def measure_processes(count: int) -> None:
    """Print when real processes know a server that lowers the cap."""
    context = multiprocessing.get_context('fork')
    learned: Any = context.Queue()
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, 'benchmark.conf')
        file.write_text(
            '[DEFAULT]\n'
            f'transport_url = embedded://{directory}/bus\n'
            f'[fleet]\nheartbeat_interval = {PERIOD}\n'
        )
        url = f'sqlite:///{directory}/ledger.sqlite'
        first = context.Process(
            target=_serve, args=(str(file), url, local(), learned)
        )
        first.start()
        assert learned.get(timeout=60)[0] == 'up'
        clients = [
            context.Process(target=_call, args=(str(file), learned))
            for _ in range(count)
        ]
        processes = [first, *clients]
        try:
            # One after another: two processors cannot start 200 at once.
            for client in clients:
                client.start()
                assert learned.get(timeout=60)[0] == 'ready'
            time.sleep(2 * PERIOD)
            server = psutil.Process(first.pid)
            cpu = sum(server.cpu_times()[:2])
            time.sleep(4 * PERIOD)
            beats = (count + 1) * 4 * 2 / 0.9  # two per period, 10 % sooner
            cpu = (sum(server.cpu_times()[:2]) - cpu) / beats
            second = context.Process(
                target=_serve, args=(str(file), url, older_manifest(), learned)
            )
            start = time.monotonic()
            second.start()
            processes.append(second)
            times: dict[str, list[float]] = {'joined': [], 'up': []}
            times['knows'] = []
            while len(times['knows']) < count or not times['up']:
                kind, moment = learned.get(timeout=600)
                times[kind].append(moment)
        finally:
            for process in processes:
                process.kill()
                process.join()
    joined = times['joined'][0] if times['joined'] else start
    print_table(
        f'{count} real processes; a server lowers the cap; load average'
        f' {os.getloadavg()[0]:.0f}',
        [
            ('all know, s', 'barrier, s', 'lease, s', 'server CPU ms/beat'),
            (
                f'{max(times["knows"]) - joined:.2f}',
                f'{times["up"][0] - joined:.2f}',
                PERIOD * LEASE_PERIODS,
                f'{cpu * 1000:.2f}',
            ),
        ],
    )


def _configuration(file: str) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    conf(['--config-file', file])
    return conf


def _serve(file: str, url: str, manifest: Manifest, learned: Any) -> None:
    engine = sqlalchemy.create_engine(url, connect_args={'timeout': 30})
    create_tables(engine)
    process = ServerProcess(
        _configuration(file),
        _SERVICE,
        ledger=SqlLedger(engine),
        handlers=[],
        manifest=manifest,
    )
    if manifest != local():
        process.membership.refresh()
        learned.put(('joined', time.monotonic()))
    process.start()
    learned.put(('up', time.monotonic()))
    time.sleep(3600)


def _call(file: str, learned: Any) -> None:
    newest = local()

    def on_view(view: View) -> None:
        cap = view.cap(_SERVICE.topic)
        if cap and cap != newest:
            learned.put(('knows', time.monotonic()))

    process = ClientProcess(_configuration(file), _SERVICE, on_view=on_view)
    process.start()
    process.membership.current()
    learned.put(('ready', time.monotonic()))
    time.sleep(3600)


if __name__ == '__main__':
    sys.exit(main())
