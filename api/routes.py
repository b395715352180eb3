# SPDX-License-Identifier: Apache-2.0
"""The route table: every method of the API.

A route names a request type. The type knows which microversion introduced it,
and which fields it has at each microversion. Names in a path are fields of the
type; :class:`Given` declares where its other fields come from.
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
class Given:
    """Sources of the fields that are not in the path.

    :ivar query: from the query string
    :ivar skips_empty: ignore empty query parameters, as Senlin does in lists
    :ivar body: from a JSON object
    :ivar key: the object is the value of this key
    :ivar selects: the key distinguishes routes with the same path
    :ivar optional: the object may be missing
    :ivar names: the object has a single key, which is the value of this field;
        the other fields are in the object below it
    :ivar whole: the object is itself the value of this field
    :ivar flat: as ``whole``, but only if no key of the object is the name of a
        field (the ``openstack`` command sends the parameters of cluster
        operations this way)
    :ivar implied: fields that the API sets itself in every request, from the
        microversion on that has them; :data:`ROOT` stands for the root URL of
        the API as the client sees it
    :ivar upper: query fields whose values may be in lower case
    :ivar webhook: see :mod:`api.webhooks`
    """

    query: bool = False
    skips_empty: bool = False
    body: bool = False
    key: str = ''
    selects: bool = False
    optional: bool = False
    names: str = ''
    whole: str = ''
    flat: str = ''
    implied: tuple[tuple[str, Any], ...] = ()
    upper: tuple[str, ...] = ()
    webhook: bool = False


#: Placeholder for the root URL; see :class:`Given`.
ROOT = object()

QUERY = Given(query=True)
LIST = Given(query=True, skips_empty=True)
EVENTS = Given(query=True, skips_empty=True, upper=('otype',))
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
#: Senlin's deletions: no parameters, ``?force=true``, or a flat body.
EITHER = Given(query=True, body=True, optional=True)


def inside(key: str) -> Given:
    """Take fields from the object below ``key``: ``{"cluster": {...}}``."""
    return Given(body=True, key=key)


def action(key: str, *, whole: str = '', **implied: Any) -> Given:
    """Take fields from the object below an action's name."""
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

    :ivar path: ``{name}`` stands for one segment, the value of field ``name``
    :ivar request: type of the engine request
    :ivar given: sources of its fields
    :ivar status: HTTP status of a success
    :ivar render: renders the engine's result
    :ivar rule: policy rule, see :mod:`api.policy`
    :ivar found_first: request for the resource. If the body has an unknown
        field, the route first checks that the resource exists, since 404 takes
        precedence: Senlin looks for the resource before it looks at the
        fields, or ignores fields that it does not know
    :ivar public: callers are not authenticated
    :ivar delegates: the engine gets the caller's token, so that Keystone lets
        it act for the caller; implied by status 202, whose action runs later
    """

    method: str
    path: str
    request: type[objects.Request]
    given: Given
    status: int
    render: renderers.Render
    rule: str
    found_first: type[objects.Request] | None = None
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
        """Return the fields that clients give in the query or body."""
        implied = dict(self.given.implied)
        return [
            name
            for name in schema.all_field_names(self.request)
            if name not in self.in_path and name not in implied
        ]

    def query_names(self) -> list[str]:
        """Return the fields that clients may give in the query.

        If the route has a body, required fields must be in the body.
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
            if name in known and not fields.is_required(known[name])
        ]


GET, POST, PATCH, DELETE = 'GET', 'POST', 'PATCH', 'DELETE'
item, items, started = renderers.item, renderers.items, renderers.started
page = renderers.page

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
          EITHER, 204, renderers.nothing, 'profiles:delete'),

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
          EITHER, 204, renderers.nothing, 'policies:delete'),

    Route(GET, '/v1/clusters', clusters.ClusterListRequest,
          LIST, 200, page('clusters', resources.Cluster), 'clusters:index'),
    Route(POST, '/v1/clusters', clusters.ClusterCreateRequest,
          inside('cluster'), 202,
          started('cluster', resources.Cluster), 'clusters:create'),
    Route(GET, '/v1/clusters/{identity}', clusters.ClusterGetRequest,
          QUERY, 200, item('cluster', resources.Cluster), 'clusters:get'),
    Route(PATCH, '/v1/clusters/{identity}', clusters.ClusterUpdateRequest,
          inside('cluster'), 202,
          started('cluster', resources.Cluster), 'clusters:update'),
    Route(DELETE, '/v1/clusters/{identity}', clusters.ClusterDeleteRequest,
          EITHER, 202, renderers.location, 'clusters:delete',
          found_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterResizeRequest,
          action('resize'), 202, renderers.action, 'clusters:action',
          found_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterScaleInRequest,
          action('scale_in', refuse_conflict=True), 202, renderers.action,
          'clusters:action',
          found_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterScaleOutRequest,
          action('scale_out', refuse_conflict=True), 202, renderers.action,
          'clusters:action',
          found_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterAddNodesRequest,
          action('add_nodes'), 202, renderers.action, 'clusters:action',
          found_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterDelNodesRequest,
          action('del_nodes'), 202, renderers.action, 'clusters:action',
          found_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterReplaceNodesRequest,
          action('replace_nodes'), 202, renderers.action, 'clusters:action',
          found_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterCheckRequest,
          action('check', whole='params'), 202, renderers.action,
          'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterRecoverRequest,
          action('recover'), 202, renderers.action, 'clusters:action',
          found_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, clusters.ClusterCompleteLifecycleRequest,
          action('complete_lifecycle'), 202, renderers.action,
          'clusters:action',
          found_first=clusters.ClusterGetRequest),
    Route(POST, CLUSTER_ACTIONS, policies.ClusterAttachPolicyRequest,
          action('policy_attach'), 202, renderers.action, 'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, policies.ClusterDetachPolicyRequest,
          action('policy_detach'), 202, renderers.action, 'clusters:action'),
    Route(POST, CLUSTER_ACTIONS, policies.ClusterUpdatePolicyRequest,
          action('policy_update'), 202, renderers.action, 'clusters:action'),
    # Name in the API reference; Senlin and its clients use policy_update.
    Route(POST, CLUSTER_ACTIONS, policies.ClusterUpdatePolicyRequest,
          action('update_policy'), 202, renderers.action, 'clusters:action'),
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
          CLUSTER_OPERATION, 202, renderers.action, 'clusters:operation',
          found_first=clusters.ClusterGetRequest),
    Route(GET, '/v1/clusters/{identity}/attrs/{path}',
          clusters.ClusterCollectRequest,
          QUERY, 200,
          items('cluster_attributes', resources.ClusterAttribute),
          'clusters:collect'),

    Route(GET, '/v1/nodes', nodes.NodeListRequest,
          LIST, 200, page('nodes', resources.Node), 'nodes:index'),
    Route(POST, '/v1/nodes', nodes.NodeCreateRequest,
          inside('node'), 202,
          started('node', resources.Node), 'nodes:create'),
    Route(POST, '/v1/nodes/adopt', nodes.NodeAdoptRequest,
          FLAT, 200, item('node', resources.Node), 'nodes:adopt',
          delegates=True),
    Route(POST, '/v1/nodes/adopt-preview', nodes.NodeAdoptPreviewRequest,
          FLAT, 200,
          # The first key is documented; Senlin and its clients use the second.
          item('node_preview', resources.NodePreview, 'node_profile'),
          'nodes:adopt-preview', delegates=True),
    Route(GET, '/v1/nodes/{identity}', nodes.NodeGetRequest,
          QUERY, 200, item('node', resources.Node), 'nodes:get'),
    Route(PATCH, '/v1/nodes/{identity}', nodes.NodeUpdateRequest,
          inside('node'), 202,
          started('node', resources.Node), 'nodes:update'),
    Route(DELETE, '/v1/nodes/{identity}', nodes.NodeDeleteRequest,
          EITHER, 202, renderers.location, 'nodes:delete',
          found_first=nodes.NodeGetRequest),
    Route(POST, NODE_ACTIONS, nodes.NodeCheckRequest,
          action('check', whole='params'), 202, renderers.action,
          'nodes:action'),
    Route(POST, NODE_ACTIONS, nodes.NodeRecoverRequest,
          action('recover'), 202, renderers.action, 'nodes:action',
          found_first=nodes.NodeGetRequest),
    Route(POST, '/v1/nodes/{identity}/ops', nodes.NodeOperationRequest,
          NODE_OPERATION, 202, renderers.action, 'nodes:operation'),

    Route(GET, '/v1/actions', actions.ActionListRequest,
          LIST, 200, page('actions', resources.Action), 'actions:index'),
    Route(GET, '/v1/actions/{identity}', actions.ActionGetRequest,
          QUERY, 200, item('action', resources.Action), 'actions:get'),
    Route(PATCH, '/v1/actions/{identity}', actions.ActionUpdateRequest,
          CANCEL, 202, renderers.location, 'actions:update'),

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
          delegates=True),
    Route(GET, '/v1/receivers/{identity}', receivers.ReceiverGetRequest,
          QUERY, 200, item('receiver', resources.Receiver), 'receivers:get'),
    Route(PATCH, '/v1/receivers/{identity}', receivers.ReceiverUpdateRequest,
          inside('receiver'), 200,
          item('receiver', resources.Receiver), 'receivers:update'),
    Route(DELETE, '/v1/receivers/{identity}', receivers.ReceiverDeleteRequest,
          EITHER, 204, renderers.nothing, 'receivers:delete'),
    Route(POST, '/v1/receivers/{identity}/notify',
          receivers.ReceiverNotifyRequest,
          # The API reference says 202; Senlin sends 204, as there is no body.
          NOTHING, 204, renderers.nothing, 'receivers:notify', delegates=True,
          found_first=receivers.ReceiverGetRequest),
    Route(POST, '/v1/webhooks/{identity}/trigger',
          receivers.WebhookTriggerRequest,
          WEBHOOK, 202, renderers.action, 'webhooks:trigger', public=True),
)
# fmt: on
