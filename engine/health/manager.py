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

from engine.actions import action_factory, container_hosts
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
from engine.providers import server_events
from vobjects import exceptions
from vobjects.clustering import context
from vobjects.clustering.requests import nodes as requests

LOG = logging.getLogger(__name__)

#: Minimum and maximum seconds between two searches for due clusters.
SEARCH_INTERVAL = (0.1, 2.0)


@dataclasses.dataclass(frozen=True, slots=True)
class _MonitoredCluster:
    """A cluster with its health policy and its idle nodes."""

    cluster: models.Cluster
    policy: models.Policy
    properties: Any
    nodes: Sequence[probes.ProbedNode]


class Manager:
    """Checks the health of clusters for one service.

    :param owner: the ID of this service; it cannot claim clusters until the
        ledger lists it
    """

    def __init__(self, runtime: Runtime, owner: str) -> None:
        self._runtime = runtime
        self._owner = owner
        self._stopping = threading.Event()
        #: One worker stays free for other projects.
        self._most_per_project = max(
            1, runtime.conf.health_manager.workers - 1
        )
        #: Held by the thread that searches for clusters.
        self._search_lock = threading.Lock()
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
                LOG, error, 'Could not release the claimed clusters'
            )

    def step(self) -> bool:
        """Check one due cluster in the current thread.

        :returns: whether a cluster was due
        """
        cluster_id = self._claim()
        if cluster_id is None:
            return False
        self._check_cluster(cluster_id)
        return True

    def _loop(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._search_lock:
                    cluster_id = self._wait_for_cluster()
                if cluster_id is not None:
                    self._check_cluster(cluster_id)
            except Exception as error:  # noqa: BLE001 - it is logged
                database.log_failure(LOG, error, 'Could not check clusters')
                self._stopping.wait(SEARCH_INTERVAL[1])

    def _wait_for_cluster(self) -> str | None:
        while not self._stopping.is_set():
            cluster_id = self._claim()
            if cluster_id is not None:
                return cluster_id
            with self._runtime.database.reader() as session:
                seconds = health.seconds_to_next(session)
            minimum, maximum = SEARCH_INTERVAL
            pause = maximum if seconds is None else seconds
            self._stopping.wait(min(max(pause, minimum), maximum))
        return None

    def _claim(self) -> str | None:
        with self._runtime.database.reader() as session:
            cluster_id = health.due(
                session, self._owner, self._most_per_project
            )
        if cluster_id is None:
            return None
        claimed = self._runtime.database.write(
            lambda session: health.claim(session, cluster_id, self._owner)
        )
        return cluster_id if claimed else None

    def _check_cluster(self, cluster_id: str) -> None:
        try:
            monitored = self._load_cluster(cluster_id)
            if monitored is not None:
                self._probe_nodes(monitored)
        except Exception as error:  # noqa: BLE001 - it is logged
            database.log_failure(
                LOG, error, f'Could not check cluster {cluster_id}'
            )
        finally:
            self._runtime.database.write(
                lambda session: health.release(
                    session, self._owner, cluster_id
                )
            )

    def _load_cluster(self, cluster_id: str) -> _MonitoredCluster | None:
        """Return a cluster with its idle nodes; None: don't check it now."""
        with self._runtime.database.reader() as session:
            cluster = clusters.get(session, cluster_id)
            policy_row = _enabled_policy(session, cluster_id)
            if (
                cluster is None
                or policy_row is None
                or _is_locked(session, cluster)
            ):
                return None
            properties = self._runtime.policy_types.properties_of(
                policy_row.type, policy_row.spec
            )
            return _MonitoredCluster(
                cluster,
                policy_row,
                properties,
                self._idle_nodes(session, cluster),
            )

    def _idle_nodes(
        self, session: orm.Session, cluster: models.Cluster
    ) -> list[probes.ProbedNode]:
        members = nodes.of_cluster(session, cluster.id)
        busy = _busy_nodes(session, [node.id for node in members])
        profiles: dict[str, models.Profile] = {}
        nodes_to_probe = []
        for node in members:
            if node.id in busy:
                continue
            if node.profile_id not in profiles:
                profiles[node.profile_id] = session.get_one(
                    models.Profile, node.profile_id
                )
            profile = profiles[node.profile_id]
            nodes_to_probe.append(
                probes.ProbedNode(
                    container_hosts.node_object(
                        session, self._runtime.profile_types, node, profile
                    ),
                    (cluster.user, cluster.project),
                    node.status,
                )
            )
        return nodes_to_probe

    def _probe_nodes(self, monitored: _MonitoredCluster) -> None:
        detection = monitored.properties['detection']
        modes = [mode['type'] for mode in detection['detection_modes']]
        if policy.EVENTS in modes:
            self._process_events(monitored)
            return

        def probe(probed: probes.ProbedNode) -> None:
            if self._stopping.is_set() or self._changed_recently(
                probed.node.view.id, detection['node_update_timeout']
            ):
                return
            failure = probes.find_failure(
                self._runtime, probed, detection, self._stopping
            )
            if failure:
                self._recover(monitored, probed, failure)

        _run_in_parallel(
            monitored.nodes, probe, self._runtime.conf.health_manager.probes
        )

    def _process_events(self, monitored: _MonitoredCluster) -> None:
        """Recover the nodes for which the cloud reported failures."""
        source = self._runtime.provider.lifecycle
        if source is None:
            return
        by_server = {
            probed.node.view.physical_id: probed
            for probed in monitored.nodes
            if probed.node.view.physical_id
        }
        events = source.of(list(by_server))
        source.acknowledge(
            [
                event.id
                for event in events
                if event.type not in server_events.FAILURES
                or self._recover(
                    monitored,
                    by_server[event.server_id],
                    event.type,
                    check=True,
                )
            ]
        )

    def _changed_recently(self, node_id: str, seconds: float) -> bool:
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
        monitored: _MonitoredCluster,
        probed: probes.ProbedNode,
        failure: str,
        *,
        check: bool = False,
    ) -> bool:
        """Queue the recovery of a node, unless an action works on it.

        :param failure: the reason
        :param check: whether to skip the recovery if the node is healthy by
            then
        :returns: whether the recovery is queued or no longer needed
        """
        fields = policy.recovery_of(monitored.properties)
        if check:
            fields['check'] = True
        request = requests.NodeRecoverRequest(
            identity=probed.node.view.id, **fields
        )

        def body(session: orm.Session) -> bool:
            cluster = clusters.lock(session, monitored.cluster.id)
            node = nodes.lock(session, probed.node.view.id)
            if (
                cluster is None
                or node is None
                or node.cluster_id != cluster.id
                or node.physical_id != probed.node.view.physical_id
            ):
                return True
            if (
                not health.is_owned(session, cluster.id, self._owner)
                or _is_locked(session, cluster)
                or _busy_nodes(session, [node.id])
            ):
                return False
            LOG.warning(
                'Queueing the recovery of node %s: %s', _label(probed), failure
            )
            action = action_factory.from_request(
                self._runtime,
                _owner_context(cluster),
                'NODE_RECOVER',
                node,
                request,
                cluster=cluster,
            )
            action.status_reason = (
                f"Health policy '{monitored.policy.name}': {failure}"
            )
            statements.insert(session, [action])
            return True

        try:
            is_queued = self._runtime.database.write(body)
        except exceptions.LossyDowngrade as error:
            LOG.warning('Node %s is not recovered: %s', _label(probed), error)
            return False
        self._runtime.wake()
        return is_queued


def _label(probed: probes.ProbedNode) -> str:
    return f'{probed.node.view.name} ({probed.node.view.id})'


def _enabled_policy(
    session: orm.Session, cluster_id: str
) -> models.Policy | None:
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
    return statements.exists(
        session, lock.resource_id == cluster.id, lock.exclusive.is_(True)
    )


def _busy_nodes(session: orm.Session, node_ids: Sequence[str]) -> set[str]:
    """Return the IDs of the nodes that have unfinished actions."""
    busy: set[str] = set()
    for ids in statements.portions(node_ids):
        busy.update(
            session.scalars(
                sqlalchemy.select(models.Action.target).where(
                    models.Action.target.in_(ids),
                    models.Action.status.in_(actions.UNFINISHED),
                )
            )
        )
    return busy


def _owner_context(cluster: models.Cluster) -> context.RequestContext:
    """Return a request context that acts for the cluster's owner."""
    return context.RequestContext(
        user_id=cluster.user,
        project_id=cluster.project,
        domain_id=cluster.domain,
        request_id=f'req-{uuidutils.generate_uuid()}',
    )


def _run_in_parallel(
    nodes: Sequence[probes.ProbedNode],
    probe: Callable[[probes.ProbedNode], None],
    threads: int,
) -> None:
    """Probe all nodes in parallel; raise the exceptions of failures.

    :param threads: the maximum number of nodes to probe at a time
    """
    waiting: queue.SimpleQueue[probes.ProbedNode] = queue.SimpleQueue()
    for probed in nodes:
        waiting.put(probed)
    errors: list[Exception] = []

    def probe_next() -> None:
        while not errors:
            try:
                probe(waiting.get_nowait())
            except queue.Empty:
                return
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)

    helpers = [
        threading.Thread(target=probe_next, name='probe', daemon=True)
        for _ in range(min(threads, len(nodes)) - 1)
    ]
    for helper in helpers:
        helper.start()
    probe_next()
    for helper in helpers:
        helper.join()
    for error in errors:
        raise error
