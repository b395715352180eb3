# SPDX-License-Identifier: Apache-2.0
"""Handlers that create nodes from existing cloud objects."""

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
    """Handle requests to adopt cloud objects."""

    @handles(requests.NodeAdoptPreviewRequest)
    def preview(
        self, context: Any, request: requests.NodeAdoptPreviewRequest
    ) -> resources.NodePreview:
        """Return the spec that an adopted node would have."""
        profile_type, spec = self._spec(context, request)
        return resources.NodePreview(
            type=profile_type.name,
            version=profile_type.version,
            properties=spec['properties'],
        )

    @handles(requests.NodeAdoptRequest)
    def adopt(
        self, context: Any, request: requests.NodeAdoptRequest
    ) -> resources.Node:
        """Create a profile and a node for an existing cloud object."""
        profile_type, spec = self._spec(context, request)
        name = request.get('name') or names.member_name({}, 0)
        owner = common.owner_of(context)

        def body(session: orm.Session) -> resources.Node:
            profile = models.Profile(
                id=models.new_id(),
                name=f'prof-{name}'[:255],
                type=f'{profile_type.name}-{profile_type.version}',
                spec=spec,
                meta={},
                **owner,
            )
            session.add(profile)
            self.check_quota(session, context, models.Profile)
            # Now that the project is locked: of two requests, one finds the
            # node of the other.
            _reject_managed(session, request.identity)
            node = NODE(
                id=models.new_id(),
                name=name,
                profile_id=profile.id,
                physical_id=request.identity,
                role=request.get('role') or None,
                meta=request.get('metadata') or {},
                status='ACTIVE',
                status_reason='Node adopted successfully',
                created_at=clock.utcnow(),
                **owner,
            )
            session.add(node)
            self.check_quota(session, context, NODE)
            return common.node_resources(session, [node])[0]

        return self.commit(body)

    def _spec(
        self, context: Any, request: Any
    ) -> tuple[profiles.ProfileType, dict[str, Any]]:
        """Return the profile type and the spec for an object to adopt.

        :raises vobjects.clustering.errors.BadRequest: the type or object does
            not exist, the object already has a node, or the spec is invalid
        """
        try:
            profile_type = self.runtime.profile_types.get(request.type)
        except errors.ResourceNotFound as error:
            raise errors.BadRequest(str(error)) from None
        with self.runtime.database.reader() as session:
            _reject_managed(session, request.identity)
        try:
            properties = profile_type.adopt(
                self.runtime.cloud_of(context.user_id, context.project_id),
                request.identity,
                snapshot=bool(request.get('snapshot')),
            )
        except providers.ProviderError as error:
            raise errors.BadRequest(
                f'{exceptions.cut(request.identity)} cannot be adopted:'
                f' {error}'
            ) from None
        overrides: Mapping[str, Any] = request.get('overrides') or {}
        spec = {
            'type': profile_type.name,
            'version': profile_type.version,
            'properties': {**properties, **overrides},
        }
        self.runtime.profile_types.check_spec(spec)
        return profile_type, spec


def _reject_managed(session: orm.Session, physical_id: str) -> None:
    """Reject an object that already has a node, in any project."""
    query = sqlalchemy.select(NODE.id).where(NODE.physical_id == physical_id)
    if session.scalar(query.limit(1)) is not None:
        raise errors.BadRequest(
            f'{exceptions.cut(physical_id)} cannot be adopted: it is a node'
            ' already'
        )
