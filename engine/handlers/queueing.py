# SPDX-License-Identifier: Apache-2.0
"""Base class of the handlers that queue actions on clusters or nodes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import orm

from engine.actions import action_factory
from engine.actions.runtime import Runtime
from engine.db import (
    actions,
    clusters,
    find,
    locks,
    models,
    quotas,
    statements,
)
from engine.handlers import common
from vobjects.clustering import consts, errors, resources

Target = models.Cluster | models.Node

#: IDs in place of the names in a request: field -> value. A check in a
#: transaction returns them; it must not write them into the request, because
#: the transaction may run twice.
Resolved = Mapping[str, Any]

#: Raises an error, in the queueing transaction, if the action is impossible.
Precondition = Callable[[orm.Session, Any], Resolved | None]

#: Returns the number of nodes that the action will add, or 0 if the action
#: decides that; raises an error if the action is impossible.
Growth = Callable[[orm.Session, Any], int]


class ActionHandlers(common.Handlers):
    """Base class of handlers that queue actions.

    :cvar model: the table of the targets
    :param queue_conflicts: whether scaling waits for other actions instead of
        being rejected
    """

    model: type[Any] = models.Cluster

    def __init__(
        self, runtime: Runtime, *, queue_conflicts: bool = False
    ) -> None:
        super().__init__(runtime)
        self.queue_conflicts = queue_conflicts

    def check_operation(
        self, session: orm.Session, target: Target, request: Any
    ) -> None:
        """Reject an operation that the target's profile type lacks.

        :raises vobjects.clustering.errors.BadRequest: names the operation, or
            an invalid parameter
        """
        profile = session.get_one(models.Profile, target.profile_id)
        parameters = request.get('params') or {}
        self.runtime.profile_types.check_operation(
            profile.type, request.operation, parameters
        )

    def queue_action(
        self,
        context: Any,
        action_name: str,
        request: Any,
        check: Precondition = lambda session, target: None,
        growth: Growth = lambda session, target: 0,
    ) -> resources.Accepted:
        """Queue an action on the cluster or node that a request names.

        :param check: raises an error if the action is impossible; may return
            values for the action in place of those in the request
        :param growth: called after ``check``
        :raises vobjects.clustering.errors.ResourceNotFound: no target matches
        :raises vobjects.clustering.errors.MultipleChoices: several match
        """

        def body(session: orm.Session) -> resources.Accepted:
            found = find.find(
                session, self.model, request.identity, context.project_id
            )
            target = statements.locked(session, self.model, found.id)
            if target is None:
                raise find.not_found(self.model, request.identity)
            resolved = check(session, target)
            more = growth(session, target)
            accepted = self.accepted(
                session, context, action_name, target, request, resolved
            )
            self.check_node_quota_last(session, target.project, more)
            return accepted

        return self.write(body)

    def write(
        self, body: Callable[[orm.Session], resources.Accepted]
    ) -> resources.Accepted:
        """Run a transaction that queues an action, and announce the action."""
        accepted = self.commit(body)
        self.runtime.wake(accepted.action)
        return accepted

    def accepted(
        self,
        session: orm.Session,
        context: Any,
        action_name: str,
        target: Target,
        request: Any,
        resolved: Resolved | None = None,
    ) -> resources.Accepted:
        """Queue an action on a target whose row is locked."""
        action_id = self.queue(
            session, context, action_name, target, request, resolved
        )
        if isinstance(target, models.Cluster):
            (cluster,) = common.cluster_resources(session, [target])
            return resources.Accepted(
                action=action_id, cluster=cluster, node=None
            )
        (node,) = common.node_resources(session, [target])
        return resources.Accepted(action=action_id, cluster=None, node=node)

    def queue(
        self,
        session: orm.Session,
        context: Any,
        action_name: str,
        target: Target,
        request: Any,
        resolved: Resolved | None = None,
    ) -> str:
        """Queue an action that carries out a request, and return its ID.

        Call it in :meth:`write`.

        :param request: the action gets the target's ID as its identity
        :param resolved: other values that the action gets in their place
        :raises vobjects.clustering.errors.ResourceIsLocked: another action has
            locked the target
        :raises vobjects.clustering.errors.ActionConflict: the target has
            another unfinished action
        """
        stored = copy.copy(request)
        if 'identity' in request.fields:
            stored.identity = target.id
        for name, value in (resolved or {}).items():
            setattr(stored, name, value)
        # A new target has no other actions; operations wait, as in Senlin.
        # Scaling checks for conflicts earlier, before the cooldown.
        if not action_name.endswith(
            ('_CREATE', '_DELETE', 'NODE_OPERATION', *consts.SCALING_ACTIONS)
        ):
            reject_conflict(session, action_name, target)
        cluster: models.Cluster | None = None
        if isinstance(target, models.Cluster):
            cluster = target
        elif target.cluster_id is not None:
            cluster = clusters.get(session, target.cluster_id)
        action = action_factory.from_request(
            self.runtime,
            context,
            action_name,
            target,
            stored,
            cluster=cluster,
        )
        statements.insert(session, [action])
        return action.id

    def check_node_quota_last(
        self, session: orm.Session, project: str | None, more: int
    ) -> None:
        """Reject, before the commit, an action that would add too many nodes.

        The action checks this again, because other actions may add nodes
        before it runs.

        :param more: the number of nodes that the action adds
        :raises vobjects.clustering.errors.OverQuota: states the numbers
        """
        limit = self.runtime.conf.engine.max_nodes_per_project
        quotas.check_last(session, models.Node, project, limit, more)


def resolve_update(
    session: orm.Session,
    context: Any,
    request: Any,
    target: Target,
    changed: Collection[str],
) -> Resolved:
    """Return the ID of the profile in an update, if there is one.

    :param changed: the other fields that the update changes
    :raises vobjects.clustering.errors.BadRequest: the update changes nothing,
        or its profile does not exist or is of another type
    """
    identity = request.get('profile_id')
    if identity is None:
        profile_id = target.profile_id
        resolved = {}
    else:
        profile, _ = common.find_profile(session, context, identity)
        reject_other_profile_type(
            session,
            target.profile_id,
            profile,
            f'Cannot update a {find.resource_name(type(target))} to a'
            ' different profile type',
        )
        profile_id = profile.id
        resolved = {'profile_id': profile_id}
    if not changed and profile_id == target.profile_id:
        raise errors.BadRequest('No property needs an update.')
    return resolved


def reject_other_profile_type(
    session: orm.Session, old_id: str, new: models.Profile, message: str
) -> None:
    """Reject a change to a profile of another type.

    :param message: beginning of the error message
    :raises vobjects.clustering.errors.BadRequest: names both types
    """
    old = session.get(models.Profile, old_id)
    if old is None:
        raise find.not_found(models.Profile, old_id)
    if old.type != new.type:
        raise errors.BadRequest.advised(
            f'{message}, operation aborted.',
            f'Profile {new.id} is of type {new.type}, not {old.type}.',
        )


def reject_conflict(
    session: orm.Session,
    action_name: str,
    target: Target,
) -> None:
    """Reject an action if the target is locked or has unfinished actions.

    :param target: its row is locked by this transaction
    :raises vobjects.clustering.errors.ResourceIsLocked: names the holders
    :raises vobjects.clustering.errors.ActionConflict: names the other actions
    """
    holders = locks.holders(session, target.id)
    if holders:
        raise errors.ResourceIsLocked.advised(
            f'{action_name} for {find.resource_name(type(target))}'
            f" '{target.id}' cannot be completed because it is already"
            ' locked.',
            f'There are these action(s): {_describe(holders)}',
        )
    others = actions.unfinished(session, target.id)
    if others:
        raise errors.ActionConflict(
            f'The {action_name} action for target {target.id} conflicts with'
            f' the following action(s): {_describe(others)}'
        )


def _describe(rows: Iterable[models.Action]) -> str:
    return ', '.join(f'{row.action} {row.id}' for row in rows)
