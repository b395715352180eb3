# SPDX-License-Identifier: Apache-2.0
"""A fleet of engines in one process, run step by step.

Each engine is a scheduler with an identity of its own in the ledger; no
thread runs unless a test starts one. An engine dies by never being asked for
anything again: what it did in the database stays as it was.
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
from engine.actions import runtime
from engine.db import clock, database, models, services
from engine.events import recorder
from engine.policies import base as policy_types
from engine.profiles import base as profile_types
from engine.providers import base as providers
from engine.providers.simulated.provider import SimulatedProvider
from engine.queues import base as queues
from engine.trusts import base as delegations
from vobjects import objects
from vobjects.clustering import topics, types
from vobjects.clustering.context import RequestContext
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import fleet, server

SPEC = {
    'type': 'os.nova.server',
    'version': '1.0',
    'properties': {'flavor': 'm1.small', 'image': 'cirros'},
}

#: Heartbeat period in seconds: no test takes as long, on any machine, so
#: that nobody is silent for as long but by :meth:`World.silence`.
PERIOD = 1000.0


def caller(project: str = 'ours', *, admin: bool = False) -> RequestContext:
    """Return a request context."""
    return RequestContext(
        user_id='alice', project_id=project, domain_id='d', is_admin=admin
    )


class CrashError(BaseException):
    """The process ends here; nothing catches this."""


class FragileServers:
    """The simulated servers, with engines that die around an operation."""

    OPERATIONS = (
        'create',
        'update',
        'delete',
        'reboot',
        'rebuild',
        'operate',
    )

    def __init__(self, inner: providers.Servers) -> None:
        self._inner = inner
        self.dies_before = ''
        self.dies_after = ''
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self.OPERATIONS:
            return found

        def operation(*arguments: Any, **options: Any) -> Any:
            self.calls.append(name)
            if self.dies_before == name:
                raise CrashError
            answer = found(*arguments, **options)
            if self.dies_after == name:
                raise CrashError
            return answer

        return operation


class Cloud(SimulatedProvider):
    """The simulated cloud, its servers :class:`FragileServers`."""

    def __init__(
        self, conf: cfg.ConfigOpts, target: database.Database
    ) -> None:
        super().__init__(conf, target)
        self.servers = FragileServers(self.servers)


class MortalDatabase(database.Database):
    """A database whose engine dies at one of its transactions.

    :ivar lives: transactions until then; None: it does not
    :ivar dies_within: whether the last one is lost; else it is the last
        thing that happens
    """

    lives: int | None = None
    dies_within = False

    def write(
        self, work: Callable[[orm.Session], Any], *, urgent: bool = False
    ) -> Any:
        """Die, or do as other databases."""
        if self.lives is None:
            return super().write(work, urgent=urgent)
        self.lives -= 1
        if self.lives >= 0:
            return super().write(work, urgent=urgent)

        def last(session: orm.Session) -> Any:
            work(session)
            session.flush()
            raise CrashError

        super().write(last if self.dies_within else work, urgent=urgent)
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
        assert types  # all are registered
        self.woken = 0
        self.run = runtime.Runtime(
            conf=conf,
            database=target,
            provider=provider,
            profile_types=profile_types.Registry.load(),
            policy_types=policy_types.Registry.load(),
            events=recorder.load(conf),
            queues=queues.load(conf, target),
            delegations=delegations.Delegations(conf, target),
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
        self.ledger = services.DatabaseLedger(target)
        self.ledger.report(self.member)
        self.scheduler = scheduler.Scheduler(self.run, self.member.id)
        self.reaper = reaper.Reaper(
            self.run,
            self.ledger,
            ours=self.scheduler,
            period=PERIOD,
        )
        self._handlers = server.collect_handlers(
            handlers(self.run) for handlers in service.HANDLERS
        )

    def _wake(self) -> None:
        self.woken += 1
        self.scheduler.hear()

    def ask(
        self, request: objects.Request, context: RequestContext | None = None
    ) -> Any:
        """Do what the RPC server does with a request."""
        context = context or caller()
        self.run.admit(context)
        return self._handlers[request.obj_name()](context, request)

    def work(self, most: int = 1000) -> int:
        """Run what there is to run; return how many stages that was."""
        done = 0
        while done < most and self.scheduler.step():
            done += 1
        return done

    def die_in(self, *, before: str = '', after: str = '') -> None:
        """Work until the engine dies around an operation of the cloud."""
        servers: Any = self.run.provider.servers
        servers.dies_before, servers.dies_after = before, after
        try:
            self.work()
        except CrashError:
            return
        finally:
            servers.dies_before = servers.dies_after = ''
        raise AssertionError('the engine survived')


class World:
    """A database with engines on it.

    :param conf: already names the database
    """

    def __init__(
        self, conf: cfg.ConfigOpts, target: database.Database
    ) -> None:
        self.conf = conf
        self.database = target
        self.cloud = Cloud(conf, target)

    def engine(
        self, target: database.Database | None = None, **options: Any
    ) -> Engine:
        """Add an engine.

        :param target: its own way to the database
        """
        return Engine(
            self.conf, target or self.database, self.cloud, **options
        )

    def bury(self, engine: Engine) -> None:
        """Have an engine that died noticed by another one, which is made."""
        self.silence(engine)
        other = self.engine(name='undertaker')
        assert engine.member.id in [one.id for one in other.reaper.sweep()]

    def silence(self, engine: Engine, seconds: float = 10 * PERIOD) -> None:
        """Make the last heartbeat of an engine older."""

        def body(session: orm.Session) -> None:
            row = session.get(models.Service, engine.member.id)
            assert row is not None
            row.heartbeat = clock.now(session) - datetime.timedelta(
                seconds=seconds
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

    def count(self, model: type[Any]) -> int:
        """Return the number of rows of a table."""
        return len(self.rows(model))

    def statuses(self, kind: str) -> list[str]:
        """Return the statuses of all actions of a kind."""
        return sorted(
            row.status
            for row in self.rows(models.Action)
            if row.action == kind
        )

    def assert_at_rest(self) -> None:
        """Nothing is under way and no lock is left."""
        unfinished = [
            (row.action, row.status)
            for row in self.rows(models.Action)
            if row.end_time is None
        ]
        assert unfinished == []
        assert self.rows(models.Lock) == []
