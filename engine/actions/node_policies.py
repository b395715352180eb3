# SPDX-License-Identifier: Apache-2.0
"""Notify policies that manage each node when nodes come and go.

Policies are notified outside of transactions, whether the user's action
targets the node or its cluster. A policy stores its information about a node
in the node's ``data``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import orm

from engine.actions import action_run, checks
from engine.db import models, nodes
from engine.policies import base
from engine.providers import base as providers

#: Errors that prevent a policy from managing a node.
TROUBLES = (base.PolicyRefusal, providers.ProviderError)

#: Node ID -> keys of the node's data with new values; None deletes a key.
Changes = dict[str, dict[str, Any]]


@dataclasses.dataclass(frozen=True, slots=True)
class News:
    """The result of notifying policies about a node.

    :ivar changes: changes of the node's data
    :ivar trouble: why a policy failed; empty if none did
    """

    changes: Mapping[str, Any]
    trouble: str = ''

    def status(self, reason: str) -> tuple[str, str]:
        """Return the node's status and status reason.

        :param reason: the status reason if no policy failed
        """
        return (
            ('WARNING', self.trouble) if self.trouble else ('ACTIVE', reason)
        )


def arrived(
    job: action_run.Work,
    node_id: str,
    physical_id: str | None = None,
    *,
    cluster_id: str | None = None,
) -> News:
    """Notify policies of a new node, or of a node's new cloud object.

    :param physical_id: the ID of the new object, if the node does not have it
        yet
    :param cluster_id: the ID of the cluster that the node is about to join, if
        any
    """
    node, found = _told(job, node_id, cluster_id)
    if node is None or not found:
        return News({})
    former = node.physical_id
    node.physical_id = physical_id or former
    changes: dict[str, Any] = {}
    for kind, attached in found:
        if not attached.binding.enabled:
            continue
        try:
            if former not in (None, node.physical_id):
                changes.update(kind.depart(job.cloud, attached, node))
                node.data = merged(node.data, changes)
            changes.update(kind.arrive(job.cloud, attached, node))
        except TROUBLES as error:
            return News(changes, _trouble(attached, error))
    return News(changes)


def departs(job: action_run.Work, node_id: str) -> bool:
    """Notify policies that a node is about to leave its cluster.

    :returns: whether the node can leave; if not, the action has failed
    """
    node, found = _told(job, node_id, None)
    if node is None:
        return True
    for kind, attached in found:
        try:
            changes = kind.depart(job.cloud, attached, node)
        except TROUBLES as error:
            _stay(job, node_id, _trouble(attached, error))
            return False
        _note(job, node, changes)
    return True


def _stay(job: action_run.Work, node_id: str, trouble: str) -> None:
    def body(session: orm.Session) -> None:
        node = nodes.lock(session, node_id)
        if node is not None:
            nodes.set_status(node, 'WARNING', trouble)
        job.fail(session, trouble)

    job.write(body)


def departing(stage: action_run.Stage) -> action_run.Stage:
    """Wrap a stage so that the policies first release the node."""

    def depart(job: action_run.Work) -> None:
        if departs(job, job.action.target):
            stage(job)

    return depart


def joining(stage: action_run.Stage) -> action_run.Stage:
    """Wrap a stage so that the policies first accept the node."""

    def join(job: action_run.Work) -> None:
        node_id, cluster_id = job.action.target, job.request.cluster_id
        news = arrived(job, node_id, cluster_id=cluster_id)

        def body(session: orm.Session) -> None:
            note(session, {node_id: news.changes})
            if news.trouble:
                job.fail(session, news.trouble)

        if news.changes or news.trouble:
            job.write(body)
        if not news.trouble:
            stage(job)

    return join


def _note(
    job: action_run.Work, node: models.Node, changes: Mapping[str, Any]
) -> None:
    if changes:
        node.data = merged(node.data, changes)
        job.write(lambda session: note(session, {node.id: changes}))


def note(
    session: orm.Session, changes: Mapping[str, Mapping[str, Any]]
) -> None:
    """Update the data of nodes, ignoring nodes that were deleted."""
    for node_id, values in changes.items():
        node = nodes.lock(session, node_id) if values else None
        if node is not None:
            node.data = merged(node.data, values)
    session.flush()


def merged(
    data: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return data with changes applied; a value of None removes the key."""
    both = {**data, **changes}
    return {key: value for key, value in both.items() if value is not None}


def take_in(
    cloud: providers.Provider,
    kind: base.PolicyType,
    attached: base.Attached,
    members: Iterable[models.Node],
) -> Changes:
    """Add existing nodes to a policy.

    :raises engine.providers.base.ProviderError: a node cannot be added
    """
    if not kind.follows_nodes:
        return {}
    return {node.id: kind.arrive(cloud, attached, node) for node in members}


def let_go(
    cloud: providers.Provider,
    kind: base.PolicyType,
    attached: base.Attached,
    members: Iterable[models.Node],
) -> Changes:
    """Remove nodes from a policy.

    :raises engine.providers.base.ProviderError: a node cannot be removed
    """
    if not kind.follows_nodes:
        return {}
    return kind.depart_all(cloud, attached, members)


def _told(
    job: action_run.Work, node_id: str, cluster_id: str | None
) -> tuple[models.Node | None, list[tuple[base.PolicyType, base.Attached]]]:
    """Return a node and the policies to notify about it.

    :param cluster_id: the ID of the policies' cluster; None: the node's
        cluster
    """
    with job.run.database.reader() as session:
        node = nodes.get(session, node_id)
        if cluster_id is None and node is not None:
            cluster_id = node.cluster_id
        if cluster_id is None:
            return node, []
        return node, [
            (kind, attached)
            for kind, attached in checks.asked(
                job.run, session, cluster_id, enabled_only=False
            )
            if kind.follows_nodes
        ]


def _trouble(attached: base.Attached, error: Exception) -> str:
    return f"policy '{attached.policy.name}': {error}"
