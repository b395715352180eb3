# SPDX-License-Identifier: Apache-2.0
"""A typed client of the clustering API; see :mod:`vobjects_client`.

It also works with Senlin::

    http = httpx.Client(
        base_url='http://127.0.0.1:8777', headers={'X-Auth-Token': token}
    )
    clustering = Clustering(http)
    cluster = clustering.clusters.create(name='web', profile_id='server')
    clustering.clusters.delete(identity='web', force=True)
"""

from __future__ import annotations

from typing import Any

from vobjects.clustering import history, resources
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
from vobjects_client import Client, Http, Location, Operations, operation

GET, POST, PATCH, DELETE = 'GET', 'POST', 'PATCH', 'DELETE'
CLUSTER = '/v1/clusters/{identity}'
CLUSTER_ACTIONS = f'{CLUSTER}/actions'
NODE = '/v1/nodes/{identity}'


def _check(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a check, whose parameters have no key."""
    return {'check': fields.get('params', {})}


def _node_operation(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the body of an operation, which is the only key."""
    return {fields['operation']: fields.get('params', {})}


def _cluster_operation(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the body of an operation, which is the only key."""
    return {fields.pop('operation'): fields}


# In each class, `list` is last: it hides the type from the lines below.
# fmt: off
class Profiles(Operations[Http]):
    """Profiles."""

    create = operation(
        POST, '/v1/profiles', profiles.ProfileCreateRequest,
        resources.Profile, body='profile', result='profile')
    validate = operation(
        POST, '/v1/profiles/validate', profiles.ProfileValidateRequest,
        resources.ProfileValidation, body='profile', result='profile')
    get = operation(
        GET, '/v1/profiles/{identity}', profiles.ProfileGetRequest,
        resources.Profile, result='profile')
    update = operation(
        PATCH, '/v1/profiles/{identity}', profiles.ProfileUpdateRequest,
        resources.Profile, body='profile', result='profile')
    delete = operation(
        DELETE, '/v1/profiles/{identity}', profiles.ProfileDeleteRequest)
    list = operation(
        GET, '/v1/profiles', profiles.ProfileListRequest,
        list[resources.Profile], result='profiles')


class Policies(Operations[Http]):
    """Policies."""

    create = operation(
        POST, '/v1/policies', policies.PolicyCreateRequest,
        resources.Policy, body='policy', result='policy')
    validate = operation(
        POST, '/v1/policies/validate', policies.PolicyValidateRequest,
        resources.PolicyValidation, body='policy', result='policy')
    get = operation(
        GET, '/v1/policies/{identity}', policies.PolicyGetRequest,
        resources.Policy, result='policy')
    update = operation(
        PATCH, '/v1/policies/{identity}', policies.PolicyUpdateRequest,
        resources.Policy, body='policy', result='policy')
    delete = operation(
        DELETE, '/v1/policies/{identity}', policies.PolicyDeleteRequest)
    list = operation(
        GET, '/v1/policies', policies.PolicyListRequest,
        list[resources.Policy], result='policies')


class Clusters(Operations[Http]):
    """Clusters; the result of a method that starts an action is its ID."""

    create = operation(
        POST, '/v1/clusters', clusters.ClusterCreateRequest,
        resources.Cluster, body='cluster', result='cluster')
    get = operation(
        GET, CLUSTER, clusters.ClusterGetRequest,
        resources.Cluster, result='cluster')
    update = operation(
        PATCH, CLUSTER, clusters.ClusterUpdateRequest,
        resources.Cluster, body='cluster', result='cluster')
    delete = operation(
        DELETE, CLUSTER, clusters.ClusterDeleteRequest, Location)
    resize = operation(
        POST, CLUSTER_ACTIONS, clusters.ClusterResizeRequest,
        str, body='resize', result='action')
    scale_in = operation(
        POST, CLUSTER_ACTIONS, clusters.ClusterScaleInRequest,
        str, body='scale_in', result='action')
    scale_out = operation(
        POST, CLUSTER_ACTIONS, clusters.ClusterScaleOutRequest,
        str, body='scale_out', result='action')
    add_nodes = operation(
        POST, CLUSTER_ACTIONS, clusters.ClusterAddNodesRequest,
        str, body='add_nodes', result='action')
    del_nodes = operation(
        POST, CLUSTER_ACTIONS, clusters.ClusterDelNodesRequest,
        str, body='del_nodes', result='action')
    replace_nodes = operation(
        POST, CLUSTER_ACTIONS, clusters.ClusterReplaceNodesRequest,
        str, body='replace_nodes', result='action')
    check = operation(
        POST, CLUSTER_ACTIONS, clusters.ClusterCheckRequest,
        str, body=_check, result='action')
    recover = operation(
        POST, CLUSTER_ACTIONS, clusters.ClusterRecoverRequest,
        str, body='recover', result='action')
    complete_lifecycle = operation(
        POST, CLUSTER_ACTIONS, clusters.ClusterCompleteLifecycleRequest,
        str, body='complete_lifecycle', result='action')
    attach_policy = operation(
        POST, CLUSTER_ACTIONS, policies.ClusterAttachPolicyRequest,
        str, body='policy_attach', result='action')
    detach_policy = operation(
        POST, CLUSTER_ACTIONS, policies.ClusterDetachPolicyRequest,
        str, body='policy_detach', result='action')
    update_policy = operation(
        POST, CLUSTER_ACTIONS, policies.ClusterUpdatePolicyRequest,
        str, body='policy_update', result='action')
    run_operation = operation(
        POST, f'{CLUSTER}/ops', clusters.ClusterOperationRequest,
        str, body=_cluster_operation, result='action')
    get_policy = operation(
        GET, f'{CLUSTER}/policies/{{policy_id}}',
        policies.ClusterPolicyGetRequest,
        resources.ClusterPolicy, result='cluster_policy')
    list_policies = operation(
        GET, f'{CLUSTER}/policies', policies.ClusterPolicyListRequest,
        list[resources.ClusterPolicy], result='cluster_policies')
    collect = operation(
        GET, f'{CLUSTER}/attrs/{{path}}', clusters.ClusterCollectRequest,
        list[resources.ClusterAttribute], result='cluster_attributes')
    list = operation(
        GET, '/v1/clusters', clusters.ClusterListRequest,
        list[resources.Cluster], result='clusters')


class Nodes(Operations[Http]):
    """Nodes; the result of a method that starts an action is its ID."""

    create = operation(
        POST, '/v1/nodes', nodes.NodeCreateRequest,
        resources.Node, body='node', result='node')
    adopt = operation(
        POST, '/v1/nodes/adopt', nodes.NodeAdoptRequest,
        resources.Node, result='node')
    preview_adoption = operation(
        POST, '/v1/nodes/adopt-preview', nodes.NodeAdoptPreviewRequest,
        resources.NodePreview, result='node_profile')
    get = operation(
        GET, NODE, nodes.NodeGetRequest, resources.Node, result='node')
    update = operation(
        PATCH, NODE, nodes.NodeUpdateRequest,
        resources.Node, body='node', result='node')
    delete = operation(DELETE, NODE, nodes.NodeDeleteRequest, Location)
    check = operation(
        POST, f'{NODE}/actions', nodes.NodeCheckRequest,
        str, body=_check, result='action')
    recover = operation(
        POST, f'{NODE}/actions', nodes.NodeRecoverRequest,
        str, body='recover', result='action')
    run_operation = operation(
        POST, f'{NODE}/ops', nodes.NodeOperationRequest,
        str, body=_node_operation, result='action')
    list = operation(
        GET, '/v1/nodes', nodes.NodeListRequest,
        list[resources.Node], result='nodes')


class Receivers(Operations[Http]):
    """Receivers."""

    create = operation(
        POST, '/v1/receivers', receivers.ReceiverCreateRequest,
        resources.Receiver, body='receiver', result='receiver')
    get = operation(
        GET, '/v1/receivers/{identity}', receivers.ReceiverGetRequest,
        resources.Receiver, result='receiver')
    update = operation(
        PATCH, '/v1/receivers/{identity}', receivers.ReceiverUpdateRequest,
        resources.Receiver, body='receiver', result='receiver')
    delete = operation(
        DELETE, '/v1/receivers/{identity}', receivers.ReceiverDeleteRequest)
    list = operation(
        GET, '/v1/receivers', receivers.ReceiverListRequest,
        list[resources.Receiver], result='receivers')


class Actions(Operations[Http]):
    """Actions."""

    get = operation(
        GET, '/v1/actions/{identity}', actions.ActionGetRequest,
        resources.Action, result='action')
    update = operation(
        PATCH, '/v1/actions/{identity}', actions.ActionUpdateRequest,
        Location, body='action')
    list = operation(
        GET, '/v1/actions', actions.ActionListRequest,
        list[resources.Action], result='actions')


class Events(Operations[Http]):
    """Events."""

    get = operation(
        GET, '/v1/events/{identity}', events.EventGetRequest,
        resources.Event, result='event')
    list = operation(
        GET, '/v1/events', events.EventListRequest,
        list[resources.Event], result='events')


class Service(Operations[Http]):
    """The service itself: its types and processes."""

    build_info = operation(
        GET, '/v1/build-info', services.BuildInfoRequest,
        resources.BuildInfo, result='build_info')
    get_profile_type = operation(
        GET, '/v1/profile-types/{identity}', profiles.ProfileTypeGetRequest,
        resources.ProfileType, result='profile_type')
    get_policy_type = operation(
        GET, '/v1/policy-types/{identity}', policies.PolicyTypeGetRequest,
        resources.PolicyType, result='policy_type')
    list_profile_types = operation(
        GET, '/v1/profile-types', profiles.ProfileTypeListRequest,
        list[resources.ProfileTypeItem], result='profile_types')
    list_policy_types = operation(
        GET, '/v1/policy-types', policies.PolicyTypeListRequest,
        list[resources.PolicyTypeItem], result='policy_types')
    list_processes = operation(
        GET, '/v1/services', services.ServiceListRequest,
        list[resources.Service], result='services')
# fmt: on


class Clustering(Client[Http]):
    """A client of the clustering API."""

    POLICY = history.POLICY

    profiles: Profiles[Http]
    policies: Policies[Http]
    clusters: Clusters[Http]
    nodes: Nodes[Http]
    receivers: Receivers[Http]
    actions: Actions[Http]
    events: Events[Http]
    service: Service[Http]
