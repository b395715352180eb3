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

from engine.actions import action_run, policy_checks
from engine.db import models, nodes
from engine.policies import base
from engine.providers import base as providers

#: Errors that prevent a policy from managing a node.
ERRORS = (*base.REFUSALS, providers.ProviderError)

#: Node ID -> keys of the node's data with new values; None deletes a key.
Changes = dict[str, dict[str, Any]]


@dataclasses.dataclass(frozen=True, slots=True)
class NodeUpdate:
    """The result of notifying policies about a node.

    :ivar changes: changes of the node's data
    :ivar failure: why a policy failed; empty if none did
    """

    changes: Mapping[str, Any]
    failure: str = ''

    def status(self, reason: str) -> tuple[str, str]:
        """Return the node's status and status reason.

        :param reason: the status reason if no policy failed
        """
        return (
            ('WARNING', self.failure) if self.failure else ('ACTIVE', reason)
        )


def add_node(
    run: action_run.ActionRun,
    node_id: str,
    physical_id: str | None = None,
    *,
    cluster_id: str | None = None,
) -> NodeUpdate:
    """Notify policies of a new node, or of a node's new cloud object.

    :param physical_id: the ID of the new object, if the node does not have it
        yet
    :param cluster_id: the ID of the cluster that the node is about to join, if
        any
    """
    node, policies = _tracking_policies(run, node_id, cluster_id)
    if node is None or not policies:
        return NodeUpdate({})
    old_physical_id = node.physical_id
    node.physical_id = physical_id or old_physical_id
    changes: dict[str, Any] = {}
    for policy_type, attached in policies:
        if not attached.binding.enabled:
            continue
        try:
            if old_physical_id not in (None, node.physical_id):
                changes.update(
                    policy_type.remove_node(run.cloud, attached, node)
                )
                node.data = apply_changes(node.data, changes)
            changes.update(policy_type.add_node(run.cloud, attached, node))
        except ERRORS as error:
            return NodeUpdate(changes, _failure_message(attached, error))
    return NodeUpdate(changes)


def remove_node(run: action_run.ActionRun, node_id: str) -> bool:
    """Notify policies that a node is about to leave its cluster.

    :returns: whether the node can leave; if not, the action has failed
    """
    node, policies = _tracking_policies(run, node_id, None)
    if node is None:
        return True
    for policy_type, attached in policies:
        try:
            changes = policy_type.remove_node(run.cloud, attached, node)
        except ERRORS as error:
            _fail_removal(run, node_id, _failure_message(attached, error))
            return False
        _save_change(run, node, changes)
    return True


def _fail_removal(
    run: action_run.ActionRun, node_id: str, failure: str
) -> None:
    def body(session: orm.Session) -> None:
        node = nodes.lock(session, node_id)
        if node is not None:
            nodes.set_status(node, 'WARNING', failure)
        run.fail(session, failure)

    run.write(body)


def remove_first(stage: action_run.Stage) -> action_run.Stage:
    """Wrap a stage so that the policies first release the node."""

    def remove_and_run(run: action_run.ActionRun) -> None:
        if remove_node(run, run.action.target):
            stage(run)

    return remove_and_run


def add_first(stage: action_run.Stage) -> action_run.Stage:
    """Wrap a stage so that the policies first accept the node."""

    def add_and_run(run: action_run.ActionRun) -> None:
        node_id, cluster_id = run.action.target, run.request.cluster_id
        update = add_node(run, node_id, cluster_id=cluster_id)

        def body(session: orm.Session) -> None:
            save_changes(session, {node_id: update.changes})
            if update.failure:
                run.fail(session, update.failure)

        if update.changes or update.failure:
            run.write(body)
        if not update.failure:
            stage(run)

    return add_and_run


def _save_change(
    run: action_run.ActionRun, node: models.Node, changes: Mapping[str, Any]
) -> None:
    if changes:
        node.data = apply_changes(node.data, changes)
        run.write(lambda session: save_changes(session, {node.id: changes}))


def save_changes(
    session: orm.Session, changes: Mapping[str, Mapping[str, Any]]
) -> None:
    """Update the data of nodes, ignoring nodes that were deleted."""
    for node_id, values in changes.items():
        node = nodes.lock(session, node_id) if values else None
        if node is not None:
            node.data = apply_changes(node.data, values)
    session.flush()


def apply_changes(
    data: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return data with changes applied; a value of None removes the key."""
    merged = {**data, **changes}
    return {key: value for key, value in merged.items() if value is not None}


def changed_nodes(
    members: Iterable[models.Node], changes: Changes
) -> list[models.Node]:
    """Return the changed ones of some nodes, with their new data."""
    changed = [node for node in members if changes.get(node.id)]
    for node in changed:
        node.data = apply_changes(node.data, changes[node.id])
    return changed


def _tracking_policies(
    run: action_run.ActionRun, node_id: str, cluster_id: str | None
) -> tuple[
    models.Node | None, list[tuple[base.PolicyType, base.AttachedPolicy]]
]:
    """Return a node and the policies to notify about it.

    :param cluster_id: the ID of the policies' cluster; None: the node's
        cluster
    """
    with run.runtime.database.reader() as session:
        node = nodes.get(session, node_id)
        if cluster_id is None and node is not None:
            cluster_id = node.cluster_id
        if cluster_id is None:
            return node, []
        return node, [
            (policy_type, attached)
            for policy_type, attached in policy_checks.attached_policies(
                run.runtime, session, cluster_id, enabled_only=False
            )
            if policy_type.tracks_nodes
        ]


def _failure_message(attached: base.AttachedPolicy, error: Exception) -> str:
    return f"policy '{attached.policy.name}': {error}"
