# SPDX-License-Identifier: Apache-2.0
"""Base class and helpers of the request handlers."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy import orm

from engine.actions import container_hosts
from engine.actions.runtime import Runtime
from engine.db import (
    actions,
    clock,
    find,
    idempotency,
    models,
    quotas,
    related,
    statements,
)
from engine.handlers import views
from engine.providers import base as providers
from vobjects import exceptions, json_depth, objects
from vobjects.clustering import consts, errors, resources
from vobjects.rpc import call_state

#: Statuses in which a deletion must be forced (api-ref, "Delete a cluster").
BUSY_STATUSES = ('CREATING', 'UPDATING', 'DELETING', 'RECOVERING')

Response = TypeVar('Response')
Resource = TypeVar('Resource', bound=objects.Resource)


class Handlers:
    """Base class of the request handlers.

    :param runtime: components of this engine
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def commit(self, body: Callable[[orm.Session], Response]) -> Response:
        """Run a request's transaction once, even if its call is repeated.

        :param body: returns the result of the request; see
            :meth:`engine.db.database.Database.write`
        :raises oslo_db.exception.DBDuplicateEntry: the call was processed
            before; the RPC server looks up the recorded result
        """
        call = call_state.current_call()

        def work_and_record(session: orm.Session) -> Response:
            response = body(session)
            if call:
                versions = self.runtime.cap() or self.runtime.speaks
                idempotency.record(session, call, response, versions)
            return response

        return self.runtime.database.write(work_and_record)

    def page(
        self,
        view: views.ResourceView[Resource],
        context: Any,
        request: Any,
        *,
        by_cluster: bool = False,
        **column_filters: Collection[Any] | None,
    ) -> list[Resource]:
        """Return a page of resources; see :meth:`views.ResourceView.page`.

        :param by_cluster: whether the request filters by names or IDs of
            clusters
        """
        with self.runtime.database.read_connection() as connection:
            if by_cluster:
                column_filters['cluster_id'] = cluster_ids(
                    connection, context, request.get('cluster_id')
                )
            return view.page(connection, context, request, **column_filters)

    def check_quota(
        self,
        session: orm.Session,
        context: Any,
        model: type[models.Base],
        check: Callable[..., None] = quotas.check,
    ) -> None:
        """Enforce the quota of the caller's project for an added resource.

        :param check: :func:`quotas.check`, or :func:`quotas.check_last`
        :raises vobjects.clustering.errors.OverQuota: the quota is exceeded
        """
        option = f'max_{model.__tablename__}_per_project'
        limit = self.runtime.conf.engine[option]
        check(session, model, context.project_id, limit)

    def update_row(
        self,
        view: views.ResourceView[Resource],
        context: Any,
        request: Any,
        values: Mapping[str, Any],
        *,
        complete: Callable[[Any], None] = lambda row: None,
        cleared: Mapping[str, Any] = MappingProxyType({}),
    ) -> Resource:
        """Update the row that a request names, and return its resource.

        :param values: new values by column; None keeps a value
        :param complete: called with the changed row; raises an error if the
            change is impossible
        :param cleared: values that are set even if the row has them
        :raises vobjects.clustering.errors.BadRequest: nothing changes
        """

        def body(session: orm.Session) -> Resource:
            row: Any = find.find(
                session, view.model, request.identity, context.project_id
            )
            changed = {
                name: value
                for name, value in values.items()
                if value is not None and statements.differs(row, name, value)
            } | dict(cleared)
            if not changed:
                raise errors.BadRequest('No property needs an update.')
            for name, value in changed.items():
                setattr(row, name, value)
            complete(row)
            row.updated_at = clock.utcnow()
            session.flush()
            return view.from_entity(row)

        return self.commit(body)


def owner_of(context: Any) -> dict[str, Any]:
    """Return the owner of what a caller creates, by column."""
    return {
        'user': context.user_id,
        'project': context.project_id,
        'domain': context.domain_id,
    }


def find_to_delete(
    session: orm.Session, model: type[find.Row], context: Any, identity: str
) -> find.Row:
    """Return a row that no other transaction refers to before the commit.

    A new foreign key to the row needs to lock it, too.

    :raises vobjects.clustering.errors.ResourceNotFound: no row matches, or
        another transaction deletes it
    """
    row = find.find(session, model, identity, context.project_id)
    locked = statements.locked(session, model, row.id)
    if locked is None:
        raise find.not_found(model, identity)
    return locked


def reject_busy_deletion(
    session: orm.Session, target: models.Cluster | models.Node
) -> None:
    """Reject the unforced deletion of a target that is busy.

    :raises vobjects.clustering.errors.ActionInProgress: names the status
    """
    resource_name = find.resource_name(type(target))
    deletions = [
        action
        for action in actions.unfinished(session, target.id)
        if action.action.endswith('_DELETE')
    ]
    if deletions or target.status in BUSY_STATUSES:
        status = 'DELETING' if deletions else target.status
        raise errors.ActionInProgress.advised(
            f"The {resource_name} '{target.id}' is in status {status}.",
            'Wait until that is over, or delete it with force (since API'
            ' version 1.8).',
        )


def reject_if_depended_on(target: models.Cluster | models.Node) -> None:
    """Reject the deletion of a target on which others depend.

    :raises vobjects.clustering.errors.ResourceInUse: names the dependents
    """
    resource_name = find.resource_name(type(target))
    key, reason = (
        ('profiles', 'still referenced by profile(s)')
        if resource_name == 'cluster'
        else ('nodes', 'still depended by other clusters and/or nodes')
    )
    dependents = target.dependents.get(key)
    if dependents:
        raise errors.ResourceInUse(
            f"The {resource_name} '{target.id}' cannot be deleted: {reason}:"
            f' {dependents}.'
        )


def check_reboot_type(request: Any) -> None:
    """Reject an unknown type of reboot in a recovery request.

    :param request: with ``operation`` and ``operation_params``
    :raises vobjects.clustering.errors.BadRequest: names the types
    """
    if request.get('operation') != 'REBOOT':
        return
    parameters = request.get('operation_params') or {}
    reboot_type = parameters.get('type', 'HARD')
    if str(reboot_type).upper() not in consts.REBOOT_TYPES:
        raise errors.BadRequest(
            f'Type field {exceptions.cut(reboot_type)} in operation_params'
            ' has to be one of the following:'
            f' {", ".join(consts.REBOOT_TYPES)}.'
        )


def reject_if_deleting(session: orm.Session, cluster: models.Cluster) -> None:
    """Reject the addition of nodes to a cluster that is being deleted.

    :raises vobjects.clustering.errors.ActionConflict: names the deletion
    """
    for action in actions.unfinished(session, cluster.id):
        if action.action == 'CLUSTER_DELETE':
            raise errors.ActionConflict(
                f"The cluster '{cluster.id}' is being deleted by action"
                f' {action.id}.'
            )


def find_profile(
    session: orm.Session, context: Any, identity: str
) -> tuple[models.Profile, datetime.datetime]:
    """Return the profile that a request's body names, and the current time.

    The row is locked, so that the profile cannot be deleted before the commit.

    :raises vobjects.clustering.errors.BadRequest: it does not exist
    """
    name = exceptions.cut(identity)
    with bad_if_missing(f'The specified profile {name} could not be found.'):
        return find.find_shared_now(
            session, models.Profile, identity, context.project_id
        )


@contextlib.contextmanager
def bad_if_missing(message: str) -> Iterator[None]:
    """Convert the error about a resource that a query or a body names.

    :raises vobjects.clustering.errors.BadRequest: the resource does not exist
    """
    try:
        yield
    except errors.ResourceNotFound:
        raise errors.BadRequest(message) from None


def find_visible(
    session: orm.Session, model: type[Any], context: Any, identity: str
) -> Any:
    """Return a row to show; administrators see any row, by its full ID."""
    return find.find(
        session,
        model,
        identity,
        context.project_id,
        any_project_by_id=bool(context.is_admin),
    )


def cluster_ids(
    connection: sqlalchemy.Connection,
    context: Any,
    identities: Iterable[str] | None,
) -> list[str] | None:
    """Return the IDs of clusters, including deleted ones given by ID.

    :param identities: names or IDs in a list request; None or empty for any
        cluster
    :returns: None for any cluster
    """
    if not identities:
        return None
    ids = set()
    for identity in identities:
        try:
            ids.add(
                find.id_of(
                    connection, models.Cluster, identity, context.project_id
                )
            )
        except errors.ResourceNotFound:
            if find.is_storable(identity):
                ids.add(identity)
    return sorted(ids)


#: Selects the ID and name of profiles.
_PROFILES = sqlalchemy.select(models.Profile.id, models.Profile.name).where(
    models.Profile.id.in_(statements.IDS)
)


def profile_names(session: orm.Session, ids: set[str]) -> dict[str, str]:
    """Return the names of profiles by their IDs."""
    return dict(statements.pairs(session, _PROFILES, ids))


def cloud_details(
    runtime: Runtime, row: models.Node, profile: models.Profile
) -> dict[str, Any]:
    """Return the cloud's details of a node, or its error message."""
    if not row.physical_id:
        return {}
    with runtime.database.reader() as session:
        node = container_hosts.node_object(
            session, runtime.profile_types, row, profile
        )
    try:
        cloud = node.cloud(runtime.cloud_of(row.user, row.project))
        details = node.profile_type.details(cloud, node.view)
    except providers.ProviderError as error:
        return {'Error': {'message': str(error)}}
    if json_depth.is_too_deep(details):  # such as the outputs of a stack
        limit = f'more than {json_depth.MAX_DEPTH} deep'
        return {'Error': {'message': f'The details are nested {limit}.'}}
    return details


CLUSTER_VIEW = views.ResourceView(
    resources.Cluster,
    models.Cluster,
    sort=consts.CLUSTER_SORT_KEYS,
    default_sort='init_at',
    filters=('name', 'status'),
    renamed={'metadata': 'meta'},
    with_profile_name=True,
    related=related.of_clusters,
    related_fields=('nodes', 'policies'),
)

NODE_VIEW = views.ResourceView(
    resources.Node,
    models.Node,
    sort=consts.NODE_SORT_KEYS,
    default_sort='init_at',
    filters=('name', 'status'),
    renamed={'metadata': 'meta'},
    computed={'cluster_id': views.text_or_empty, 'role': views.text_or_empty},
    with_profile_name=True,
    # Lists do not query the cloud for details.
    related_fields=('details',),
)


def cluster_resources(
    session: orm.Session, rows: list[models.Cluster]
) -> list[resources.Cluster]:
    """Return clusters of a transaction as API resources."""
    session.flush()
    ids = [row.id for row in rows]
    related_values = related.of_clusters(session.connection(), ids)
    names = profile_names(session, {row.profile_id for row in rows})
    return [
        CLUSTER_VIEW.from_entity(
            row,
            profile_name=names.get(row.profile_id),
            nodes=related_values['nodes'][row.id],
            policies=related_values['policies'][row.id],
        )
        for row in rows
    ]


def node_resources(
    session: orm.Session, rows: list[models.Node]
) -> list[resources.Node]:
    """Return nodes of a transaction as API resources."""
    names = profile_names(session, {row.profile_id for row in rows})
    return [
        NODE_VIEW.from_entity(row, profile_name=names.get(row.profile_id))
        for row in rows
    ]
