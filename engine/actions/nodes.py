# SPDX-License-Identifier: Apache-2.0
"""Stages of node actions, each with one operation of the cloud.

Each records the beginning in the database, calls the cloud, and records the
result in the transaction that ends the action. If a user requested the action,
it then evaluates the node's cluster. An action derived from a cluster's action
leaves this to its parent.
"""

from __future__ import annotations

import logging
import types
from collections.abc import Mapping
from typing import Any

from oslo_utils import strutils
from sqlalchemy import orm

from engine.actions import (
    action_run,
    container_hosts,
    node_policies,
    node_steps,
    policy_checks,
)
from engine.actions.runtime import Runtime
from engine.db import clusters, models, nodes
from engine.profiles import base as profiles
from engine.providers import base as providers
from vobjects.clustering import consts

LOG = logging.getLogger(__name__)

#: Key in a cluster's config: whether to stop nodes before deleting them.
STOP_BEFORE_DELETE = 'cluster.stop_node_before_delete'

#: Request fields that an update can set without the cloud.
DATABASE_FIELDS = {
    'name': 'name',
    'role': 'role',
    'metadata': 'meta',
    'tainted': 'tainted',
}

#: Values of the fields of an update that are null.
CLEARED: Mapping[str, Any] = {'role': None, 'metadata': {}, 'tainted': False}


def cleared_fields(request: Any) -> list[str]:
    """Return the fields that an update clears by null.

    In other fields, null changes nothing, as in Senlin.
    """
    return [
        field
        for field in CLEARED
        if field in request and request.get(field) is None
    ]


def new_values(request: Any) -> dict[str, Any]:
    """Return the values of an update by column."""
    values = {
        DATABASE_FIELDS[field]: CLEARED[field]
        for field in cleared_fields(request)
    }
    for field, column in DATABASE_FIELDS.items():
        value = request.get(field)
        if value is not None:
            values[column] = value
    return values


def create(run: action_run.ActionRun) -> None:
    """Create the node's cloud object (NODE_CREATE)."""
    try:
        node = node_steps.begin(
            run, 'CREATING', 'Creation in progress', with_host=True
        )
    except providers.ProviderError as error:
        node_steps.fail(run, str(error))
        return
    with node_steps.keeping(run, node) as objects:
        try:
            physical_id = node.profile_type.create(
                node.cloud(run.cloud), node.view, node.properties
            )
        except providers.ProviderError as error:
            node_steps.fail(run, str(error))
            return
        objects.append(physical_id)
        data = node_steps.data_of(run, node, physical_id)
        _end_creation(run, node.view, physical_id, data)


def _end_creation(
    run: action_run.ActionRun,
    view: profiles.NodeView,
    physical_id: str,
    data: Mapping[str, Any],
) -> None:
    """Record the new object of a node.

    :param data: the data of the node about the object
    """
    update = node_policies.add_node(run, view.id, physical_id)

    def finish(session: orm.Session) -> None:
        node = node_steps.get_node(run, session)
        node.physical_id = physical_id
        changes = {**data, **update.changes}
        node.data = node_policies.apply_changes(node.data, changes)
        status, reason = update.status('Creation succeeded')
        nodes.set_status(node, status, reason)
        node_steps.evaluate_own_cluster(
            run, session, node.cluster_id, counts=True
        )
        _conclude(run, session, update, 'Node created successfully.')

    run.write(finish)


def update(run: action_run.ActionRun) -> None:
    """Update a node, and its object if the profile changes (NODE_UPDATE)."""
    request = run.request
    old = node_steps.begin(run, 'UPDATING', 'Update in progress')
    new_id = request.get('profile_id')
    if new_id not in (None, old.profile_id):
        with run.runtime.database.reader() as session:
            new = node_steps.find_profile(session, new_id)
        properties = run.runtime.profile_types.properties_of(
            new.type, new.spec
        )
        try:
            old.profile_type.update(
                old.cloud(run.cloud), old.view, old.properties, properties
            )
        except providers.ProviderError as error:
            node_steps.fail(run, str(error))
            return

    def finish(session: orm.Session) -> None:
        node = node_steps.get_node(run, session)
        if new_id is not None:
            node.profile_id = new_id
        for column, value in new_values(request).items():
            setattr(node, column, value)
        nodes.set_status(node, 'ACTIVE', 'Update succeeded')
        node_steps.evaluate_own_cluster(run, session, node.cluster_id)
        policy_checks.check_after(run, session, 'Node updated successfully.')

    run.write(finish)


def delete(run: action_run.ActionRun) -> None:
    """Delete the cloud object, then the node (NODE_DELETE)."""
    if run.action.cause == consts.CAUSE_REQUEST:
        run.write(lambda session: _check_may_leave(run, session))
    if not node_policies.remove_node(run, run.action.target):
        return

    def mark(
        session: orm.Session,
    ) -> tuple[profiles.NodeObject, bool] | None:
        node = nodes.get(session, run.action.target)
        if node is None:
            run.succeed(session, 'The node was gone already.')
            return None
        decided = policy_checks.decisions(run, 'deletion')
        if not decided.get('destroy_after_deletion', True):
            cluster_id, node.cluster_id, node.index = node.cluster_id, None, -1
            counts = decided['reduce_desired_capacity']
            node_steps.evaluate_own_cluster(
                run, session, cluster_id, counts=counts
            )
            policy_checks.check_after(run, session, 'Node left its cluster.')
            return None
        nodes.set_status(node, 'DELETING', 'Deletion in progress')
        work = container_hosts.node_object(
            session,
            run.runtime.profile_types,
            node,
            node_steps.find_profile(session, node.profile_id),
        )
        return work, _stops_first(run, session, node)

    begun = run.write(mark)
    if begun is None:
        return
    deleted, is_stopped_first = begun
    try:
        _delete_object(run, deleted, is_stopped_first=is_stopped_first)
    except providers.ProviderError as error:
        node_steps.fail(run, str(error))
        return

    def finish(session: orm.Session) -> None:
        node = nodes.get(session, deleted.view.id)
        if node is not None:
            cluster_id = node.cluster_id
            container_hosts.release(session, node)
            session.delete(node)
            session.flush()
            decided = policy_checks.decisions(run, 'deletion')
            counts = decided.get('reduce_desired_capacity', True)
            node_steps.evaluate_own_cluster(
                run, session, cluster_id, counts=counts
            )
        policy_checks.check_after(run, session, 'Node deleted successfully.')

    run.write(finish)


def _delete_object(
    run: action_run.ActionRun,
    node: profiles.NodeObject,
    *,
    is_stopped_first: bool,
) -> None:
    """Delete a node's cloud object.

    :raises engine.providers.base.ProviderError: the deletion failed
    """
    try:
        cloud = node.cloud(run.cloud)
    except providers.RegionNotFound:
        if node.view.physical_id:
            raise
        return  # no object was ever created
    if is_stopped_first and 'stop' in node.profile_type.operations:
        try:
            node.profile_type.operate(cloud, node.view, 'stop', {})
        except providers.ProviderError as error:
            LOG.warning(
                'Node %s is deleted without a stop: %s', node.view.id, error
            )
    node.profile_type.delete(cloud, node.view)


def _stops_first(
    run: action_run.ActionRun, session: orm.Session, node: models.Node
) -> bool:
    """Tell whether to stop a node before an action deletes it.

    The cluster's config does not apply if the user deletes the node directly.
    """
    if run.action.cause == consts.CAUSE_REQUEST or node.cluster_id is None:
        return False
    cluster = clusters.get(session, node.cluster_id)
    return cluster is not None and bool(
        strutils.bool_from_string(cluster.config.get(STOP_BEFORE_DELETE))
    )


def check(run: action_run.ActionRun) -> None:
    """Check the health of the cloud object (NODE_CHECK)."""
    checked = node_steps.begin(run)
    try:
        failure = checked.profile_type.check(
            checked.cloud(run.cloud), checked.view
        )
    except providers.ProviderError as error:
        node_steps.fail(run, str(error))
        return

    def finish(session: orm.Session) -> None:
        node = node_steps.get_node(run, session)
        _set_health(node, failure)
        node_steps.evaluate_own_cluster(run, session, node.cluster_id)
        policy_checks.check_after(run, session, 'Node check completed.')

    run.write(finish)


def recover(run: action_run.ActionRun) -> None:
    """Recover the cloud object, with RECREATE by default (NODE_RECOVER)."""
    request = run.request
    node = before = node_steps.begin(run)
    operation = request.get('operation') or 'RECREATE'
    parameters = {
        **(request.get('operation_params') or {}),
        **{
            name: request.get(name)
            for name in ('delete_timeout', 'force_recreate')
        },
    }
    try:
        cloud = node.cloud(run.cloud)
        if request.get('check') and not node.profile_type.check(
            cloud, node.view
        ):
            physical_id = node.view.physical_id
            _end_recovery(run, node, physical_id, 'Recover: Node is ACTIVE.')
            return
        node = node_steps.begin(
            run,
            'RECOVERING',
            'Recovery in progress',
            with_host=operation == 'RECREATE',
        )
    except providers.ProviderError as error:
        node_steps.fail(run, str(error))
        return
    if node.view.host != before.view.host:
        _delete_from_old_host(cloud, before)
    with node_steps.keeping(run, node) as objects:
        try:
            physical_id = node.profile_type.recover(
                cloud, node.view, before.properties, operation, parameters
            )
        except providers.ProviderError as error:
            node_steps.fail(run, str(error))
            return
        objects.append(physical_id)
        data = {}
        if physical_id != node.view.physical_id:
            data = node_steps.data_of(run, node, physical_id)
        _end_recovery(
            run, node, physical_id, 'Recovery succeeded', operation, data
        )


def _end_recovery(
    run: action_run.ActionRun,
    work: profiles.NodeObject,
    physical_id: str | None,
    reason: str,
    operation: str = '',
    data: Mapping[str, Any] = types.MappingProxyType({}),
) -> None:
    """Record a recovered node.

    :param physical_id: the ID of its object, perhaps a new one
    :param operation: the operation that made a new object
    :param data: the data of the node about the new object
    """
    update = node_policies.add_node(run, work.view.id, physical_id)

    def finish(session: orm.Session) -> None:
        node = node_steps.get_node(run, session)
        changes = {**data, **update.changes}
        node.data = node_policies.apply_changes(node.data, changes)
        if node.physical_id != physical_id:
            node.data = {**node.data, 'recovery': operation}
            node.physical_id = physical_id
        status, status_reason = update.status(reason)
        nodes.set_status(node, status, status_reason)
        node_steps.evaluate_own_cluster(run, session, node.cluster_id)
        _conclude(run, session, update, 'Node recovered successfully.')

    run.write(finish)


def mark_failed(
    session: orm.Session, action: models.Action, reason: str
) -> None:
    """Set the node's status after an action ended without success."""
    node = nodes.get(session, action.target)
    # An action that no engine has claimed has changed nothing.
    if node is None or (action.claims == 0 and node.status != 'INIT'):
        return
    nodes.set_status(node, 'ERROR', f'{action.action}: {reason}')
    session.flush()


def _check_may_leave(run: action_run.ActionRun, session: orm.Session) -> None:
    node = nodes.get(session, run.action.target)
    if node is not None:
        check_may_leave(run.runtime, session, node)


def check_may_leave(
    runtime: Runtime, session: orm.Session, node: models.Node
) -> None:
    """Check that a cluster stays above its minimum without a node.

    :raises vobjects.clustering.errors.BadRequest: it does not; the message
        states size and minimum
    """
    if node.cluster_id is None:
        return
    cluster = clusters.lock(session, node.cluster_id)
    if cluster is not None:
        size = nodes.count_of_cluster(session, cluster.id)
        runtime.bounds(cluster).check_size(size - 1)


def _set_health(node: models.Node, failure: str) -> None:
    if failure:
        nodes.set_status(node, 'ERROR', f'Check: {failure}.')
    elif node.status == 'WARNING':
        reason = f'Check: its object is well. {node.status_reason}'
        nodes.set_status(node, 'WARNING', reason)
    else:
        nodes.set_status(node, 'ACTIVE', 'Check: Node is ACTIVE.')


def _delete_from_old_host(
    cloud: providers.Provider, node: profiles.NodeObject
) -> None:
    """Try to delete a node's object from a host that is not healthy."""
    try:
        node.profile_type.delete(cloud, node.view)
    except providers.ProviderError as error:
        LOG.warning('Node %s leaves an object behind: %s', node.view.id, error)


def _conclude(
    run: action_run.ActionRun,
    session: orm.Session,
    update: node_policies.NodeUpdate,
    success: str,
) -> None:
    """End an action successfully, unless a policy failed."""
    if update.failure:
        run.fail(session, update.failure)
    else:
        policy_checks.check_after(run, session, success)
