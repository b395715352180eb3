# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.affinity``: place servers in a server group.

The policy, or the scheduler hints of the cluster's profile, can name the
server group. If the group does not exist, attaching the policy creates it, and
detaching the policy deletes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import distribution, spec_schema
from engine.db import models
from engine.policies import base
from engine.policies.placement import check_names
from engine.providers import base as providers

SCHEMA = spec_schema.load(__package__, 'affinity')


class AffinityPolicy(base.PolicyType):
    """Version 1.0 of the affinity policy."""

    name = 'senlin.policy.affinity'
    version = '1.0'
    priority = 300
    targets = {
        base.BEFORE: (
            'CLUSTER_SCALE_OUT',
            'CLUSTER_RESIZE',
            'CLUSTER_RECOVER',
            'NODE_CREATE',
        )
    }
    profile_types = ('os.nova.server',)
    data_key = 'AffinityPolicy'
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties

    def check_with_cloud(
        self,
        properties: Mapping[str, Any],
        cloud: Callable[[], providers.Provider],
    ) -> None:
        """Check that the cloud has the zone."""
        zone = properties['availability_zone']
        if not zone:
            return
        places = cloud().places
        if places is not None:
            zones = places.zones()
            missing = '' if zone in zones else zone
            check_names('availability_zone', missing, zones)

    def plan(self, target: base.AttachmentTarget) -> dict[str, Any]:
        """Determine the server group, and whether it exists already."""
        properties = target.properties
        if properties['enable_drs_extension']:
            raise base.PolicyCheckError(
                'enable_drs_extension: must be false, because no provider'
                ' of this release supports vSphere DRS'
            )
        if properties['availability_zone'] and target.cloud.places is None:
            raise base.PolicyCheckError('the cloud has no zones')
        self.check_with_cloud(properties, lambda: target.cloud)
        groups = _groups(target.cloud)
        group_spec = properties['servergroup'] or {}
        policy = group_spec.get('policies') or 'anti-affinity'
        name = group_spec.get('name') or _group_hint(target.profile)
        if not name:
            return {'name': f'server_group_{target.key}', 'policy': policy}
        group = groups.find(name)
        if group is None:
            return {'name': name, 'policy': policy}
        if group.policy != policy:
            raise base.PolicyCheckError(
                f"Policies specified ({policy}) doesn't match that of the"
                f' existing servergroup ({group.policy}).'
            )
        return {'name': name, 'policy': policy, 'id': group.id}

    def attach(
        self, target: base.AttachmentTarget, plan: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Create the group, unless it exists."""
        group_id = plan.get('id')
        if group_id is None:
            groups = _groups(target.cloud)
            group_id = groups.create(plan['name'], plan['policy']).id
        return self.wrap_data(
            {
                'servergroup_id': group_id,
                'inherited_group': 'id' in plan,
            }
        )

    def detach(
        self, target: base.AttachmentTarget, data: Mapping[str, Any]
    ) -> None:
        """Delete the group, if the policy created it."""
        data = self.unwrap_data(data)
        if data and not data['inherited_group']:
            _groups(target.cloud).delete(data['servergroup_id'])

    def pre_op(
        self, context: base.PolicyContext, attached: base.AttachedPolicy
    ) -> None:
        """Place new nodes in the group."""
        count = context.growth()
        if count <= 0:
            return
        data = self.unwrap_data(attached.binding.data)
        placement = {'servergroup': data['servergroup_id']}
        zone = attached.properties['availability_zone']
        if zone:
            placement['zone'] = zone
        context.decisions[distribution.PLACEMENT] = {
            'count': count,
            'placements': [placement] * count,
        }


def _groups(cloud: providers.Provider) -> providers.ServerGroups:
    if cloud.server_groups is None:
        raise base.PolicyCheckError('the cloud has no server groups')
    return cloud.server_groups


def _group_hint(profile: models.Profile) -> str | None:
    properties = profile.spec.get('properties') or {}
    group = (properties.get('scheduler_hints') or {}).get('group')
    return None if group is None else str(group)
