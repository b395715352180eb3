# SPDX-License-Identifier: Apache-2.0
"""The route table: every method of the API.

A route names a request type. The type knows which microversion introduced it,
and which fields it has at each microversion. Names in a path are fields of the
type; :class:`Params` declares where its other fields come from.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from api import renderers
from vobjects import fields, objects
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
class Params:
    """Sources of the fields that are not in the path.

    :ivar query: the query string has fields
    :ivar ignore_empty: ignore empty query parameters, as Senlin does in lists
    :ivar uppercase: query fields whose values may be in lower case
    :ivar body: the body has fields, in a JSON object
    :ivar key: the object is the value of this key of the body
    :ivar dispatch_on_key: the key distinguishes routes with the same path
    :ivar body_optional: the body may be missing
    :ivar key_field: the body has a single key, which is the value of this
        field; the other fields are in the object below the key
    :ivar body_field: the object itself is the value of this field
    :ivar flat_field: as ``body_field``, but only if no key of the object is
        the name of a field (the ``openstack`` command sends the parameters of
        cluster operations this way)
    :ivar implied: fields that the API itself sets in every request whose
        microversion has them; :data:`ROOT` stands for the root URL of the API
        as the client sees it
    :ivar webhook: see :mod:`api.request_builder`
    """

    query: bool = False
    ignore_empty: bool = False
    uppercase: tuple[str, ...] = ()
    body: bool = False
    key: str = ''
    dispatch_on_key: bool = False
    body_optional: bool = False
    key_field: str = ''
    body_field: str = ''
    flat_field: str = ''
    implied: tuple[tuple[str, Any], ...] = ()
    webhook: bool = False


#: Placeholder for the root URL; see :class:`Params`.
ROOT = object()

QUERY = Params(query=True)
LIST = Params(query=True, ignore_empty=True)
EVENTS = Params(query=True, ignore_empty=True, uppercase=('otype',))
BODY = Params(body=True)
OPTIONAL_BODY = Params(body=True, body_optional=True)
#: Senlin's deletions: no parameters, ``?force=true``, or a body with fields.
QUERY_OR_BODY = Params(query=True, body=True, body_optional=True)
RECEIVER = Params(body=True, key='receiver', implied=(('endpoint', ROOT),))
WEBHOOK = Params(
    body=True, body_optional=True, webhook=True, implied=(('only_body', True),)
)
#: As in ``{"reboot": {"type": "HARD"}}``.
NODE_OPERATION = Params(body=True, key_field='operation', body_field='params')
#: As in ``{"reboot": {"params": {...}, "filters": {...}}}``.
CLUSTER_OPERATION = Params(
    body=True, key_field='operation', flat_field='params'
)
#: ``{"action": {"status": "CANCELLED"}}`` and ``?force=true``.
ACTION_UPDATE = Params(query=True, body=True, key='action')


def body_under(key: str) -> Params:
    """Take fields from the object below ``key``: ``{"cluster": {...}}``."""
    return Params(body=True, key=key)


def action(key: str, *, body_field: str = '', **implied: Any) -> Params:
    """Take fields from the object below an action's name."""
    return Params(
        body=True,
        key=key,
        dispatch_on_key=True,
        body_field=body_field,
        implied=tuple(implied.items()),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Route:
    """One method of the API.

    :ivar path: ``{name}`` stands for one segment, the value of field ``name``
    :ivar request: type of the engine request
    :ivar params: sources of its fields
    :ivar status: HTTP status of a success
    :ivar renderer: renders the engine's result
    :ivar rule: policy rule, see :mod:`api.policy`
    :ivar lookup_first: request for the resource. If the body has an unknown
        field, the route first checks that the resource exists, since 404 takes
        precedence: Senlin looks for the resource before it looks at the
        fields, or ignores fields that it does not know
    :ivar public: callers are not authenticated
    :ivar needs_token: the engine gets the caller's token, to act for the
        caller in Keystone; implied by status 202, which starts an action
    """

    method: str
    path: str
    request: type[objects.Request]
    params: Params
    status: int
    renderer: renderers.Renderer
    rule: str
    lookup_first: type[objects.Request] | None = None
    public: bool = False
    needs_token: bool = False

    def __str__(self) -> str:
        suffix = f' with {self.params.key!r}' * self.params.dispatch_on_key
        return f'{self.method} {self.path}{suffix}'

    @property
    def forwards_token(self) -> bool:
        """Whether the engine gets the caller's token."""
        return self.needs_token or (self.status == 202 and not self.public)

    @property
    def path_fields(self) -> tuple[str, ...]:
        """The fields that are in the path."""
        return tuple(
            segment[1:-1]
            for segment in self.path.split('/')
            if segment.startswith('{')
        )

    def client_fields(self) -> list[str]:
        """Return the fields that clients send in the query or body."""
        implied = dict(self.params.implied)
        return [
            name
            for name in schema.all_field_names(self.request)
            if name not in self.path_fields and name not in implied
        ]

    def query_fields(self) -> list[str]:
        """Return the fields that clients may send in the query.

        If the route has a body, required fields must be in the body.
        """
        if not self.params.query:
            return []
        names = self.client_fields()
        if not self.params.body:
            return names
        known = self.request.fields
        return [
            name
            for name in names
            if name in known and not fields.is_required(known[name])
        ]


GET, POST, PATCH, DELETE = 'GET', 'POST', 'PATCH', 'DELETE'
item, items, page = renderers.item, renderers.items, renderers.page
accepted = renderers.accepted

CLUSTER_ACTIONS = '/v1/clusters/{identity}/actions'
NODE_ACTIONS = '/v1/nodes/{identity}/actions'

# The table, with two or three lines per route:
#     method, path, request type,
#     sources of fields, success status, renderer, policy rule
# fmt: off
ROUTES: tuple[Route, ...] = (
    Route(GET, '/v1/build-info', services.BuildInfoRequest,
          QUERY, 200, renderers.build_info, 'build_info:build_info'),
    Route(GET, '/v1/services', services.ServiceListRequest,
          LIST, 200, items('services', resources.Service), 'services:index'),

    Route(GET, '/v1/profile-types', profiles.ProfileTypeListRequest,
          LIST, 200,
          items('profile_types', resources.ProfileTypeItem),
          'profile_types:index'),
    Route(GET, '/v1/profile-types/{identity}', profiles.ProfileTypeGetRequest,
          QUERY, 200,
          item('profile_type', resources.ProfileType), 'profile_types:get'),

    Route(GET, '/v1/profile-types/{identity}/ops',
          profiles.ProfileTypeOpsRequest,
          QUERY, 200, renderers.operations, 'profile_types:ops'),

    Route(GET, '/v1/profiles', profiles.ProfileListRequest,
          LIST, 200, page('profiles', resources.Profile), 'profiles:index'),
    Route(POST, '/v1/profiles', profiles.ProfileCreateRequest,
          body_under('profile'), 201,
          item('profile', resources.Profile), 'profiles:create'),
    Route(POST, '/v1/profiles/validate', profiles.ProfileValidateRequest,
          body_under('profile'), 200,
          item('profile', resources.ProfileValidation), 'profiles:validate'),
    Route(GET, '/v1/profiles/{identity}', profiles.ProfileGetRequest,
          QUERY, 200, item('profile', resources.Profile), 'profiles:get'),
    Route(PATCH, '/v1/profiles/{identity}', profiles.ProfileUpdateRequest,
          body_under('profile'), 200,
          item('profile', resources.Profile), 'profiles:update'),
    Route(DELETE, '/v1/profiles/{identity}', profiles.ProfileDeleteRequest,
          QUERY_OR_BODY, 204, renderers.no_content, 'profiles:delete'),

    Route(GET, '/v1/policy-types', policies.PolicyTypeListRequest,
          LIST, 200,
          items('policy_types', resources.PolicyTypeItem),
          'policy_types:index'),
    Route(GET, '/v1/policy-types/{identity}', policies.PolicyTypeGetRequest,
          QUERY, 200,
          item('policy_type', resources.PolicyType), 'policy_types:get'),

    Route(GET, '/v1/policies', policies.PolicyListRequest,
          LIST, 200, page('policies', resources.Policy), 'policies:index'),
    Route(POST, '/v1/policies', policies.PolicyCreateRequest,
          body_under('policy'), 201,
          item('policy', resources.Policy), 'policies:create'),
    Route(POST, '/v1/policies/validate', policies.PolicyValidateRequest,
          body_under('policy'), 200,
          item('policy', resources.PolicyValidation), 'policies:validate'),
    Route(GET, '/v1/policies/{identity}', policies.PolicyGetRequest,
          QUERY, 200, item('policy', resources.Policy), 'policies:get'),
    Route(PATCH, '/v1/policies/{identity}', policies.PolicyUpdateRequest,
          body_under('policy'), 200,
          item('policy', resources.Policy), 'policies:update'),
    Route(DELETE, '/v1/policies/{identity}', policies.PolicyDeleteRequest,
          QUERY_OR_BODY, 204, renderers.no_content, 'policies:delete'),

    Route(GET, '/v1/clusters', clusters.ClusterListRequest,
          LIST, 200, page('clusters', resources.Cluster), 'clusters:index'),
    Route(POST, '/v1/clusters', clusters.ClusterCreateRequest,
          body_under('cluster'), 202,
          accepted('cluster', resources.Cluster), 'clusters:create'),
    Route(GET, '/v1/clusters/{identity}', clusters.ClusterGetRequest,
          QUERY, 200, item('cluster', resources.Cluster), 'clusters:get'),
    Route(PATCH, '/v1/clusters/{identity}', clusters.ClusterUpdateRequest,
          body_under('cluster'), 202,
          accepted('cluster', resources.Cluster), 'clusters:update'),
    Route(DELETE, '/v1/clusters/{identity}', clusters.ClusterDeleteRequest,
          QUERY_OR_BODY, 202, renderers.action_location, 'clusters:delete',
          lookup_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterResizeRequest,
          action('resize'), 202, renderers.action_id, 'clusters:action',
          lookup_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterScaleInRequest,
          action('scale_in', refuse_conflict=True), 202, renderers.action_id,
          'clusters:action',
          lookup_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterScaleOutRequest,
          action('scale_out', refuse_conflict=True), 202, renderers.action_id,
          'clusters:action',
          lookup_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterAddNodesRequest,
          action('add_nodes'), 202, renderers.action_id, 'clusters:action',
          lookup_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterDelNodesRequest,
          action('del_nodes'), 202, renderers.action_id, 'clusters:action',
          lookup_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterReplaceNodesRequest,
          action('replace_nodes'), 202, renderers.action_id, 'clusters:action',
          lookup_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterCheckRequest,
          action('check', body_field='params'), 202, renderers.action_id,
          'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterRecoverRequest,
          action('recover'), 202, renderers.action_id, 'clusters:action',
          lookup_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterCompleteLifecycleRequest,
          action('complete_lifecycle'), 202, renderers.action_id,
          'clusters:action',
          lookup_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, policies.ClusterAttachPolicyRequest,
          action('policy_attach'), 202, renderers.action_id,
          'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, policies.ClusterDetachPolicyRequest,
          action('policy_detach'), 202, renderers.action_id,
          'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, policies.ClusterUpdatePolicyRequest,
          action('policy_update'), 202, renderers.action_id,
          'clusters:action'),
    # Name in the API reference; Senlin and its clients use policy_update.
    Route(POST, CLUSTER_ACTIONS, policies.ClusterUpdatePolicyRequest,
          action('update_policy'), 202, renderers.action_id,
          'clusters:action'),
    Route(GET, '/v1/clusters/{identity}/policies',
          policies.ClusterPolicyListRequest,
          LIST, 200,
          items('cluster_policies', resources.ClusterPolicy),
          'cluster_policies:index'),
    Route(GET, '/v1/clusters/{identity}/policies/{policy_id}',
          policies.ClusterPolicyGetRequest,
          QUERY, 200,
          item('cluster_policy', resources.ClusterPolicy),
          'cluster_policies:get'),
    Route(POST, '/v1/clusters/{identity}/ops',
          clusters.ClusterOperationRequest,
          CLUSTER_OPERATION, 202, renderers.action_id, 'clusters:operation',
          lookup_first=clusters.ClusterGetRequest),
    Route(GET, '/v1/clusters/{identity}/attrs/{path}',
          clusters.ClusterCollectRequest,
          QUERY, 200,
          items('cluster_attributes', resources.ClusterAttribute),
          'clusters:collect'),

    Route(GET, '/v1/nodes', nodes.NodeListRequest,
          LIST, 200, page('nodes', resources.Node), 'nodes:index'),
    Route(POST, '/v1/nodes', nodes.NodeCreateRequest,
          body_under('node'), 202,
          accepted('node', resources.Node), 'nodes:create'),
    Route(POST, '/v1/nodes/adopt', nodes.NodeAdoptRequest,
          BODY, 200, item('node', resources.Node), 'nodes:adopt',
          needs_token=True),
    Route(POST, '/v1/nodes/adopt-preview', nodes.NodeAdoptPreviewRequest,
          BODY, 200,
          # The first key is documented; Senlin and its clients use the second.
          item('node_preview', resources.NodePreview, 'node_profile'),
          'nodes:adopt-preview', needs_token=True),
    Route(GET, '/v1/nodes/{identity}', nodes.NodeGetRequest,
          QUERY, 200, item('node', resources.Node), 'nodes:get'),
    Route(PATCH, '/v1/nodes/{identity}', nodes.NodeUpdateRequest,
          body_under('node'), 202,
          accepted('node', resources.Node), 'nodes:update'),
    Route(DELETE, '/v1/nodes/{identity}', nodes.NodeDeleteRequest,
          QUERY_OR_BODY, 202, renderers.action_location, 'nodes:delete',
          lookup_first=nodes.NodeGetRequest),
    Route(POST, NODE_ACTIONS, nodes.NodeCheckRequest,
          action('check', body_field='params'), 202, renderers.action_id,
          'nodes:action'),
    Route(POST, NODE_ACTIONS, nodes.NodeRecoverRequest,
          action('recover'), 202, renderers.action_id, 'nodes:action',
          lookup_first=nodes.NodeGetRequest),
    Route(POST, '/v1/nodes/{identity}/ops', nodes.NodeOperationRequest,
          NODE_OPERATION, 202, renderers.action_id, 'nodes:operation'),

    Route(GET, '/v1/actions', actions.ActionListRequest,
          LIST, 200, page('actions', resources.Action), 'actions:index'),
    Route(GET, '/v1/actions/{identity}', actions.ActionGetRequest,
          QUERY, 200, item('action', resources.Action), 'actions:get'),
    Route(PATCH, '/v1/actions/{identity}', actions.ActionUpdateRequest,
          ACTION_UPDATE, 202, renderers.action_location, 'actions:update'),

    Route(GET, '/v1/events', events.EventListRequest,
          EVENTS, 200, renderers.events, 'events:index'),
    Route(GET, '/v1/events/{identity}', events.EventGetRequest,
          QUERY, 200, renderers.event, 'events:get'),

    Route(GET, '/v1/receivers', receivers.ReceiverListRequest,
          LIST, 200,
          page('receivers', resources.Receiver), 'receivers:index'),
    Route(POST, '/v1/receivers', receivers.ReceiverCreateRequest,
          RECEIVER, 201,
          item('receiver', resources.Receiver), 'receivers:create',
          needs_token=True),
    Route(GET, '/v1/receivers/{identity}', receivers.ReceiverGetRequest,
          QUERY, 200, item('receiver', resources.Receiver), 'receivers:get'),
    Route(PATCH, '/v1/receivers/{identity}', receivers.ReceiverUpdateRequest,
          body_under('receiver'), 200,
          item('receiver', resources.Receiver), 'receivers:update'),
    Route(DELETE, '/v1/receivers/{identity}', receivers.ReceiverDeleteRequest,
          QUERY_OR_BODY, 204, renderers.no_content, 'receivers:delete'),
    Route(POST, '/v1/receivers/{identity}/notify',
          receivers.ReceiverNotifyRequest,
          # The API reference says 202; Senlin sends 204, as there is no body.
          OPTIONAL_BODY, 204, renderers.no_content, 'receivers:notify',
          needs_token=True, lookup_first=receivers.ReceiverGetRequest),
    Route(POST, '/v1/webhooks/{identity}/trigger',
          receivers.WebhookTriggerRequest,
          WEBHOOK, 202, renderers.action_id, 'webhooks:trigger', public=True),
)
# fmt: on
