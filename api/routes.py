# SPDX-License-Identifier: Apache-2.0
"""Every method of the API, read top to bottom.

A route names a request type; since which microversion it is there, and which
fields it has at each, is the type's own knowledge. The names in a path are
fields of the type; :class:`Given` says where the others come from.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from api import answers
from vobjects import base
from vobjects.clustering import resources
from vobjects.clustering.requests import (
    actions,
    clusters,
    events,
    nodes,
    policies,
    profiles,
    receivers,
    services,
)
from vobjects.microversions import schema


@dataclasses.dataclass(frozen=True, slots=True)
class Given:
    """Where the fields that are not in the path come from.

    :ivar query: from the query string
    :ivar body: from a JSON object
    :ivar key: the object is below this key
    :ivar selects: the key tells routes of the same path apart
    :ivar optional: the object may be missing
    :ivar names: the object has one key, which is this field; the fields are
        in the object below it
    :ivar whole: the object is itself this field
    :ivar flat: so it is if it has the name of no field (openstack's command
        sends the parameters of a cluster's operation so)
    :ivar implied: fields that no client gives: every request has them, from
        the microversion on that has them; :data:`ROOT` stands for what the
        client called the root of the API
    :ivar webhook: see :mod:`api.webhooks`
    """

    query: bool = False
    body: bool = False
    key: str = ''
    selects: bool = False
    optional: bool = False
    names: str = ''
    whole: str = ''
    flat: str = ''
    implied: tuple[tuple[str, Any], ...] = ()
    webhook: bool = False


#: See :class:`Given`.
ROOT = object()

QUERY = Given(query=True)
NOTHING = Given(body=True, optional=True)
RECEIVER = Given(body=True, key='receiver', implied=(('endpoint', ROOT),))
WEBHOOK = Given(
    body=True, optional=True, webhook=True, implied=(('only_body', True),)
)
#: As in ``{"reboot": {"type": "HARD"}}``.
NODE_OPERATION = Given(body=True, names='operation', whole='params')
#: As in ``{"reboot": {"params": {...}, "filters": {...}}}``.
CLUSTER_OPERATION = Given(body=True, names='operation', flat='params')
FLAT = Given(body=True)
#: ``{"action": {"status": "CANCELLED"}}`` and ``?force=true``.
CANCEL = Given(query=True, body=True, key='action')
#: As Senlin deletes: by default, or by ``?force=true``, or by a flat body.
EITHER = Given(query=True, body=True, optional=True)


def inside(key: str) -> Given:
    """Return: from the object below ``key``, as in ``{"cluster": {...}}``."""
    return Given(body=True, key=key)


def action(key: str, *, whole: str = '', **implied: Any) -> Given:
    """Return: from the object below the action's name."""
    return Given(
        body=True,
        key=key,
        selects=True,
        whole=whole,
        implied=tuple(implied.items()),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Route:
    """One method of the API.

    :ivar path: ``{name}`` stands for one segment, which is field ``name``
    :ivar request: what is asked of an engine
    :ivar given: where its fields come from
    :ivar status: of a success
    :ivar render: makes the body of the engine's answer
    :ivar rule: of ``api.policy``
    :ivar public: nobody is authenticated
    :ivar delegates: the engine gets the caller's token, to have Keystone let
        it act for the caller: so does every route of status 202, whose
        action is done later
    """

    method: str
    path: str
    request: type[base.Request]
    given: Given
    status: int
    render: answers.Render
    rule: str
    public: bool = False
    delegates: bool = False

    @property
    def hands_on_token(self) -> bool:
        """Whether the engine gets the caller's token."""
        return self.delegates or (self.status == 202 and not self.public)

    @property
    def in_path(self) -> tuple[str, ...]:
        """The fields that are in the path."""
        return tuple(
            segment[1:-1]
            for segment in self.path.split('/')
            if segment.startswith('{')
        )

    def client_names(self) -> list[str]:
        """Return the fields that clients give in a query or a body."""
        implied = dict(self.given.implied)
        return [
            name
            for name in all_names(self.request)
            if name not in self.in_path and name not in implied
        ]

    def query_names(self) -> list[str]:
        """Return the fields that clients may give in the query.

        Where there is a body, it has what must be given.
        """
        if not self.given.query:
            return []
        names = self.client_names()
        if not self.given.body:
            return names
        known = self.request.fields
        return [
            name
            for name in names
            if name in known and not schema.is_required(known[name])
        ]


def all_names(cls: type[base.Request]) -> list[str]:
    """Return the fields a type has at any version."""
    versions = ['1.0', *cls.VERSION_MAP.values()]
    return list(
        dict.fromkeys(
            name for version in versions for name in cls.fields_at(version)
        )
    )


GET, POST, PATCH, DELETE = 'GET', 'POST', 'PATCH', 'DELETE'
item, items, started = answers.item, answers.items, answers.started

CLUSTER_ACTIONS = '/v1/clusters/{identity}/actions'
NODE_ACTIONS = '/v1/nodes/{identity}/actions'

# A table: two or three lines a route.
#     method, path, request type,
#     fields from, success, answer with its type, policy rule
# fmt: off
ROUTES: tuple[Route, ...] = (
    Route(GET, '/v1/build-info', services.BuildInfoRequest,
          QUERY, 200, answers.build_info, 'build_info:build_info'),
    Route(GET, '/v1/services', services.ServiceListRequest,
          QUERY, 200, items('services', resources.Service), 'services:index'),

    Route(GET, '/v1/profile-types', profiles.ProfileTypeListRequest,
          QUERY, 200,
          items('profile_types', resources.ProfileTypeItem),
          'profile_types:index'),
    Route(GET, '/v1/profile-types/{identity}', profiles.ProfileTypeGetRequest,
          QUERY, 200,
          item('profile_type', resources.ProfileType), 'profile_types:get'),

    Route(GET, '/v1/profile-types/{identity}/ops',
          profiles.ProfileTypeOpsRequest,
          QUERY, 200, answers.operations, 'profile_types:ops'),

    Route(GET, '/v1/profiles', profiles.ProfileListRequest,
          QUERY, 200, items('profiles', resources.Profile), 'profiles:index'),
    Route(POST, '/v1/profiles', profiles.ProfileCreateRequest,
          inside('profile'), 201,
          item('profile', resources.Profile), 'profiles:create'),
    Route(POST, '/v1/profiles/validate', profiles.ProfileValidateRequest,
          inside('profile'), 200,
          item('profile', resources.ProfileValidation), 'profiles:validate'),
    Route(GET, '/v1/profiles/{identity}', profiles.ProfileGetRequest,
          QUERY, 200, item('profile', resources.Profile), 'profiles:get'),
    Route(PATCH, '/v1/profiles/{identity}', profiles.ProfileUpdateRequest,
          inside('profile'), 200,
          item('profile', resources.Profile), 'profiles:update'),
    Route(DELETE, '/v1/profiles/{identity}', profiles.ProfileDeleteRequest,
          EITHER, 204, answers.nothing, 'profiles:delete'),

    Route(GET, '/v1/policy-types', policies.PolicyTypeListRequest,
          QUERY, 200,
          items('policy_types', resources.PolicyTypeItem),
          'policy_types:index'),
    Route(GET, '/v1/policy-types/{identity}', policies.PolicyTypeGetRequest,
          QUERY, 200,
          item('policy_type', resources.PolicyType), 'policy_types:get'),

    Route(GET, '/v1/policies', policies.PolicyListRequest,
          QUERY, 200, items('policies', resources.Policy), 'policies:index'),
    Route(POST, '/v1/policies', policies.PolicyCreateRequest,
          inside('policy'), 201,
          item('policy', resources.Policy), 'policies:create'),
    Route(POST, '/v1/policies/validate', policies.PolicyValidateRequest,
          inside('policy'), 200,
          item('policy', resources.PolicyValidation), 'policies:validate'),
    Route(GET, '/v1/policies/{identity}', policies.PolicyGetRequest,
          QUERY, 200, item('policy', resources.Policy), 'policies:get'),
    Route(PATCH, '/v1/policies/{identity}', policies.PolicyUpdateRequest,
          inside('policy'), 200,
          item('policy', resources.Policy), 'policies:update'),
    Route(DELETE, '/v1/policies/{identity}', policies.PolicyDeleteRequest,
          EITHER, 204, answers.nothing, 'policies:delete'),

    Route(GET, '/v1/clusters', clusters.ClusterListRequest,
          QUERY, 200, items('clusters', resources.Cluster), 'clusters:index'),
    Route(POST, '/v1/clusters', clusters.ClusterCreateRequest,
          inside('cluster'), 202,
          started('cluster', resources.Cluster), 'clusters:create'),
    Route(GET, '/v1/clusters/{identity}', clusters.ClusterGetRequest,
          QUERY, 200, item('cluster', resources.Cluster), 'clusters:get'),
    Route(PATCH, '/v1/clusters/{identity}', clusters.ClusterUpdateRequest,
          inside('cluster'), 202,
          started('cluster', resources.Cluster), 'clusters:update'),
    Route(DELETE, '/v1/clusters/{identity}', clusters.ClusterDeleteRequest,
          EITHER, 202, answers.location, 'clusters:delete'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterResizeRequest,
          action('resize'), 202, answers.action, 'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterScaleInRequest,
          action('scale_in', refuse_conflict=True), 202, answers.action,
          'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterScaleOutRequest,
          action('scale_out', refuse_conflict=True), 202, answers.action,
          'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterAddNodesRequest,
          action('add_nodes'), 202, answers.action, 'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterDelNodesRequest,
          action('del_nodes'), 202, answers.action, 'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterReplaceNodesRequest,
          action('replace_nodes'), 202, answers.action, 'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterCheckRequest,
          action('check', whole='params'), 202, answers.action,
          'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterRecoverRequest,
          action('recover'), 202, answers.action, 'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterCompleteLifecycleRequest,
          action('complete_lifecycle'), 202, answers.action,
          'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, policies.ClusterAttachPolicyRequest,
          action('policy_attach'), 202, answers.action, 'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, policies.ClusterDetachPolicyRequest,
          action('policy_detach'), 202, answers.action, 'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, policies.ClusterUpdatePolicyRequest,
          action('policy_update'), 202, answers.action, 'clusters:action'),
    # What the API reference calls it; clients and Senlin say policy_update.
    Route(POST, CLUSTER_ACTIONS, policies.ClusterUpdatePolicyRequest,
          action('update_policy'), 202, answers.action, 'clusters:action'),
    Route(GET, '/v1/clusters/{identity}/policies',
          policies.ClusterPolicyListRequest,
          QUERY, 200,
          items('cluster_policies', resources.ClusterPolicy),
          'cluster_policies:index'),
    Route(GET, '/v1/clusters/{identity}/policies/{policy_id}',
          policies.ClusterPolicyGetRequest,
          QUERY, 200,
          item('cluster_policy', resources.ClusterPolicy),
          'cluster_policies:get'),
    Route(POST, '/v1/clusters/{identity}/ops',
          clusters.ClusterOperationRequest,
          CLUSTER_OPERATION, 202, answers.action, 'clusters:operation'),
    Route(GET, '/v1/clusters/{identity}/attrs/{path}',
          clusters.ClusterCollectRequest,
          QUERY, 200,
          items('cluster_attributes', resources.ClusterAttribute),
          'clusters:collect'),

    Route(GET, '/v1/nodes', nodes.NodeListRequest,
          QUERY, 200, items('nodes', resources.Node), 'nodes:index'),
    Route(POST, '/v1/nodes', nodes.NodeCreateRequest,
          inside('node'), 202,
          started('node', resources.Node), 'nodes:create'),
    Route(POST, '/v1/nodes/adopt', nodes.NodeAdoptRequest,
          FLAT, 200, item('node', resources.Node), 'nodes:adopt',
          delegates=True),
    Route(POST, '/v1/nodes/adopt-preview', nodes.NodeAdoptPreviewRequest,
          FLAT, 200,
          # The first is documented; Senlin sends, and clients read, the other.
          item('node_preview', resources.NodePreview, 'node_profile'),
          'nodes:adopt-preview', delegates=True),
    Route(GET, '/v1/nodes/{identity}', nodes.NodeGetRequest,
          QUERY, 200, item('node', resources.Node), 'nodes:get'),
    Route(PATCH, '/v1/nodes/{identity}', nodes.NodeUpdateRequest,
          inside('node'), 202,
          started('node', resources.Node), 'nodes:update'),
    Route(DELETE, '/v1/nodes/{identity}', nodes.NodeDeleteRequest,
          EITHER, 202, answers.location, 'nodes:delete'),
    Route(POST, NODE_ACTIONS, nodes.NodeCheckRequest,
          action('check', whole='params'), 202, answers.action,
          'nodes:action'),
    Route(POST, NODE_ACTIONS, nodes.NodeRecoverRequest,
          action('recover'), 202, answers.action, 'nodes:action'),
    Route(POST, '/v1/nodes/{identity}/ops', nodes.NodeOperationRequest,
          NODE_OPERATION, 202, answers.action, 'nodes:operation'),

    Route(GET, '/v1/actions', actions.ActionListRequest,
          QUERY, 200, items('actions', resources.Action), 'actions:index'),
    Route(GET, '/v1/actions/{identity}', actions.ActionGetRequest,
          QUERY, 200, item('action', resources.Action), 'actions:get'),
    Route(PATCH, '/v1/actions/{identity}', actions.ActionUpdateRequest,
          CANCEL, 202, answers.location, 'actions:update'),

    Route(GET, '/v1/events', events.EventListRequest,
          QUERY, 200, items('events', resources.Event), 'events:index'),
    Route(GET, '/v1/events/{identity}', events.EventGetRequest,
          QUERY, 200, item('event', resources.Event), 'events:get'),

    Route(GET, '/v1/receivers', receivers.ReceiverListRequest,
          QUERY, 200,
          items('receivers', resources.Receiver), 'receivers:index'),
    Route(POST, '/v1/receivers', receivers.ReceiverCreateRequest,
          RECEIVER, 201,
          item('receiver', resources.Receiver), 'receivers:create',
          delegates=True),
    Route(GET, '/v1/receivers/{identity}', receivers.ReceiverGetRequest,
          QUERY, 200, item('receiver', resources.Receiver), 'receivers:get'),
    Route(PATCH, '/v1/receivers/{identity}', receivers.ReceiverUpdateRequest,
          inside('receiver'), 200,
          item('receiver', resources.Receiver), 'receivers:update'),
    Route(DELETE, '/v1/receivers/{identity}', receivers.ReceiverDeleteRequest,
          EITHER, 204, answers.nothing, 'receivers:delete'),
    Route(POST, '/v1/receivers/{identity}/notify',
          receivers.ReceiverNotifyRequest,
          NOTHING, 202, answers.nothing, 'receivers:notify'),
    Route(POST, '/v1/webhooks/{identity}/trigger',
          receivers.WebhookTriggerRequest,
          WEBHOOK, 202, answers.action, 'webhooks:trigger', public=True),
)
# fmt: on
