# SPDX-License-Identifier: Apache-2.0
"""Assemble an engine process; start and stop its components in order.

At startup, it checks the database, joins the fleet through the ledger, waits
behind the join barrier, serves requests, and then claims actions. When it
stops, it no longer accepts requests, then claims no more actions, and leaves
the ledger. Other engines take over unfinished actions.
"""

from __future__ import annotations

import logging

from oslo_config import cfg

from engine import conf as engine_conf
from engine import (
    exporter,
    http_client,
    periodic,
    purger,
    reaper,
    scheduler,
)
from engine.actions.runtime import Runtime
from engine.db import database, idempotency, migrations, schema_phase
from engine.db.ledger import open_ledger
from engine.events import recorder
from engine.handlers import (
    actions,
    adoption,
    clusters,
    events,
    members,
    messages,
    nodes,
    operations,
    policies,
    policy_bindings,
    profiles,
    receivers,
)
from engine.handlers import services as service_handlers
from engine.health import manager as health
from engine.policies import base as policy_types
from engine.profiles import base as profile_types
from engine.providers import base as providers
from engine.queues import base as queues
from engine.trusts import keystone, receiver_credentials
from vobjects import exceptions
from vobjects.clustering import context, topics, types
from vobjects.clustering.service import SERVICE
from vobjects.objects.manifest import Manifest
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc import fleet_types, server_process, wakeups

LOG = logging.getLogger(__name__)

#: Request handler classes.
HANDLERS = (
    actions.ActionHandlers,
    adoption.AdoptionHandlers,
    policy_bindings.AttachmentHandlers,
    clusters.ClusterHandlers,
    events.EventHandlers,
    members.MemberHandlers,
    messages.MessageHandlers,
    nodes.NodeHandlers,
    operations.OperationHandlers,
    policies.PolicyHandlers,
    profiles.ProfileHandlers,
    receivers.ReceiverHandlers,
    service_handlers.ServiceHandlers,
)

#: Minimum seconds between two notices of new work to the other engines.
NOTICE_INTERVAL = 0.005

#: Every request and resource must be registered before it is sent.
TYPES = types


class SchemaError(exceptions.VobjectsError):
    """The database schema does not match this release."""


class Engine:
    """An engine process.

    :param conf: with the options of :mod:`engine.conf` and
        :mod:`vobjects.rpc.conf`
    :param speaks: types and versions to support; None for those of this build
    :param release: release to announce; None for that of this build
    :param host: host name to announce; None for that of this machine
    :raises engine.http_client.ConfigError: a forbidden network is invalid
    :raises SchemaError: the database must be upgraded, or is too new
    :raises vobjects.exceptions.Unreachable: the database does not answer
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        speaks: Manifest | None = None,
        release: str | None = None,
        host: str | None = None,
    ) -> None:
        engine_conf.register(conf)
        rpc_conf.register(conf)
        self.conf = conf
        for group in ('health_manager', 'hooks'):
            http_client.check(conf, group)
        self.database = database.Database(conf, create=False)
        try:
            check_schema(self.database)
        except BaseException:
            self.database.close()
            raise
        self.runtime = Runtime(
            conf=conf,
            database=self.database,
            provider=providers.load(conf, self.database),
            profile_types=profile_types.Registry.load().for_provider(
                conf.engine.provider
            ),
            policy_types=policy_types.Registry.load(),
            events=recorder.load(conf),
            queues=queues.load(conf, self.database),
            trusts=receiver_credentials.TrustManager(conf, self.database),
            cap=self._cap,
            speaks=speaks,
            wake=self._wake,
        )
        self.ledger = open_ledger(self.database)
        self.worker = server_process.ServerProcess(
            conf,
            SERVICE,
            host=host or '',
            release=release or '',
            manifest=speaks,
            ledger=self.ledger,
            handlers=[handlers(self.runtime) for handlers in HANDLERS],
            context_from=context.from_dict,
            prepare=self.runtime.admit,
            find_response=self._find_response,
            listeners={wakeups.WORK: self._hear},
            on_expired=lambda dead: self.reaper.expect_orphans(dead),
            observer=self.runtime.metrics,
        )
        # A notice costs the broker and every engine some work, and covers all
        # new work. Requests for notices shortly after one are combined.
        self.work_notifier = periodic.Periodic(
            'announcer',
            self._notify_engines,
            None,
            'Could not announce work',
            pause=NOTICE_INTERVAL,
            calls_last=True,
        )
        self.scheduler = scheduler.Scheduler(self.runtime, self.worker.id)
        self.health = health.Manager(self.runtime, self.worker.id)
        self.reaper = reaper.Reaper(
            self.runtime,
            own_scheduler=self.scheduler,
            period=conf.fleet.heartbeat_interval,
        )

        self.exporter = exporter.Exporter(
            conf, self.runtime.metrics, self.database
        )
        self.purger = purger.Purger(conf, self.database, self._is_first)
        self.revoker = periodic.Periodic(
            'revoker',
            self._revoke,
            conf.receivers.revoke_interval,
            'Could not revoke credentials',
        )

    def start(self) -> None:
        """Join the fleet, serve requests and run actions.

        :raises OSError: cannot listen on the port of the metrics
        """
        self.worker.start()
        self.work_notifier.start()
        self.reaper.start()
        self.purger.start()
        if self.runtime.trusts.is_enabled:
            self.revoker.start()
        self.scheduler.start()
        self.health.start()
        # Last: probes of containers take its answer for readiness.
        try:
            self.exporter.start()
        except OSError:
            self.stop()
            raise
        LOG.info('Engine %s serves', self.worker.id)

    def stop(self) -> None:
        """Finish running work within the stop timeout, and leave the fleet."""
        LOG.info('Engine %s stops', self.worker.id)
        # Running actions still receive wakeups, for example cancellations.
        self.worker.drain()
        self.health.stop(self.conf.engine.stop_timeout)
        self.scheduler.stop(self.conf.engine.stop_timeout)
        self.worker.stop_consuming()
        self.revoker.stop()
        self.purger.stop()
        self.reaper.stop()
        self.work_notifier.stop()
        self.worker.stop()
        self.exporter.stop()
        self.database.close()

    def _cap(self) -> Manifest:
        return self.worker.membership.view_without_report().cap(topics.ENGINE)

    def _is_first(self) -> bool:
        return self.ledger.is_first(self.worker.id)

    def _revoke(self) -> None:
        """Revoke unused credentials, in one engine: two would do no harm."""
        try:
            if self._is_first():
                self.runtime.trusts.revoke_unused()
        except keystone.KeystoneUnavailable as error:
            LOG.warning('Could not revoke credentials: %s', error)

    def _find_response(self, call: str) -> fleet_types.Record | None:
        with self.database.reader() as session:
            return idempotency.recall(session, call)

    def _hear(self) -> None:
        self.scheduler.notify()

    def _wake(self, action_id: str = '') -> None:
        self.scheduler.notify(action_id)
        self.work_notifier.wake()

    def _notify_engines(self) -> None:
        view = self.worker.membership.view
        if view is None or view.count(topics.ENGINE) > 1:
            self.worker.announce_work()


def check_schema(target: database.Database) -> None:
    """Reject a database that is too old or too new for this release.

    A database that a newer release has only expanded is accepted.

    :raises SchemaError: explains the mismatch
    :raises engine.db.migrations.UnknownRevisionError: no release has made the
        database
    """
    schema_phase.require_known(target)
    phase = schema_phase.phase_of(target)
    if phase is schema_phase.Phase.EXPAND:
        revision = migrations.current(target) or 'empty'
        raise SchemaError(
            f'the database is {revision} and this release needs revision'
            f' {migrations.head()}; run "vobjects db expand"'
        )
    if phase is schema_phase.Phase.TOO_NEW:
        raise SchemaError(
            'the database was contracted by a newer release; run that release'
        )
