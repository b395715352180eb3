# SPDX-License-Identifier: Apache-2.0
"""Policies that look after each node: they are told as nodes come and go.

They are told whoever asked for it, the node itself or its cluster's action,
and outside of transactions. What a policy has to remember of a node is in the
node's ``data``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import orm

from engine.actions import checks, work
from engine.db import models, nodes
from engine.policies import base
from engine.providers import base as providers

#: Why a policy cannot do its part.
TROUBLES = (base.PolicyRefusal, providers.ProviderError)

#: By the ID of a node: keys of its data with new values; None: no key.
Changes = dict[str, dict[str, Any]]


@dataclasses.dataclass(frozen=True, slots=True)
class News:
    """What came of telling policies about a node.

    :ivar trouble: why one could not do its part; '' if all could
    """

    changes: Mapping[str, Any]
    trouble: str = ''

    def status(self, reason: str) -> tuple[str, str]:
        """Return the status of the node, and why.

        :param reason: why, if all is well
        """
        return (
            ('WARNING', self.trouble) if self.trouble else ('ACTIVE', reason)
        )


def arrived(
    job: work.Work,
    node_id: str,
    physical_id: str | None = None,
    *,
    cluster_id: str | None = None,
) -> News:
    """Tell that a node has come, or has another object now.

    :param physical_id: of its object, if the node does not say so yet
    :param cluster_id: of the cluster that it is about to join, if it does
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


def departs(job: work.Work, node_id: str) -> bool:
    """Tell that a node is about to go from its cluster.

    :returns: whether it can; if not, the action has failed
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


def _stay(job: work.Work, node_id: str, trouble: str) -> None:
    def body(session: orm.Session) -> None:
        node = nodes.lock(session, node_id)
        if node is not None:
            nodes.set_status(node, 'WARNING', trouble)
        job.fail(session, trouble)

    job.write(body)


def departing(stage: work.Stage) -> work.Stage:
    """Return a stage that is run when policies have let the node go."""

    def depart(job: work.Work) -> None:
        if departs(job, job.action.target):
            stage(job)

    return depart


def joining(stage: work.Stage) -> work.Stage:
    """Return a stage that is run when policies have taken the node in."""

    def join(job: work.Work) -> None:
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
    job: work.Work, node: models.Node, changes: Mapping[str, Any]
) -> None:
    if changes:
        node.data = merged(node.data, changes)
        job.write(lambda session: note(session, {node.id: changes}))


def note(
    session: orm.Session, changes: Mapping[str, Mapping[str, Any]]
) -> None:
    """Change what nodes remember; fine if one is gone."""
    for node_id, values in changes.items():
        node = nodes.lock(session, node_id) if values else None
        if node is not None:
            node.data = merged(node.data, values)
    session.flush()


def merged(
    data: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return data with changes; what is None then is not there."""
    both = {**data, **changes}
    return {key: value for key, value in both.items() if value is not None}


def take_in(
    cloud: providers.Provider,
    kind: base.PolicyType,
    attached: base.Attached,
    members: Iterable[models.Node],
) -> Changes:
    """Have a policy look after nodes that are there.

    :raises engine.providers.base.ProviderError: it cannot
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
    """Have a policy look after nodes no more.

    :raises engine.providers.base.ProviderError: it cannot
    """
    if not kind.follows_nodes:
        return {}
    return kind.depart_all(cloud, attached, members)


def _told(
    job: work.Work, node_id: str, cluster_id: str | None
) -> tuple[models.Node | None, list[tuple[base.PolicyType, base.Attached]]]:
    """Return a node, and the policies that are told about it.

    :param cluster_id: of the policies; None: of the node
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
