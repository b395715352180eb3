# SPDX-License-Identifier: Apache-2.0
"""An engine that keeps its resources in memory, and its fleet.

:class:`FakeEngine` takes the place of the API's RPC client: it gets request
objects as they arrive over the wire, and returns resource objects.
"""

from __future__ import annotations

import functools
import uuid
from typing import Any

from vobjects import exceptions, objects, versions
from vobjects.clustering import errors, history, resources
from vobjects.clustering import types as clustering_types
from vobjects.clustering.context import RequestContext
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
from vobjects.objects import manifest
from vobjects.rpc import response_text, serializer
from vobjects.versions import Maximum

#: The import registers the types.
TYPES = clustering_types

NOW = '2026-01-02T03:04:05Z'


class FakeFleet:
    """The highest microversion of the live engines.

    :ivar max_version: None: no engine is live
    :ivar earlier: values that :meth:`maximum` returns first, once each
    """

    def __init__(self) -> None:
        self.max_version: Maximum | None = Maximum(history.MAXIMUM)
        self.earlier: list[Maximum] = []
        self.live_engines = 1

    def server_count(self) -> int:
        if self.max_version is None:
            raise exceptions.NoLivePeer('the database db7:3306 is away')
        return self.live_engines

    def known_server_count(self) -> int:
        return 0 if self.max_version is None else self.live_engines

    def maximum(self) -> Maximum:
        if self.earlier:
            return self.earlier.pop(0)
        if self.max_version is None:
            raise exceptions.NoLivePeer("no server of 'engine' lives")
        return self.max_version

    def fleet_data(self) -> dict[str, Any]:
        return {'max_microversion': str(self.maximum().version)}


class FakeEngine:
    """Handles requests.

    :ivar calls: (context, request) of each call
    :ivar error: raised by each call; None: calls succeed
    """

    def __init__(self) -> None:
        self.calls: list[tuple[RequestContext, Any]] = []
        self.error: Exception | None = None
        self.clusters: dict[str, Any] = {}
        self.nodes: dict[str, Any] = {}
        self.profiles: dict[str, Any] = {}
        self.actions: dict[str, Any] = {}
        self.events: dict[str, Any] = {}
        self.policies: dict[str, Any] = {}
        self.receivers: dict[str, Any] = {}

    @property
    def last_request(self) -> Any:
        """The newest request."""
        return self.calls[-1][1]

    def call(
        self,
        context: RequestContext,
        request: objects.Request,
        versions: manifest.Manifest | None = None,
    ) -> Any:
        """See ``vobjects.rpc.client.Client.call``."""
        own = manifest.local()
        supported = {
            name: _lower(own[name], (versions or own).get(name))
            for name in own
        }
        message = serializer.to_wire(request, supported)
        if self.error is not None:
            raise self.error
        arrived = serializer.from_wire(message, context)
        self.calls.append((context, arrived))
        return self._handle(arrived)

    def call_for_text(
        self, *arguments: Any, shown: Any, part: str
    ) -> response_text.ResponseText:
        """See ``vobjects.rpc.client.Client.call_for_text``."""
        return response_text.write(self.call(*arguments), shown, part)

    @functools.singledispatchmethod
    def _handle(self, request: Any) -> Any:
        raise AssertionError(f'no handler of {type(request).__name__}')

    @_handle.register
    def _(self, request: services.BuildInfoRequest) -> Any:
        return resources.BuildInfo(api=None, engine={'revision': '0.1.0'})

    @_handle.register
    def _(self, request: services.SummaryRequest) -> Any:
        return resources.Summary(
            clusters={'ACTIVE': 1},
            nodes={},
            actions={'READY': 2},
            queue_age=1.5,
        )

    @_handle.register
    def _(self, request: services.RollbackVerdictRequest) -> Any:
        return resources.RollbackVerdict(
            release='0.1.0', can_roll_back=False, reasons=['because']
        )

    @_handle.register
    def _(self, request: services.ServiceListRequest) -> Any:
        return [
            resources.Service(
                id='e1',
                binary='vobjects-engine',
                host='here',
                topic='engine',
                state='up',
                status='enabled',
                disabled_reason=None,
                updated_at=NOW,
            )
        ]

    @_handle.register
    def _(self, request: profiles.ProfileTypeListRequest) -> Any:
        return [
            resources.ProfileTypeItem(
                name='os.nova.server',
                version='1.0',
                support_status={
                    '1.0': [{'status': 'SUPPORTED', 'since': '2016.04'}]
                },
            )
        ]

    @_handle.register
    def _(self, request: profiles.ProfileTypeGetRequest) -> Any:
        if request.identity != 'os.nova.server-1.0':
            raise errors.ResourceNotFound(
                f'The profile_type {request.identity} could not be found.'
            )
        return resources.ProfileType(
            name=request.identity, schema={}, support_status={}
        )

    @_handle.register
    def _(self, request: profiles.ProfileTypeOpsRequest) -> Any:
        return resources.ProfileTypeOperations(operations={'reboot': {}})

    @_handle.register
    def _(self, request: profiles.ProfileListRequest) -> Any:
        return _page(self.profiles, request)

    @_handle.register
    def _(self, request: profiles.ProfileCreateRequest) -> Any:
        resource = _profile(request.name, request.spec, request.metadata)
        self.profiles[resource.id] = resource
        return resource

    @_handle.register
    def _(self, request: profiles.ProfileValidateRequest) -> Any:
        return resources.ProfileValidation(
            name='validated_profile',
            type='os.nova.server-1.0',
            spec=request.spec,
            metadata={},
        )

    @_handle.register
    def _(self, request: profiles.ProfileGetRequest) -> Any:
        return _find(self.profiles, request.identity, 'profile')

    @_handle.register
    def _(self, request: profiles.ProfileUpdateRequest) -> Any:
        profile = _find(self.profiles, request.identity, 'profile')
        for name in ('name', 'metadata'):
            value = _value(request, name, getattr(profile, name))
            setattr(profile, name, value)
        return profile

    @_handle.register
    def _(self, request: profiles.ProfileDeleteRequest) -> Any:
        profile = _find(self.profiles, request.identity, 'profile')
        del self.profiles[profile.id]

    @_handle.register
    def _(self, request: clusters.ClusterListRequest) -> Any:
        return _page(self.clusters, request)

    @_handle.register
    def _(self, request: clusters.ClusterCreateRequest) -> Any:
        resource = _cluster(request)
        self.clusters[resource.id] = resource
        return self._accepted(cluster=resource)

    @_handle.register
    def _(self, request: clusters.ClusterGetRequest) -> Any:
        return _find(self.clusters, request.identity, 'cluster')

    @_handle.register
    def _(self, request: clusters.ClusterUpdateRequest) -> Any:
        return self._accepted(
            cluster=_find(self.clusters, request.identity, 'cluster')
        )

    @_handle.register(clusters.ClusterDeleteRequest)
    @_handle.register(clusters.ClusterResizeRequest)
    @_handle.register(clusters.ClusterScaleInRequest)
    @_handle.register(clusters.ClusterScaleOutRequest)
    @_handle.register(policies.ClusterAttachPolicyRequest)
    @_handle.register(policies.ClusterDetachPolicyRequest)
    @_handle.register(policies.ClusterUpdatePolicyRequest)
    @_handle.register(clusters.ClusterAddNodesRequest)
    @_handle.register(clusters.ClusterDelNodesRequest)
    @_handle.register(clusters.ClusterReplaceNodesRequest)
    @_handle.register(clusters.ClusterOperationRequest)
    @_handle.register(clusters.ClusterCompleteLifecycleRequest)
    @_handle.register(clusters.ClusterCheckRequest)
    @_handle.register(clusters.ClusterRecoverRequest)
    def _(self, request: Any) -> Any:
        _find(self.clusters, request.identity, 'cluster')
        return self._accepted()

    @_handle.register
    def _(self, request: clusters.ClusterCollectRequest) -> Any:
        _find(self.clusters, request.identity, 'cluster')
        return [resources.ClusterAttribute(id='n', value=request.path)]

    @_handle.register
    def _(self, request: nodes.NodeListRequest) -> Any:
        return _page(self.nodes, request)

    @_handle.register
    def _(self, request: nodes.NodeCreateRequest) -> Any:
        resource = _node(request)
        self.nodes[resource.id] = resource
        return self._accepted(node=resource)

    @_handle.register
    def _(self, request: nodes.NodeGetRequest) -> Any:
        return _find(self.nodes, request.identity, 'node')

    @_handle.register
    def _(self, request: nodes.NodeUpdateRequest) -> Any:
        return self._accepted(node=_find(self.nodes, request.identity, 'node'))

    @_handle.register(nodes.NodeDeleteRequest)
    @_handle.register(nodes.NodeCheckRequest)
    @_handle.register(nodes.NodeOperationRequest)
    @_handle.register(nodes.NodeRecoverRequest)
    def _(self, request: Any) -> Any:
        _find(self.nodes, request.identity, 'node')
        return self._accepted()

    @_handle.register
    def _(self, request: nodes.NodeAdoptRequest) -> Any:
        return _adopted_node(request)

    @_handle.register
    def _(self, request: nodes.NodeAdoptPreviewRequest) -> Any:
        return resources.NodePreview(
            type='os.nova.server', version='1.0', properties={}
        )

    @_handle.register
    def _(self, request: actions.ActionUpdateRequest) -> Any:
        action = _find(self.actions, request.identity, 'action')
        return resources.Accepted(action=action.id, cluster=None, node=None)

    @_handle.register
    def _(self, request: actions.ActionListRequest) -> Any:
        return _page(self.actions, request)

    @_handle.register
    def _(self, request: actions.ActionGetRequest) -> Any:
        return _find(self.actions, request.identity, 'action')

    @_handle.register
    def _(self, request: policies.PolicyTypeListRequest) -> Any:
        return [
            resources.PolicyTypeItem(
                name='senlin.policy.batch', version='1.0', support_status={}
            )
        ]

    @_handle.register
    def _(self, request: policies.PolicyTypeGetRequest) -> Any:
        if request.identity != 'senlin.policy.batch-1.0':
            raise errors.ResourceNotFound(
                f'The policy_type {request.identity} could not be found.'
            )
        return resources.PolicyType(
            name=request.identity, schema={}, support_status={}
        )

    @_handle.register
    def _(self, request: policies.PolicyListRequest) -> Any:
        return _page(self.policies, request)

    @_handle.register
    def _(self, request: policies.PolicyCreateRequest) -> Any:
        resource = _policy(resources.Policy, request.name, request.spec)
        self.policies[resource.id] = resource
        return resource

    @_handle.register
    def _(self, request: policies.PolicyValidateRequest) -> Any:
        return _policy(resources.PolicyValidation, 'v', request.spec)

    @_handle.register
    def _(self, request: policies.PolicyGetRequest) -> Any:
        return _find(self.policies, request.identity, 'policy')

    @_handle.register
    def _(self, request: policies.PolicyUpdateRequest) -> Any:
        policy = _find(self.policies, request.identity, 'policy')
        policy.name = request.name
        return policy

    @_handle.register
    def _(self, request: policies.PolicyDeleteRequest) -> Any:
        policy = _find(self.policies, request.identity, 'policy')
        del self.policies[policy.id]

    @_handle.register
    def _(self, request: policies.ClusterPolicyListRequest) -> Any:
        cluster = _find(self.clusters, request.identity, 'cluster')
        return [_binding(cluster, policy) for policy in self.policies.values()]

    @_handle.register
    def _(self, request: policies.ClusterPolicyGetRequest) -> Any:
        cluster = _find(self.clusters, request.identity, 'cluster')
        policy = _find(self.policies, request.policy_id, 'policy')
        return _binding(cluster, policy)

    @_handle.register
    def _(self, request: receivers.ReceiverListRequest) -> Any:
        return _page(self.receivers, request)

    @_handle.register
    def _(self, request: receivers.ReceiverCreateRequest) -> Any:
        resource = _receiver(request)
        self.receivers[resource.id] = resource
        return resource

    @_handle.register(receivers.ReceiverGetRequest)
    @_handle.register(receivers.ReceiverUpdateRequest)
    def _(self, request: Any) -> Any:
        return _find(self.receivers, request.identity, 'receiver')

    @_handle.register
    def _(self, request: receivers.ReceiverDeleteRequest) -> Any:
        receiver = _find(self.receivers, request.identity, 'receiver')
        del self.receivers[receiver.id]

    @_handle.register
    def _(self, request: receivers.ReceiverNotifyRequest) -> Any:
        _find(self.receivers, request.identity, 'receiver')

    @_handle.register
    def _(self, request: receivers.WebhookTriggerRequest) -> Any:
        _find(self.receivers, request.identity, 'receiver')
        return self._accepted()

    @_handle.register
    def _(self, request: events.EventListRequest) -> Any:
        return _page(self.events, request)

    @_handle.register
    def _(self, request: events.EventGetRequest) -> Any:
        if request.identity not in self.events:
            raise errors.ResourceNotFound(
                f'The event ({request.identity}) could not be found.'
            )
        return self.events[request.identity]

    def _accepted(self, **fields: Any) -> Any:
        resource = _action()
        self.actions[resource.id] = resource
        none: dict[str, Any] = {'cluster': None, 'node': None}
        return resources.Accepted(action=resource.id, **{**none, **fields})


def _lower(ours: str, theirs: str | None) -> str:
    """Return the lower of two versions, as numbers."""
    if theirs is None:
        return ours
    return min(ours, theirs, key=versions.Version.parse)


def _page(by_id: dict[str, Any], request: Any) -> list[Any]:
    items = list(by_id.values())
    marker = _value(request, 'marker', None)
    if marker is not None:
        ids = [item.id for item in items]
        items = items[ids.index(marker) + 1 :]
    return items[: _value(request, 'limit', None)]


def _find(by_id: dict[str, Any], identity: str, kind: str) -> Any:
    for resource in by_id.values():
        if identity in (resource.id, resource.name):
            return resource
    raise errors.ResourceNotFound(
        f'The {kind} ({identity}) could not be found.'
    )


def _value(request: Any, name: str, default: Any) -> Any:
    value = getattr(request, name) if name in request else None
    return default if value is None else value


_OWNER = {
    'user': 'u',
    'project': 'p',
    'domain': None,
    'created_at': NOW,
    'updated_at': None,
}


def _profile(name: str, spec: Any, metadata: Any) -> Any:
    return resources.Profile(
        id=str(uuid.uuid4()),
        name=name,
        type='os.nova.server-1.0',
        spec=spec,
        metadata=metadata,
        **_OWNER,
    )


def _cluster(request: Any) -> Any:
    return resources.Cluster(
        id=str(uuid.uuid4()),
        name=request.name,
        profile_id=request.profile_id,
        profile_name='p',
        status='INIT',
        status_reason='Initializing',
        min_size=request.min_size,
        max_size=request.max_size,
        desired_capacity=_value(request, 'desired_capacity', 0),
        timeout=_value(request, 'timeout', 3600),
        metadata=request.metadata,
        data={},
        dependents={},
        nodes=[],
        policies=[],
        init_at=NOW,
        config=request.config,
        **_OWNER,
    )


def _node(request: Any) -> Any:
    return resources.Node(
        id=str(uuid.uuid4()),
        name=request.name,
        profile_id=request.profile_id,
        profile_name='p',
        cluster_id=request.cluster_id,
        physical_id=None,
        index=-1,
        role=request.role,
        status='INIT',
        status_reason='Initializing',
        metadata=request.metadata,
        data={},
        dependents={},
        init_at=NOW,
        tainted=False,
        **_OWNER,
    )


def _receiver(request: Any) -> Any:
    return resources.Receiver(
        id=str(uuid.uuid4()),
        name=request.name,
        type=request.type,
        cluster_id=_value(request, 'cluster_id', None),
        action=_value(request, 'action', None),
        actor={},
        params=request.params,
        channel={'alarm_url': request.endpoint},
        **_OWNER,
    )


def _policy(cls: Any, name: str, spec: Any) -> Any:
    return cls(
        id=str(uuid.uuid4()),
        name=name,
        type='senlin.policy.batch-1.0',
        spec=spec,
        data={},
        **_OWNER,
    )


def _binding(cluster: Any, policy: Any) -> Any:
    return resources.ClusterPolicy(
        id=str(uuid.uuid4()),
        cluster_id=cluster.id,
        cluster_name=cluster.name,
        policy_id=policy.id,
        policy_name=policy.name,
        policy_type=policy.type,
        enabled=True,
        priority=100,
        data={},
        last_op=None,
    )


def _adopted_node(request: Any) -> Any:
    return _node(
        nodes.NodeCreateRequest(
            name=_value(request, 'name', 'adopted'),
            profile_id='p',
            cluster_id='',
            role=request.role,
            metadata=request.metadata,
        )
    )


def _action() -> Any:
    return resources.Action(
        id=str(uuid.uuid4()),
        name='cluster_create_1',
        action='CLUSTER_CREATE',
        target=str(uuid.uuid4()),
        cause='RPC Request',
        owner=None,
        interval=-1,
        start_time=1.5,
        end_time=None,
        timeout=3600,
        status='READY',
        status_reason='',
        inputs={},
        outputs={},
        data={},
        depends_on=[],
        depended_by=[],
        cluster_id=str(uuid.uuid4()),
        **_OWNER,
    )
