# SPDX-License-Identifier: Apache-2.0
"""Handlers for policies and policy types."""

from __future__ import annotations

import logging
from typing import Any

from sqlalchemy import orm

from engine import plugins
from engine.actions import action_factory
from engine.db import actions, models, statements
from engine.handlers import common, views
from engine.policies import base as policies
from engine.providers import base as providers
from vobjects.clustering import consts, errors, resources
from vobjects.clustering.requests import policies as requests
from vobjects.rpc.server import handles

LOG = logging.getLogger(__name__)

POLICY = models.Policy

VIEW = views.ResourceView(
    resources.Policy,
    POLICY,
    sort=consts.POLICY_SORT_KEYS,
    filters=('name', 'type'),
)


class PolicyHandlers(common.Handlers):
    """Handle requests for policies and policy types."""

    @handles(requests.PolicyTypeListRequest)
    def list_types(
        self, context: Any, request: Any
    ) -> list[resources.PolicyTypeItem]:
        """Return the installed policy types."""
        summaries = self.runtime.policy_types.summaries()
        return [resources.PolicyTypeItem(**item) for item in summaries]

    @handles(requests.PolicyTypeGetRequest)
    def get_type(self, context: Any, request: Any) -> resources.PolicyType:
        """Return a policy type with the schema of its properties."""
        details = self.runtime.policy_types.details(request.identity)
        return resources.PolicyType(**details)

    @handles(requests.PolicyListRequest)
    def list(self, context: Any, request: Any) -> list[resources.Policy]:
        """Return the caller's policies."""
        return self.page(VIEW, context, request)

    @handles(requests.PolicyCreateRequest)
    def create(self, context: Any, request: Any) -> resources.Policy:
        """Create a policy from a valid spec."""
        policy_type = self._check_spec(context, request.spec)

        def body(session: orm.Session) -> resources.Policy:
            row = POLICY(
                id=models.new_id(),
                name=request.name,
                type=plugins.type_name(policy_type),
                spec=request.spec,
                **common.owner_of(context),
            )
            session.add(row)
            self.check_quota(session, context, POLICY)
            return VIEW.from_entity(row)

        return self.commit(body)

    @handles(requests.PolicyValidateRequest)
    def validate(
        self, context: Any, request: Any
    ) -> resources.PolicyValidation:
        """Return the policy that a spec would create."""
        policy_type = self._check_spec(context, request.spec)
        return resources.PolicyValidation(
            id=None,
            name='validated_policy',
            type=plugins.type_name(policy_type),
            spec=request.spec,
            data={},
            **common.owner_of(context),
            created_at=None,
            updated_at=None,
        )

    def _check_spec(
        self, context: Any, spec: dict[str, Any]
    ) -> policies.PolicyType:
        """Validate a spec, and return its type.

        :raises vobjects.clustering.errors.InvalidSpec: the spec is not valid
        """
        types = self.runtime.policy_types
        policy_type = types.check(spec)
        properties = types.properties_of(plugins.type_name(policy_type), spec)
        try:
            policy_type.check_with_cloud(
                properties,
                lambda: self.runtime.cloud_of(
                    context.user_id, context.project_id
                ),
            )
        except providers.ProviderError as error:
            # The attachment of the policy checks it again.
            LOG.info('The cloud cannot check a policy: %s', error)
        return policy_type

    @handles(requests.PolicyGetRequest)
    def get(self, context: Any, request: Any) -> resources.Policy:
        """Return a policy."""
        return VIEW.get(self.runtime.database, context, request.identity)

    @handles(requests.PolicyUpdateRequest)
    def update(self, context: Any, request: Any) -> resources.Policy:
        """Rename a policy."""
        values = {'name': request.name}
        return self.update_row(VIEW, context, request, values)

    @handles(requests.PolicyDeleteRequest)
    def delete(self, context: Any, request: Any) -> None:
        """Delete a policy that is not attached to a cluster."""

        def body(session: orm.Session) -> None:
            row = common.find_to_delete(
                session, POLICY, context, request.identity
            )
            binding = models.ClusterPolicy
            if statements.exists(session, binding.policy_id == row.id):
                raise errors.ResourceInUse(
                    f"The policy '{row.id}' cannot be deleted: still attached"
                    ' to some clusters.'
                )
            _reject_if_attaching(session, row)
            session.delete(row)

        self.commit(body)


def _reject_if_attaching(session: orm.Session, row: models.Policy) -> None:
    """Reject the deletion of a policy while an action attaches it.

    :raises vobjects.clustering.errors.ResourceInUse: names the action
    """
    for action in actions.unfinished_of(session, 'CLUSTER_ATTACH_POLICY'):
        fields = action_factory.request_fields(action.inputs)
        if fields.get('policy_id') == row.id:
            raise errors.ResourceInUse(
                f"The policy '{row.id}' cannot be deleted: action"
                f' {action.id} attaches it to a cluster.'
            )
