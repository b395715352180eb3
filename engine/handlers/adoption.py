# SPDX-License-Identifier: Apache-2.0
"""Making nodes of what the cloud has already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine import names
from engine.db import clock, models
from engine.handlers import common
from engine.profiles import base as profiles
from engine.providers import base as providers
from vobjects import exceptions
from vobjects.clustering import errors, resources
from vobjects.clustering.requests import nodes as requests
from vobjects.rpc.server import handles

NODE = models.Node


class AdoptionHandlers(common.Handlers):
    """See the module's docstring."""

    @handles(requests.NodeAdoptPreviewRequest)
    def preview(
        self, context: Any, request: requests.NodeAdoptPreviewRequest
    ) -> resources.NodePreview:
        """Return the spec that a node would have."""
        kind, spec = self._spec(context, request)
        return resources.NodePreview(
            type=kind.name,
            version=kind.version,
            properties=spec['properties'],
        )

    @handles(requests.NodeAdoptRequest)
    def adopt(
        self, context: Any, request: requests.NodeAdoptRequest
    ) -> resources.Node:
        """Create a profile and a node for an object that is there."""
        kind, spec = self._spec(context, request)
        name = common.given(request, 'name') or names.member_name({}, 0)
        owner = {
            'user': context.user_id,
            'project': context.project_id,
            'domain': context.domain_id,
        }

        def body(session: orm.Session) -> resources.Node:
            _refuse_managed(session, request.identity)
            profile = models.Profile(
                id=models.new_id(),
                name=f'prof-{name}'[:255],
                type=f'{kind.name}-{kind.version}',
                spec=spec,
                meta={},
                **owner,
            )
            session.add(profile)
            session.flush()
            node = NODE(
                id=models.new_id(),
                name=name,
                profile_id=profile.id,
                physical_id=request.identity,
                role=common.given(request, 'role') or None,
                meta=common.given(request, 'metadata') or {},
                status='ACTIVE',
                status_reason='Node adopted successfully',
                created_at=clock.utcnow(),
                **owner,
            )
            session.add(node)
            session.flush()
            return common.node_resources(session, [node])[0]

        return self.commit(body)

    def _spec(
        self, context: Any, request: Any
    ) -> tuple[profiles.ProfileType, dict[str, Any]]:
        """Return the type and the spec of what is to be adopted.

        :raises vobjects.clustering.errors.BadRequest: there is no such type
            or object, it has a node, or the spec does not fit
        """
        try:
            kind = self.run.profile_types.get(request.type)
        except errors.ResourceNotFound as error:
            raise errors.BadRequest(str(error)) from None
        with self.run.database.reader() as session:
            _refuse_managed(session, request.identity)
        try:
            properties = kind.adopt(
                self.run.cloud_of(context.user_id, context.project_id),
                request.identity,
                snapshot=bool(common.given(request, 'snapshot')),
            )
        except providers.ProviderError as error:
            raise errors.BadRequest(
                f'{exceptions.cut(request.identity)} cannot be adopted:'
                f' {error}'
            ) from None
        overrides: Mapping[str, Any] = common.given(request, 'overrides') or {}
        spec = {
            'type': kind.name,
            'version': kind.version,
            'properties': {**properties, **overrides},
        }
        self.run.profile_types.check_spec(spec)
        return kind, spec


def _refuse_managed(session: orm.Session, physical_id: str) -> None:
    """Refuse an object that is a node's already, whoever's it is."""
    query = sqlalchemy.select(NODE.id).where(NODE.physical_id == physical_id)
    if session.scalar(query.limit(1)) is not None:
        raise errors.BadRequest(
            f'{exceptions.cut(physical_id)} cannot be adopted: it is a node'
            ' already'
        )
