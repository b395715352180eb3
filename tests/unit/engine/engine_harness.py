# SPDX-License-Identifier: Apache-2.0
"""Run several engines in one process, step by step.

Each engine has a scheduler, and its own member in the ledger. No thread runs
unless a test starts one. To simulate the death of an engine, a test stops
calling it; its changes in the database stay.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

import sqlalchemy
from oslo_config import cfg
from sqlalchemy import orm

from engine import reaper, scheduler, service
from engine.actions.runtime import Runtime
from engine.db import clock, database, ledger, models
from engine.events import recorder
from engine.policies import base as policy_types
from engine.profiles import base as profile_types
from engine.providers import base as providers
from engine.queues import base as queues
from engine.trusts import receiver_credentials
from vobjects import objects
from vobjects.clustering import topics, types
from vobjects.clustering.context import RequestContext
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import fleet, server
from vobjects_simulated.provider import SimulatedProvider

SPEC = {
    'type': 'os.nova.server',
    'version': '1.0',
    'properties': {'flavor': 'm1.small', 'image': 'cirros'},
}

#: Heartbeat period in seconds. It is longer than any test, so heartbeats
#: expire only by :meth:`Harness.expire_heartbeat`.
PERIOD = 1000.0


def request_context(
    project: str = 'ours', *, admin: bool = False
) -> RequestContext:
    """Return a request context."""
    return RequestContext(
        user_id='alice', project_id=project, domain_id='d', is_admin=admin
    )


class CrashError(BaseException):
    """Simulates the end of a process; no code of an engine catches it."""


class CrashingServers:
    """Simulated servers that can crash the engine around an operation."""

    OPERATIONS = (
        'create',
        'update',
        'delete',
        'operate',
    )

    def __init__(self, inner: providers.Servers) -> None:
        self._inner = inner
        self.crash_before = ''
        self.crash_after = ''
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if name not in self.OPERATIONS:
            return attribute

        def operation(*arguments: Any, **options: Any) -> Any:
            self.calls.append(arguments[1] if name == 'operate' else name)
            if self.crash_before == name:
                raise CrashError
            result = attribute(*arguments, **options)
            if self.crash_after == name:
                raise CrashError
            return result

        return operation


class CrashingCloud(SimulatedProvider):
    """The simulated cloud with :class:`CrashingServers`."""

    def __init__(
        self, conf: cfg.ConfigOpts, target: database.Database
    ) -> None:
        super().__init__(conf, target)
        self.servers = CrashingServers(self.servers)


class CrashingDatabase(database.Database):
    """A database that crashes its engine in or after a transaction.

    :ivar transactions_left: number of transactions before the one that
        crashes; None: never crash
    :ivar crashes_in_transaction: whether that transaction is rolled back
    """

    transactions_left: int | None = None
    crashes_in_transaction = False

    def write(
        self, work: Callable[[orm.Session], Any], *, urgent: bool = False
    ) -> Any:
        """Run a transaction, or crash."""
        if self.transactions_left is None:
            return super().write(work, urgent=urgent)
        self.transactions_left -= 1
        if self.transactions_left >= 0:
            return super().write(work, urgent=urgent)

        def crashing_work(session: orm.Session) -> Any:
            work(session)
            session.flush()
            raise CrashError

        super().write(
            crashing_work if self.crashes_in_transaction else work,
            urgent=urgent,
        )
        raise CrashError


class Engine:
    """One engine: handlers, a scheduler and a reaper."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        target: database.Database,
        provider: providers.Provider,
        *,
        speaks: Manifest | None = None,
        cap: Callable[[], Manifest | None] = lambda: None,
        name: str = 'one',
    ) -> None:
        assert types  # registers all types
        self.wake_count = 0
        self.runtime = Runtime(
            conf=conf,
            database=target,
            provider=provider,
            profile_types=profile_types.Registry.load().for_provider(
                conf.engine.provider
            ),
            policy_types=policy_types.Registry.load(),
            events=recorder.load(conf),
            queues=queues.load(conf, target),
            trusts=receiver_credentials.TrustManager(conf, target),
            cap=cap,
            speaks=speaks,
            wake=self._wake,
        )
        self.member = fleet.Member(
            id=str(uuid.uuid4()),
            binary='vobjects-engine',
            host=f'host-{name}',
            topic=topics.ENGINE,
            release='0.1.0',
            manifest=speaks or local(),
            state='up',
        )
        self.ledger = ledger.open_ledger(target)
        self.ledger.report(self.member)
        self.scheduler = scheduler.Scheduler(self.runtime, self.member.id)
        self.reaper = reaper.Reaper(
            self.runtime,
            own_scheduler=self.scheduler,
            period=PERIOD,
        )
        self._handlers = server.collect_handlers(
            handlers(self.runtime) for handlers in service.HANDLERS
        )

    def _wake(self, action_id: str = '') -> None:
        self.wake_count += 1
        self.scheduler.notify(action_id)

    def call(
        self, request: objects.Request, context: RequestContext | None = None
    ) -> Any:
        """Handle a request as the RPC server does.

        It must keep its values: a transaction may run twice.
        """
        context = context or request_context()
        before = request.obj_to_primitive()
        self.runtime.admit(context)
        response = self._handlers[request.obj_name()](context, request)
        assert request.obj_to_primitive() == before
        return response

    def run(self, *arguments: Any) -> Any:
        """Handle a request, run all ready stages; return the response."""
        response = self.call(*arguments)
        self.run_actions()
        return response

    def run_actions(self, limit: int = 1000) -> int:
        """Run all ready stages; return their number."""
        stages = 0
        while stages < limit and self.scheduler.step():
            stages += 1
        return stages

    def run_until_crash(self, *, before: str = '', after: str = '') -> None:
        """Run actions until a cloud operation crashes the engine."""
        servers: Any = self.runtime.provider.servers
        servers.crash_before, servers.crash_after = before, after
        try:
            self.run_actions()
        except CrashError:
            return
        finally:
            servers.crash_before = servers.crash_after = ''
        raise AssertionError('the engine did not crash')


class Harness:
    """A database with any number of engines.

    :param conf: with the URL of the database
    """

    def __init__(
        self, conf: cfg.ConfigOpts, target: database.Database
    ) -> None:
        self.conf = conf
        self.database = target
        self.cloud = CrashingCloud(conf, target)

    def engine(
        self, target: database.Database | None = None, **options: Any
    ) -> Engine:
        """Add an engine.

        :param target: the engine's own database connections
        """
        return Engine(
            self.conf, target or self.database, self.cloud, **options
        )

    def detect_death(self, engine: Engine) -> Engine:
        """Start an engine that detects the death of another; return it."""
        self.expire_heartbeat(engine)
        observer = self.engine(name='observer')
        dead = observer.ledger.expire(PERIOD)
        assert engine.member.id in {member.id for member in dead}
        observer.reaper.expect_orphans(dead)
        observer.reaper.sweep()
        return observer

    def expire_heartbeat(
        self, engine: Engine, seconds: float = 10 * PERIOD
    ) -> None:
        """Move the last heartbeat of an engine into the past."""

        members = models.LEDGER.members

        def body(session: orm.Session) -> None:
            silent_since = clock.now(session) - datetime.timedelta(
                seconds=seconds
            )
            session.execute(
                sqlalchemy.update(members)
                .where(members.c.id == engine.member.id)
                .values(heartbeat=silent_since)
            )

        self.database.write(body)

    def rows(self, model: type[Any]) -> list[Any]:
        """Return all rows of a table."""
        with self.database.reader() as session:
            return list(session.scalars(sqlalchemy.select(model)))

    def row(self, model: type[Any], id_: str) -> Any:
        """Return a row, or None."""
        with self.database.reader() as session:
            return session.get(model, id_)

    def change(
        self, model: type[Any], id_: str | None = None, **values: Any
    ) -> None:
        """Set columns of a row; None: of all rows of the table."""

        def body(session: orm.Session) -> None:
            rows = (
                session.scalars(sqlalchemy.select(model))
                if id_ is None
                else [session.get_one(model, id_)]
            )
            for row in rows:
                for name, value in values.items():
                    setattr(row, name, value)

        self.database.write(body)

    def actions(self, action_name: str) -> list[models.Action]:
        """Return all actions with a name."""
        return [
            row
            for row in self.rows(models.Action)
            if row.action == action_name
        ]

    def count(self, model: type[Any]) -> int:
        """Return the number of rows of a table."""
        return len(self.rows(model))

    def statuses(self, action_name: str) -> list[str]:
        """Return the statuses of all actions with a name."""
        return sorted(row.status for row in self.actions(action_name))

    def assert_idle(self) -> None:
        """Assert that no action is unfinished and no lock is held."""
        unfinished = [
            (row.action, row.status)
            for row in self.rows(models.Action)
            if row.end_time is None
        ]
        assert unfinished == []
        assert self.rows(models.Lock) == []
