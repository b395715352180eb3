# SPDX-License-Identifier: Apache-2.0
"""Clients, servers, ledger and network of one schedule.

The memberships, the ledgers, the clients and the endpoints are those of
:mod:`vobjects.rpc`. This module provides what surrounds them: the network, the
connections to the ledger, the database of the handlers, and the faults.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import types
from collections.abc import Callable, Iterator
from typing import Any

import oslo_messaging
import sqlalchemy

from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from tests.unit.vobjects.rpc.simulation.invariants import (
    BARRIER_BOUND,
    DEFAULTS,
    Invariants,
)
from tests.unit.vobjects.rpc.simulation.kernel import (
    Kernel,
    Process,
    Task,
    Waiters,
)
from vobjects import exceptions, fields, objects
from vobjects.objects import manifest as manifests
from vobjects.objects.history import added
from vobjects.objects.manifest import Manifest
from vobjects.rpc import call_state, fleet_types, server
from vobjects.rpc.client import Client
from vobjects.rpc.dispatcher import Dispatcher
from vobjects.rpc.expiry import Expiry
from vobjects.rpc.fleet import LEASE_PERIODS, Member, Report, View
from vobjects.rpc.join_barrier import ServerMembership
from vobjects.rpc.ledger import LedgerEndpoint, RemoteLedger
from vobjects.rpc.membership import Membership
from vobjects_sql.ledger import SqlLedger
from vobjects_sql.ledger.statements import LedgerStatements
from vobjects_sql.ledger.step_detector import StepDetector
from vobjects_sql.ledger.tables import MEMBERS, STATE, LedgerTables

TOPIC = 'workers'

#: Period of the heartbeats, in seconds.
PERIOD = 1.0

#: Timeout of a request, in seconds.
TIMEOUT = 3.0

#: Maximum difference between the rate of a clock and that of virtual time.
DRIFT = 0.01

#: Longest delay of a message, and of a response of the ledger, in seconds.
LONGEST_DELAY = 2.5

#: Seconds at the end of a schedule without faults.
CALM = 7.0

#: Time at which the ledger's clock starts, in seconds since 1970.
EPOCH = 1_700_000_000.0


@objects.register
class SimulatedRequest(objects.Request):
    VERSION = '1.2'
    VERSION_MAP = {'1.1': '1.1', '1.2': '1.2'}
    fields = {
        'name': fields.StringField(),
        'force': added('1.1', fields.BooleanField(default=False)),
        'level': added('1.2', fields.IntegerField(default=0)),
    }


@objects.register
class RoutedRequest(SimulatedRequest):
    ROUTE = 'capable'


@objects.register
class SimulatedResult(objects.Resource):
    VERSION = '1.2'
    VERSION_MAP = {'1.1': '1.1', '1.2': '1.2'}
    fields = {
        'name': fields.StringField(),
        'force': added('1.1', fields.BooleanField(nullable=True)),
        'level': added('1.2', fields.IntegerField(nullable=True)),
    }


def _manifest(minor: int) -> Manifest:
    versions = {
        cls.obj_name(): cls.VERSION
        for cls in objects.registered_types()
        if cls.__module__ == fleet_types.__name__
    }
    for cls in (SimulatedRequest, RoutedRequest, SimulatedResult):
        versions[cls.obj_name()] = f'1.{minor}'
    if minor == 0:  # its processes cannot read the state `draining`
        versions |= {'FleetGroup': '1.0', 'FleetProcess': '1.0'}
    return Manifest(versions)


#: Manifests of the releases, oldest first.
RELEASES = [_manifest(minor) for minor in range(3)]


def minor_version(manifest: Manifest | None) -> int | None:
    """Return the number of a release from its manifest, or of a cap."""
    version = manifest and manifest.version(SimulatedRequest.obj_name())
    return version.minor if version else None


class AnswerLost(oslo_messaging.MessagingTimeout):
    """The error of a driver that notices the loss of a response."""

    answer_lost = True


class DuplicateCallError(Exception):
    """A call has a recorded response."""


class Database:
    """An SQLite database in memory with a virtual clock."""

    def __init__(self) -> None:
        self.clock: Callable[[], float] = lambda: EPOCH
        self.engine = sqlalchemy.create_engine(
            'sqlite://',
            poolclass=sqlalchemy.StaticPool,
            connect_args={'check_same_thread': False},
        )
        self.tables = LedgerTables()
        self._connection = self.engine.raw_connection().driver_connection
        self._connection.create_function('strftime', 2, self._strftime)
        self.tables.metadata.create_all(self.engine)
        self._empty = self.save()

    def save(self) -> bytes:
        """Return the content."""
        content: bytes = self._connection.serialize()
        return content

    def restore(self, content: bytes | None = None) -> None:
        """Replace the content; default: an empty ledger."""
        self._connection.deserialize(content or self._empty)

    def content(self) -> tuple[dict[str, str], Manifest | None]:
        """Return the state of each process by ID, and the hold."""
        # Without SQLAlchemy: each change of the ledger reads it.
        execute = self._connection.execute
        states = dict(execute(f'SELECT id, state FROM {MEMBERS}'))
        # An aggregate: there may be no row.
        select = f'SELECT max(held_manifest) FROM {STATE}'
        (held,) = execute(select).fetchone()
        return states, held and Manifest(json.loads(held))

    def _strftime(self, form: str, when: str) -> str:
        now = datetime.datetime.fromtimestamp(self.clock(), datetime.UTC)
        return now.isoformat(' ', 'milliseconds')[:23]


class Memory(MemoryLedger):
    """A ledger in memory."""

    def content(self) -> tuple[dict[str, str], Manifest | None]:
        """Return the state of each process by ID, and the hold."""
        return {m.id: m.state for m in self._members.values()}, self._held


class LedgerAccess:
    """The connection of one process to the ledger: slow, and at times down."""

    def __init__(self, fleet: Fleet, name: str) -> None:
        self._fleet = fleet
        self._name = name
        self.down_until = 0.0
        #: Number of failures, and virtual time of slow queries.
        self.failures = 0
        self.seconds = 0.0

    def travel(self) -> None:
        """Send a query, or receive the response."""
        fleet = self._fleet
        down_until = max(self.down_until, fleet.ledger_down_until)
        if fleet.kernel.now < down_until:
            fleet.kernel.sleep(fleet.kernel.random.uniform(0.01, 0.5))
            self.failures += 1
            raise exceptions.Unreachable('the database fails')
        delay = fleet.delay(fleet.slow_ledger)
        self.seconds += max(delay - 0.02, 0.0)
        fleet.kernel.sleep(delay)


class MemoryAccess(LedgerAccess):
    """Access to a ledger in memory; see ``LedgerStore`` for the methods."""

    def __getattr__(self, name: str) -> Any:
        return functools.partial(self._run, name)

    def _run(self, name: str, *args: Any) -> Any:
        try:
            self.travel()
            result = getattr(self._fleet.memory, name)(*args)
            if isinstance(result, Report):
                self._fleet.invariants.note_report(args[0].id)
                if result.has_changed:
                    self._fleet.observe()
            elif name in {'leave', 'expire', 'hold', 'finalize'}:
                self._fleet.observe()
            self.travel()
        except exceptions.Unreachable as error:
            if name == 'report':
                raise exceptions.NoLivePeer(error.message) from error
            raise
        return result


class SqlAccess(LedgerAccess):
    """``Transactions`` of a :class:`vobjects_sql.ledger.SqlLedger`."""

    @contextlib.contextmanager
    def reader(self) -> Iterator[Any]:
        """Return a connection for reading."""
        self.travel()
        with self._fleet.database.engine.connect() as connection:
            yield connection
        self.travel()

    def write(
        self, work: Callable[[Any], Any], *, urgent: bool = False
    ) -> Any:
        """Run a transaction."""
        self.travel()
        with self._fleet.database.engine.begin() as connection:
            result = work(connection)
        if not isinstance(result, Report) or result.has_changed:
            self._fleet.observe()
        self.travel()
        return result


class ObservedStatements(LedgerStatements):
    """Statements that tell the invariants of each heartbeat."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(fleet.database.tables)
        self._fleet = fleet

    def record(self, transaction: Any, member: Member) -> bool | None:
        """Record a heartbeat."""
        self._fleet.invariants.note_report(member.id)
        return super().record(transaction, member)


class Server:
    """A server process."""

    def __init__(self, fleet: Fleet, name: str, release: int) -> None:
        self.fleet = fleet
        self.name = name
        self.release = release
        self.digest = RELEASES[release].digest
        self.process = Process(fleet.kernel, name, fleet.clock_rate())
        self.access, ledger = fleet.open_ledger(self.process)
        manifest = RELEASES[release]
        self.membership = ServerMembership(
            fleet.member(name, TOPIC, manifest),
            ledger,
            period=PERIOD,
            announce=fleet.announce,
            on_view=self._note_view,
            on_report=lambda report: self.expiry.note_report(report),
            clock=self.process.clock,
            jitter=fleet.kernel.random.random,
        )
        self.expiry = Expiry(
            ledger,
            self.membership,
            announce=self.membership.announce,
            clock=self.process.clock,
        )
        endpoint = server.Endpoint(
            [self, LedgerEndpoint(ledger, self.membership.announce)],
            manifest=manifest,
            find_manifest=self._find_manifest,
            find_response=fleet.responses.get,
            has_expired=self.membership.has_expired,
        )
        self._dispatcher = Dispatcher([endpoint], fleet.slots)
        #: Messages in progress.
        self._messages: list[Message] = []
        self.is_consuming = False
        #: Time until which it must have joined, plus :meth:`delays`.
        self.join_deadline: float | None = None
        self.paused = 0.0
        #: Whether no server was up at some time while it joined.
        self.saw_no_server = False

    def run(self) -> None:
        """Start as ``ServerProcess.start`` does."""
        try:
            self.membership.refresh()
            self.membership.start()
            self.expiry.start()
            self.join_deadline = (
                self.fleet.kernel.now + BARRIER_BOUND - self.delays()
            )
            self.membership.join(consume=self._consume)
        except (exceptions.FleetError, exceptions.Unreachable) as error:
            self.fleet.kernel.log(f'{self.name} cannot join: {error.message}')
            self.crash()
            return
        self.join_deadline = None

    def _consume(self) -> None:
        self.is_consuming = True
        self.fleet.invariants.note_joined(self)
        self.fleet.kernel.log(f'{self.name} consumes')

    def delays(self) -> float:
        """Return the seconds by which faults may have delayed it."""
        failures = self.access.failures * BARRIER_BOUND
        # The wait starts over after each lease without a report.
        return failures + (self.access.seconds + self.paused) * BARRIER_BOUND

    def stop(self) -> None:
        """Stop as ``ServerProcess.stop`` does."""
        failures = self.access.failures
        self.membership.withdraw()
        if self.access.failures > failures:
            self.fleet.invariants.note_missing(self)
        self.is_consuming = False
        while self._messages:
            self.fleet.kernel.sleep(0.05)
        self.expiry.stop()
        self.membership.stop()
        self.crash()

    def crash(self) -> None:
        """End at once; the network notices it at some time, or never."""
        if self.is_consuming:
            self.fleet.invariants.note_missing(self)
        self.is_consuming = False
        self.join_deadline = None
        self.process.crash()
        for message in list(self._messages):
            message.lose(self.fleet)

    def receive(self, message: Message) -> None:
        """Handle a message in a thread."""
        self._messages.append(message)
        self.process.spawn(lambda: self._handle(message))

    def _handle(self, message: Message) -> None:
        incoming = types.SimpleNamespace(
            message={'method': 'perform', 'version': '1.0', **message.content},
            ctxt={'minor': message.minor},
        )
        result, error = None, None
        try:
            result = self._dispatcher.dispatch(incoming)
        except oslo_messaging.ExpectedException as expected:
            error = expected.exc_info[1]
        self._messages.remove(message)
        if (
            message.sender.deaf_until > self.fleet.kernel.now
            or not self.fleet.transmit(lambda: message.reply(result, error))
        ):
            message.lose(self.fleet)

    @server.handles(RoutedRequest)
    def routed_work(self, context: Any, request: Any) -> Any:
        """Do the same for a request that may go to capable servers only."""
        return self.work(context, request)

    @server.handles(SimulatedRequest)
    def work(self, context: Any, request: Any) -> Any:
        """Change something, and record the response, in one transaction."""
        fleet = self.fleet
        fleet.kernel.sleep(fleet.delay(fleet.slow_work))
        values = {
            name: getattr(request, name) if name in request else default
            for name, default in DEFAULTS.items()
        }
        call = call_state.current_call()
        if fleet.responses.get(call):
            raise DuplicateCallError(call)
        fleet.invariants.note_executed(
            self, request.name, values, context['minor']
        )
        result = SimulatedResult(name=request.name, **values)
        fleet.responses[call] = fleet_types.RecordedResponse(
            content=result.obj_to_primitive()
        )
        fleet.kernel.sleep(fleet.delay(fleet.slow_work))
        return result

    def _note_view(self, view: View) -> None:
        self.saw_no_server |= all(
            group.state != 'up' for group in view.servers(TOPIC)
        )

    def _find_manifest(self, digest: str) -> Manifest | None:
        view = self.membership.view
        for group in view.groups if view else ():
            if group.manifest.digest == digest:
                return group.manifest
        return None


class Message:
    """A request on its way, and the wait for its response.

    :ivar target: digest of the manifest of its servers; empty: any server
    :ivar minor: version of a request to the handlers; None: fleet protocol
    """

    def __init__(self, kernel: Kernel, target: str, **args: Any) -> None:
        self.target = target
        self.sender: Sender
        self.content = {'args': args}
        primitive = json.loads(args['request'])
        is_work = primitive['versioned_object.name'] in {
            'SimulatedRequest',
            'RoutedRequest',
        }
        version = primitive['versioned_object.version']
        self.minor = int(version.partition('.')[2]) if is_work else None
        self.name = primitive['versioned_object.data'].get('name')
        self.result: tuple[Any, BaseException | None] | None = None
        self.waiters = Waiters(kernel)

    def reply(self, result: Any, error: BaseException | None = None) -> None:
        """Complete the call; only the first response counts."""
        if self.result is None:
            self.result = result, error
            self.waiters.wake()

    def lose(self, fleet: Fleet) -> None:
        """Handle the loss of the response, or of the server."""
        chance = fleet.kernel.random.random()
        if chance < 0.4:
            error = AnswerLost('the connection is lost')
            fleet.kernel.after(0.01, lambda: self.reply(None, error))
        elif chance < 0.8:
            fleet.kernel.after(0.01, lambda: fleet.arrive(self))


class Rpc:
    """The simulated client of oslo.messaging."""

    def __init__(
        self, sender: Sender, timeout: float, target: str | None = None
    ) -> None:
        self._sender = sender
        self._timeout = timeout
        self._target = target

    def prepare(
        self, timeout: float | None = None, server: str | None = None
    ) -> Rpc:
        """Return a client with another timeout or another target."""
        return Rpc(
            self._sender, timeout or self._timeout, server or self._target
        )

    def call(self, context: Any, method: str, **args: Any) -> Any:
        """Send a message, and wait for its response."""
        fleet = self._sender.fleet
        message = Message(
            fleet.kernel,
            self._target or '',
            request=args['request'],
            reader=dict(args['reader']),
        )
        fleet.invariants.note_sent(self._sender, message)
        is_repeated = fleet.kernel.random.random() < fleet.duplication
        message.sender = self._sender
        for _ in range(1 + is_repeated):
            if fleet.kernel.now >= self._sender.mute_until:
                fleet.transmit(lambda: fleet.arrive(message))
        message.waiters.wait(lambda: message.result is not None, self._timeout)
        if message.result is None:
            raise oslo_messaging.MessagingTimeout('no response')
        result, error = message.result
        if error is not None:
            raise error
        return result


class Sender:
    """A client process."""

    def __init__(self, fleet: Fleet, name: str, release: int) -> None:
        self.fleet = fleet
        self.name = name
        self.release = release
        self.process = Process(fleet.kernel, name, fleet.clock_rate())
        self.paused = 0.0
        #: Times until which its messages, and the responses, are lost.
        self.mute_until = self.deaf_until = 0.0
        self.conf = None  # as a transport without options of RabbitMQ
        # A type that no server has: they do not know the manifest.
        manifest = Manifest({**RELEASES[release], f'Type{name}': '1.0'})
        before = manifests.emulate(manifest)
        try:
            self.client = Client(
                self,
                TOPIC,
                get_view=lambda: self.membership.current(),
                refresh_view=lambda: self.membership.renew(),
                timeout=TIMEOUT,
                ledger_deadline=lambda s: self.membership.deadline(s),
            )
        finally:
            manifests.emulate(before)
        self.membership = Membership(
            fleet.member(name, 'senders', manifest, state='up'),
            RemoteLedger(self.client, PERIOD * LEASE_PERIODS),
            period=PERIOD,
            on_view=self._note_view,
            clock=self.process.clock,
            jitter=fleet.kernel.random.random,
        )
        #: The cap of its view, and the newest version of capable servers.
        self.cap: int | None = None
        self.capable: int | None = None

    def _note_view(self, view: View) -> None:
        self.cap = minor_version(view.cap(TOPIC))
        self.capable = max(
            (
                minor
                for minor in range(len(RELEASES))
                if view.capable(TOPIC, {'RoutedRequest': f'1.{minor}'})
            ),
            default=None,
        )

    def run(self) -> None:
        """Send requests until the end."""
        random = self.fleet.kernel.random
        self.membership.start()
        for number in range(1000):
            values: dict[str, Any] = {}
            if self.release >= 1 and random.random() < 0.2:
                values['force'] = random.random() < 0.7
            if self.release >= 2 and random.random() < 0.2:
                values['level'] = random.randrange(2)
            self._call(f'{self.name}-{number}', values)
            self.fleet.kernel.sleep(random.expovariate(self.fleet.load))

    def crash(self) -> None:
        """End at once."""
        self.process.crash()

    def _call(self, name: str, values: dict[str, Any]) -> None:
        fleet = self.fleet
        fleet.invariants.note_requested(name, values)
        release = fleet.kernel.random.randrange(4)
        limit = RELEASES[release] if release < 3 else None
        kind = fleet.kernel.random.choice([SimulatedRequest, RoutedRequest])
        try:
            result = self.client.call({}, kind(name=name, **values), limit)
        except (
            exceptions.VobjectsError,
            oslo_messaging.MessagingException,
        ) as error:
            text = str(error).splitlines()[0][:60]
            fleet.kernel.log(f'{name}: {type(error).__name__}: {text}')
        else:
            fleet.invariants.note_response(name, result.name)


class Fleet:
    """One schedule.

    :param kernel: its virtual time and random numbers
    :param database: a database, for a schedule with a ledger in SQL
    """

    def __init__(self, kernel: Kernel, database: Database | None) -> None:
        self.kernel = kernel
        random = kernel.random
        self.drift = random.choice([0.0, DRIFT])
        #: Rate of the ledger's clock, and the sum of its steps in seconds.
        self._rate, self._steps = self.clock_rate(), 0.0
        self.memory = Memory(
            self._ledger_time, lambda: kernel.now * self._rate
        )
        self._is_sql = database is not None
        if database is not None:
            self.database = database
            database.restore()
            database.clock = self._ledger_time
        self.loss = random.choice([0.0, 0.0, 0.02, 0.2])
        self.slow_network = random.choice([0.0, 0.02, 0.1])
        self.slow_ledger = random.choice([0.0, 0.0, 0.03])
        self.slow_work = 0.02
        self.duplication = random.choice([0.0, 0.1])
        self.slots = random.choice([1, 2, 8])
        self.load = random.choice([0.5, 2.0, 5.0])
        self.ledger_down_until = 0.0
        self.responses: dict[str, fleet_types.RecordedResponse] = {}
        self.servers: dict[str, Server] = {}
        self.senders: dict[str, Sender] = {}
        self.invariants = Invariants(self)
        self._operator = Process(kernel, 'operator')
        self._count = 0
        kernel.check = self.invariants.check

    def run(self) -> None:
        """Run the schedule; raise if it violates an invariant."""
        random = self.kernel.random
        newest = random.choice([0, 1, 2, 2])
        for _ in range(random.randint(1, 2)):
            self.start_server(newest)
        for _ in range(random.randint(1, 2)):
            self.start_sender(random.choice([0, 1, 2, 2, 2]))
        self._end = end = random.uniform(4.0, 9.0)
        for _ in range(random.randint(2, 9)):
            when = random.uniform(0.5, end)
            self.kernel.after(when, random.choice(self._faults()))
        self.kernel.after(end, self._heal)
        self.kernel.run(end + CALM)
        self.invariants.check_end()

    # The processes

    def start_server(self, release: int | None = None) -> None:
        """Start a server of a release; default: any."""
        if release is None:
            release = self.kernel.random.randrange(3)
        started = Server(self, self._name('server'), release)
        self.servers[started.name] = started
        self.kernel.log(f'{started.name} of release {release} starts')
        started.process.spawn(started.run)

    def start_sender(self, release: int | None = None) -> None:
        """Start a client of a release; default: any."""
        if release is None:
            release = self.kernel.random.randrange(3)
        started = Sender(self, self._name('sender'), release)
        self.senders[started.name] = started
        self.kernel.log(f'{started.name} of release {release} starts')
        started.process.spawn(started.run)

    def member(
        self, name: str, topic: str, manifest: Manifest, **values: Any
    ) -> Member:
        """Return the member that a process reports."""
        return Member(name, topic, 'host', topic, '1', manifest, **values)

    def clock_rate(self) -> float:
        """Return the rate of a clock."""
        return 1 + self.kernel.random.choice([-1, 0, 1]) * self.drift

    def _name(self, kind: str) -> str:
        self._count += 1
        return f'{kind}{self._count}'

    # The network

    def delay(self, slow: float) -> float:
        """Return the delay of a message.

        :param slow: the probability that it takes unusually long
        """
        random = self.kernel.random
        if random.random() < slow:
            return random.uniform(0.0, LONGEST_DELAY)
        return random.uniform(0.001, 0.02)

    def transmit(self, arrive: Callable[[], None]) -> bool:
        """Send something over the network, and return whether it arrives."""
        if self.kernel.random.random() < self.loss:
            return False
        self.kernel.after(self.delay(self.slow_network), arrive)
        return True

    def arrive(self, message: Message) -> None:
        """Let a message arrive at a server."""
        servers = [
            server
            for server in self.servers.values()
            if server.is_consuming and message.target in {'', server.digest}
        ]
        if servers:
            self.kernel.random.choice(servers).receive(message)
        elif self.kernel.random.random() < 0.5:
            message.reply(
                None, oslo_messaging.MessageDeliveryFailure('no server')
            )

    def announce(self) -> None:
        """Wake all processes."""
        for each in [*self.servers.values(), *self.senders.values()]:
            self.transmit(each.membership.wake)

    # The ledger

    def open_ledger(self, process: Process) -> tuple[LedgerAccess, Any]:
        """Return a process's connection to the ledger, and the ledger."""
        if self._is_sql:
            access = SqlAccess(self, process.name)
            steps = StepDetector(process.clock)
            statements = ObservedStatements(self)
            return access, SqlLedger(access, statements, steps=steps)
        memory = MemoryAccess(self, process.name)
        return memory, memory

    def _ledger_time(self) -> float:
        return EPOCH + self.kernel.now * self._rate + self._steps

    def observe(self) -> None:
        """Tell the invariants about the content of the ledger."""
        ledger = self.database if self._is_sql else self.memory
        states, held = ledger.content()
        self.invariants.note_ledger(states, minor_version(held))

    # Faults

    def _faults(self) -> list[Callable[[], Task | None]]:
        faults: list[Callable[[], Any]] = [
            self.start_server,
            self.start_server,
            self.start_server,
            self.start_sender,
            self._stop_server,
            lambda: self._crash(self.servers),
            lambda: self._crash(self.senders),
            self._pause,
            self._pause,
            self._fail_ledger,
            self._step_clock,
            self._cut_off_server,
            self._cut_off_sender,
            self._cut_off_sender,
            lambda: self._operate('hold', TOPIC),
            lambda: self._operate('finalize'),
        ]
        if self._is_sql:
            faults += [self._fail_over] + [self._replace_lost_server] * 3
        return faults

    def _pick(self, processes: dict[str, Any]) -> Any:
        alive = [p for p in processes.values() if p.process.is_alive]
        return self.kernel.random.choice(alive) if alive else None

    def _crash(self, processes: dict[str, Any]) -> None:
        picked = self._pick(processes)
        if picked is not None:
            self.kernel.log(f'{picked.name} crashes')
            picked.crash()

    def _stop_server(self) -> None:
        picked = self._pick(self.servers)
        if picked is not None and picked.is_consuming:
            self.kernel.log(f'{picked.name} stops')
            picked.process.spawn(picked.stop)

    def _pause(self) -> None:
        picked = self._pick({**self.servers, **self.senders})
        if picked is not None:
            seconds = self.kernel.random.uniform(0.1, 4.0)
            self.kernel.log(f'{picked.name} pauses for {seconds:.1f} s')
            # Events that the pause delays must not occur after the faults.
            seconds = min(seconds, self._end - self.kernel.now)
            picked.process.paused_until = self.kernel.now + seconds
            picked.paused += seconds

    def _fail_ledger(self) -> None:
        seconds = self.kernel.random.uniform(0.1, 4.0)
        self.kernel.log(f'the ledger is down for {seconds:.1f} s')
        self.ledger_down_until = self.kernel.now + seconds

    def _step_clock(self) -> None:
        """Set the clock of the ledger, and perhaps set it back soon."""
        random = self.kernel.random

        def step(seconds: float) -> None:
            self.kernel.log(f'the clock of the ledger steps by {seconds} s')
            self._steps += seconds

        seconds = random.choice([-86400, -60, -5, -1, 1, 5, 60])
        step(seconds)
        if random.random() < 0.5:
            self.kernel.after(random.uniform(0.1, 0.6), lambda: step(-seconds))

    def _cut_off_server(self) -> None:
        picked = self._pick(self.servers)
        if picked is not None:
            seconds = self.kernel.random.uniform(0.1, 4.0)
            self.kernel.log(f'{picked.name} loses the ledger, {seconds:.1f} s')
            picked.access.down_until = self.kernel.now + seconds

    def _cut_off_sender(self) -> None:
        picked = self._pick(self.senders)
        if picked is not None:
            until = self.kernel.random.uniform(self.kernel.now, self._end)
            what = self.kernel.random.choice(['mute', 'deaf'])
            self.kernel.log(f'{picked.name} is {what} until {until:.1f}')
            setattr(picked, f'{what}_until', until)

    def _fail_over(self) -> None:
        """Replace the database by a copy that lacks the last commits."""
        content = self.database.save()
        lag = self.kernel.random.uniform(0.05, 1.0)
        self.kernel.after(lag, lambda: self._restore(content, lag))

    def _restore(self, content: bytes, lag: float) -> None:
        self.kernel.log(f'the database loses the last {lag:.2f} s')
        self.database.restore(content)
        self.invariants.note_failover()
        self.observe()

    def _replace_lost_server(self) -> None:
        """Lose a new server with its commits, and start another one.

        The ledger then counts the same generations again for other servers.
        """
        content = self.database.save()
        self.start_server()
        *_, lost = self.servers.values()
        lag = self.kernel.random.uniform(2.0, 3.0)

        def replace() -> None:
            lost.crash()
            self._restore(content, lag)
            self.start_server()

        self.kernel.after(lag, replace)

    def _operate(self, name: str, *args: str) -> None:
        _, ledger = self.open_ledger(self._operator)

        def work() -> None:
            self.kernel.log(f'operator: {name}')
            with contextlib.suppress(exceptions.Unreachable):
                getattr(ledger, name)(*args)
                self.announce()

        self._operator.spawn(work)

    def _heal(self) -> None:
        self.kernel.log('all faults end')
        self.loss = self.slow_network = self.slow_ledger = 0.0
        self.ledger_down_until = 0.0
        for server_ in self.servers.values():
            server_.access.down_until = 0.0
        for each in [*self.servers.values(), *self.senders.values()]:
            each.process.paused_until = 0.0
