# SPDX-License-Identifier: Apache-2.0
"""Handlers for profiles and profile types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import orm

from engine import plugins, spec_schema
from engine.actions import container_hosts
from engine.db import models, quotas, statements
from engine.handlers import common, views
from engine.profiles import base as profiles
from vobjects.clustering import consts, errors, resources
from vobjects.clustering.requests import profiles as requests
from vobjects.rpc.server import handles

PROFILE = models.Profile

VIEW = views.ResourceView(
    resources.Profile,
    PROFILE,
    sort=consts.PROFILE_SORT_KEYS,
    filters=('name', 'type'),
    renamed={'metadata': 'meta'},
)


class ProfileHandlers(common.Handlers):
    """Handle requests for profiles and profile types."""

    @handles(requests.ProfileTypeListRequest)
    def list_types(
        self, context: Any, request: requests.ProfileTypeListRequest
    ) -> list[resources.ProfileTypeItem]:
        """Return the installed profile types."""
        summaries = self.runtime.profile_types.summaries()
        return [resources.ProfileTypeItem(**item) for item in summaries]

    @handles(requests.ProfileTypeGetRequest)
    def get_type(
        self, context: Any, request: requests.ProfileTypeGetRequest
    ) -> resources.ProfileType:
        """Return a profile type with the schema of its properties."""
        details = self.runtime.profile_types.details(request.identity)
        return resources.ProfileType(**details)

    @handles(requests.ProfileTypeOpsRequest)
    def list_operations(
        self, context: Any, request: requests.ProfileTypeOpsRequest
    ) -> resources.ProfileTypeOperations:
        """Return the operations that nodes of a profile type support."""
        profile_type = self.runtime.profile_types.get(request.identity)
        return resources.ProfileTypeOperations(
            operations=spec_schema.render_operations(profile_type.operations)
        )

    @handles(requests.ProfileListRequest)
    def list(
        self, context: Any, request: requests.ProfileListRequest
    ) -> list[resources.Profile]:
        """Return the caller's profiles."""
        return self.page(VIEW, context, request)

    @handles(requests.ProfileCreateRequest)
    def create(
        self, context: Any, request: requests.ProfileCreateRequest
    ) -> resources.Profile:
        """Create a profile from a valid spec."""
        try:
            profile_type = self.runtime.profile_types.check_spec(request.spec)
        except errors.InvalidSpec as error:
            raise errors.InvalidSpec(
                error.message,
                f'Failed in creating profile {request.name}:'
                f' {error.compat_message or error.message}',
            ) from None

        def body(session: orm.Session) -> resources.Profile:
            row = PROFILE(
                id=models.new_id(),
                name=request.name,
                type=plugins.type_name(profile_type),
                spec=request.spec,
                meta=request.get('metadata') or {},
                **common.owner_of(context),
            )
            statements.insert_now(session, row, 'created_at')
            if profile_type.on_hosts:
                container_hosts.add_profile(
                    session, row, _properties(profile_type, row.spec)
                )
            self.check_quota(session, context, PROFILE, quotas.check_last)
            return VIEW.from_entity(row)

        return self.commit(body)

    @handles(requests.ProfileValidateRequest)
    def validate(
        self, context: Any, request: requests.ProfileValidateRequest
    ) -> resources.ProfileValidation:
        """Return the profile that a spec would create."""
        profile_type = self.runtime.profile_types.check_spec(request.spec)
        if profile_type.on_hosts:
            with self.runtime.database.reader() as session:
                container_hosts.find_host(
                    session,
                    context.project_id,
                    _properties(profile_type, request.spec),
                )
        return resources.ProfileValidation(
            id=None,
            name='validated_profile',
            type=plugins.type_name(profile_type),
            spec=request.spec,
            metadata={},
            **common.owner_of(context),
            created_at=None,
            updated_at=None,
        )

    @handles(requests.ProfileGetRequest)
    def get(
        self, context: Any, request: requests.ProfileGetRequest
    ) -> resources.Profile:
        """Return a profile."""
        return VIEW.get(self.runtime.database, context, request.identity)

    @handles(requests.ProfileUpdateRequest)
    def update(
        self, context: Any, request: requests.ProfileUpdateRequest
    ) -> resources.Profile:
        """Change the name or metadata of a profile."""
        metadata = request.get('metadata')
        is_null = metadata is None and 'metadata' in request
        return self.update_row(
            VIEW,
            context,
            request,
            {'name': request.get('name'), 'meta': metadata},
            cleared={'meta': {}} if is_null else {},
        )

    @handles(requests.ProfileDeleteRequest)
    def delete(
        self, context: Any, request: requests.ProfileDeleteRequest
    ) -> None:
        """Delete a profile that is not in use."""

        def body(session: orm.Session) -> None:
            row = common.find_to_delete(
                session, PROFILE, context, request.identity
            )
            if statements.exists(
                session, models.Cluster.profile_id == row.id
            ) or statements.exists(session, models.Node.profile_id == row.id):
                raise errors.ResourceInUse(
                    f"The profile '{row.id}' cannot be deleted: still"
                    ' referenced by some clusters and/or nodes.'
                )
            container_hosts.remove_profile(session, row)
            session.delete(row)

        self.commit(body)


def _properties(
    profile_type: profiles.ProfileType, spec: Mapping[str, Any]
) -> dict[str, Any]:
    return spec_schema.resolve(profile_type.properties, spec['properties'])
