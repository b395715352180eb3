# SPDX-License-Identifier: Apache-2.0
"""Claim clusters that are due, and recover their failed nodes.

Every engine has a manager. A manager claims a cluster for a single check
(:mod:`engine.db.health`). If its engine dies during the check, the ledger
notices, and another engine takes over. The check skips nodes that have
unfinished actions, and clusters that an action holds exclusively.
"""

from __future__ import annotations

import dataclasses
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy
from oslo_utils import uuidutils
from sqlalchemy import orm

from engine.actions import action_factory, hosts
from engine.actions.runtime import Runtime
from engine.db import (
    actions,
    clock,
    clusters,
    database,
    health,
    models,
    nodes,
    statements,
)
from engine.health import probes
from engine.policies import health as policy
from engine.providers import lifecycle
from vobjects import exceptions
from vobjects.clustering import context
from vobjects.clustering.requests import nodes as requests

LOG = logging.getLogger(__name__)

#: Minimum and maximum seconds between two searches for due clusters.
PAUSE = (0.1, 2.0)


@dataclasses.dataclass(frozen=True, slots=True)
class _Case:
    """A cluster with its health policy and its idle nodes."""

    cluster: models.Cluster
    policy: models.Policy
    properties: Any
    patients: Sequence[probes.Patient]


class Manager:
    """Checks the health of clusters for one service.

    :param owner: the ID of this service; it cannot claim clusters until the
        ledger lists it
    """

    def __init__(self, runtime: Runtime, owner: str) -> None:
        self._runtime = runtime
        self._owner = owner
        self._stopping = threading.Event()
        #: Held by the thread that searches for clusters.
        self._turn = threading.Lock()
        self._threads = [
            threading.Thread(
                target=self._loop, name=f'health-{number}', daemon=True
            )
            for number in range(runtime.conf.health_manager.workers)
        ]

    def start(self) -> None:
        """Start the checks, and listen to events from the cloud."""
        if self._runtime.provider.lifecycle is not None:
            self._runtime.provider.lifecycle.start()
        for thread in self._threads:
            thread.start()

    def stop(self, timeout: float) -> None:
        """Stop claiming, and release clusters whose checks don't end soon.

        :param timeout: seconds to wait for all current checks together
        """
        self._stopping.set()
        if self._runtime.provider.lifecycle is not None:
            self._runtime.provider.lifecycle.stop()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout / len(self._threads))
        try:
            self._runtime.database.write(
                lambda session: health.release(session, self._owner)
            )
        except Exception as error:  # noqa: BLE001 - it is logged
            # Remaining claims expire when the ledger removes this service.
            database.log_failure(
                LOG, error, 'Could not leave clusters to others'
            )

    def step(self) -> bool:
        """Check one due cluster in the current thread.

        :returns: whether a cluster was due
        """
        cluster_id = self._claim()
        if cluster_id is None:
            return False
        self._look(cluster_id)
        return True

    def _loop(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._turn:
                    cluster_id = self._wait_for_one()
                if cluster_id is not None:
                    self._look(cluster_id)
            except Exception as error:  # noqa: BLE001 - it is logged
                database.log_failure(
                    LOG, error, 'Could not look after clusters'
                )
                self._stopping.wait(PAUSE[1])

    def _wait_for_one(self) -> str | None:
        while not self._stopping.is_set():
            cluster_id = self._claim()
            if cluster_id is not None:
                return cluster_id
            with self._runtime.database.reader() as session:
                seconds = health.seconds_to_next(session)
            least, most = PAUSE
            pause = most if seconds is None else seconds
            self._stopping.wait(min(max(pause, least), most))
        return None

    def _claim(self) -> str | None:
        with self._runtime.database.reader() as session:
            cluster_id = health.due(session)
        if cluster_id is None:
            return None
        claimed = self._runtime.database.write(
            lambda session: health.claim(session, cluster_id, self._owner)
        )
        return cluster_id if claimed else None

    def _look(self, cluster_id: str) -> None:
        try:
            case = self._case(cluster_id)
            if case is not None:
                self._examine(case)
        except Exception as error:  # noqa: BLE001 - it is logged
            database.log_failure(
                LOG, error, f'Could not look after cluster {cluster_id}'
            )
        finally:
            self._runtime.database.write(
                lambda session: health.release(
                    session, self._owner, cluster_id
                )
            )

    def _case(self, cluster_id: str) -> _Case | None:
        """Return a cluster with its idle nodes; None: don't check it now."""
        with self._runtime.database.reader() as session:
            cluster = clusters.get(session, cluster_id)
            found = _policy(session, cluster_id)
            if (
                cluster is None
                or found is None
                or _is_locked(session, cluster)
            ):
                return None
            properties = self._runtime.policy_types.properties_of(
                found.type, found.spec
            )
            return _Case(
                cluster, found, properties, self._patients(session, cluster)
            )

    def _patients(
        self, session: orm.Session, cluster: models.Cluster
    ) -> list[probes.Patient]:
        members = nodes.of_cluster(session, cluster.id)
        busy = _busy(session, [node.id for node in members])
        known: dict[str, models.Profile] = {}
        patients = []
        for node in members:
            if node.id in busy:
                continue
            if node.profile_id not in known:
                known[node.profile_id] = session.get_one(
                    models.Profile, node.profile_id
                )
            profile = known[node.profile_id]
            patients.append(
                probes.Patient(
                    hosts.node_view(session, node),
                    (cluster.user, cluster.project),
                    node.status,
                    self._runtime.profile_types.get(profile.type),
                    self._runtime.profile_types.properties_of(
                        profile.type, profile.spec
                    ),
                )
            )
        return patients

    def _examine(self, case: _Case) -> None:
        detection = case.properties['detection']
        modes = [mode['type'] for mode in detection['detection_modes']]
        if policy.EVENTS in modes:
            self._hear(case)
            return

        def examine(patient: probes.Patient) -> None:
            if self._stopping.is_set() or self._is_young(
                patient.view.id, detection['node_update_timeout']
            ):
                return
            trouble = probes.diagnosis(
                self._runtime, patient, detection, self._stopping
            )
            if trouble:
                self._recover(case, patient, trouble)

        _each(case.patients, examine, self._runtime.conf.health_manager.probes)

    def _hear(self, case: _Case) -> None:
        """Recover the nodes for which the cloud reported failures."""
        source = self._runtime.provider.lifecycle
        if source is None:
            return
        by_server = {
            patient.view.physical_id: patient
            for patient in case.patients
            if patient.view.physical_id
        }
        told = source.of(list(by_server))
        source.acknowledge(
            [
                event.id
                for event in told
                if event.type not in lifecycle.FAILURES
                or self._recover(
                    case,
                    by_server[event.server_id],
                    event.type,
                    check=True,
                )
            ]
        )

    def _is_young(self, node_id: str, seconds: float) -> bool:
        """Tell whether a node was changed less than ``seconds`` ago."""
        with self._runtime.database.reader() as session:
            node = nodes.get(session, node_id)
            if node is None:
                return True
            changed = node.updated_at or node.init_at
            age = clock.now(session) - changed
        return age.total_seconds() < seconds

    def _recover(
        self,
        case: _Case,
        patient: probes.Patient,
        trouble: str,
        *,
        check: bool = False,
    ) -> bool:
        """Queue the recovery of a node, unless an action works on it.

        :param trouble: the reason
        :param check: whether to skip the recovery if the node is healthy by
            then
        :returns: whether the recovery is queued or no longer needed
        """
        fields = policy.recovery_of(case.properties)
        if check:
            fields['check'] = True
        request = requests.NodeRecoverRequest(
            identity=patient.view.id, **fields
        )

        def body(session: orm.Session) -> bool:
            cluster = clusters.lock(session, case.cluster.id)
            node = nodes.lock(session, patient.view.id)
            if (
                cluster is None
                or node is None
                or node.cluster_id != cluster.id
                or node.physical_id != patient.view.physical_id
            ):
                return True
            if (
                not health.is_owned(session, cluster.id, self._owner)
                or _is_locked(session, cluster)
                or _busy(session, [node.id])
            ):
                return False
            LOG.warning(
                'Node %s is to be recovered: %s', _shown(patient), trouble
            )
            action = action_factory.from_request(
                self._runtime,
                _caller(cluster),
                'NODE_RECOVER',
                node,
                request,
                cluster=cluster,
            )
            action.status_reason = (
                f"Health policy '{case.policy.name}': {trouble}"
            )
            statements.insert(session, [action])
            return True

        try:
            asked = self._runtime.database.write(body)
        except exceptions.LossyDowngrade as error:
            LOG.warning('Node %s is not recovered: %s', _shown(patient), error)
            return False
        self._runtime.wake()
        return asked


def _shown(patient: probes.Patient) -> str:
    return f'{patient.view.name} ({patient.view.id})'


def _policy(session: orm.Session, cluster_id: str) -> models.Policy | None:
    """Return the health policy of a cluster if it is enabled."""
    row = session.get(
        models.HealthRegistration, cluster_id, populate_existing=True
    )
    if row is None or not row.enabled:
        return None
    binding = clusters.get_binding(session, cluster_id, row.policy_id)
    if binding is None or not binding.enabled:
        return None
    return session.get(models.Policy, row.policy_id)


def _is_locked(session: orm.Session, cluster: models.Cluster) -> bool:
    """Tell whether an action holds a cluster exclusively."""
    lock = models.Lock
    found = session.scalar(
        sqlalchemy.select(sqlalchemy.func.count())
        .select_from(lock)
        .where(lock.resource_id == cluster.id, lock.exclusive.is_(True))
    )
    return bool(found)


def _busy(session: orm.Session, node_ids: Sequence[str]) -> set[str]:
    """Return the IDs of the nodes that have unfinished actions."""
    found: set[str] = set()
    for some in statements.portions(node_ids):
        found.update(
            session.scalars(
                sqlalchemy.select(models.Action.target).where(
                    models.Action.target.in_(some),
                    models.Action.status.in_(actions.UNFINISHED),
                )
            )
        )
    return found


def _caller(cluster: models.Cluster) -> context.RequestContext:
    """Return a request context that acts for the cluster's owner."""
    return context.RequestContext(
        user_id=cluster.user,
        project_id=cluster.project,
        domain_id=cluster.domain,
        request_id=f'req-{uuidutils.generate_uuid()}',
    )


def _each(
    patients: Sequence[probes.Patient],
    examine: Callable[[probes.Patient], None],
    threads: int,
) -> None:
    """Examine all nodes in parallel; raise the exceptions of failures.

    :param threads: the maximum number of nodes to examine at a time
    """
    waiting: queue.SimpleQueue[probes.Patient] = queue.SimpleQueue()
    for patient in patients:
        waiting.put(patient)
    errors: list[Exception] = []

    def work() -> None:
        while not errors:
            try:
                examine(waiting.get_nowait())
            except queue.Empty:
                return
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)

    helpers = [
        threading.Thread(target=work, name='probe', daemon=True)
        for _ in range(min(threads, len(patients)) - 1)
    ]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    for error in errors:
        raise error
