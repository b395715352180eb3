# SPDX-License-Identifier: Apache-2.0
"""An engine that keeps everything in memory, and a fleet of it alone.

The engine is at the seam where the API's RPC client is: it gets request
objects, as they arrive over the wire, and answers with resource objects.
"""

from __future__ import annotations

import functools
import uuid
from typing import Any

from vobjects import exceptions, objects, versions
from vobjects.clustering import errors, resources
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
from vobjects.microversions.presets import SENLIN
from vobjects.objects import manifest
from vobjects.rpc import serializer
from vobjects.versions import Maximum

#: Importing it registered the types of the service.
TYPES = clustering_types

NOW = '2026-01-02T03:04:05Z'


class Fleet:
    """What the live engines allow.

    :ivar served: None: there is no engine
    :ivar before: what it is until each was looked at once
    """

    def __init__(self) -> None:
        self.served: Maximum | None = Maximum(SENLIN.maximum)
        self.before: list[Maximum] = []
        self.living = 1

    def server_count(self) -> int:
        if self.served is None:
            raise exceptions.NoLivePeer('the database db7:3306 is away')
        return self.living

    def maximum(self) -> Maximum:
        if self.before:
            return self.before.pop(0)
        if self.served is None:
            raise exceptions.NoLivePeer("no server of 'engine' lives")
        return self.served

    def fleet_data(self) -> dict[str, Any]:
        return {'max_microversion': str(self.maximum().version)}


class Engine:
    """Answers requests; remembers them in ``seen``.

    :ivar fails: raised by the next call, instead of an answer
    """

    def __init__(self) -> None:
        self.seen: list[tuple[RequestContext, Any]] = []
        self.fails: Exception | None = None
        self.clusters: dict[str, Any] = {}
        self.nodes: dict[str, Any] = {}
        self.profiles: dict[str, Any] = {}
        self.actions: dict[str, Any] = {}
        self.events: dict[str, Any] = {}
        self.policies: dict[str, Any] = {}
        self.receivers: dict[str, Any] = {}

    @property
    def asked(self) -> Any:
        """The newest request."""
        return self.seen[-1][1]

    def call(
        self,
        context: RequestContext,
        request: objects.Request,
        versions: manifest.Manifest | None = None,
    ) -> Any:
        """See ``vobjects.rpc.client.Client.call``."""
        own = manifest.local()
        spoken = {
            name: min_version(own[name], (versions or own).get(name))
            for name in own
        }
        message = serializer.to_wire(request, spoken)
        if self.fails is not None:
            raise self.fails
        arrived = serializer.from_wire(message, context)
        self.seen.append((context, arrived))
        return self._answer(arrived)

    @functools.singledispatchmethod
    def _answer(self, request: Any) -> Any:
        raise AssertionError(f'no answer to {type(request).__name__}')

    @_answer.register
    def _(self, request: services.BuildInfoRequest) -> Any:
        return resources.BuildInfo(api=None, engine={'revision': '0.1.0'})

    @_answer.register
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

    @_answer.register
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

    @_answer.register
    def _(self, request: profiles.ProfileTypeGetRequest) -> Any:
        if request.identity != 'os.nova.server-1.0':
            raise errors.ResourceNotFound(
                f'The profile_type {request.identity} could not be found.'
            )
        return resources.ProfileType(
            name=request.identity, schema={}, support_status={}
        )

    @_answer.register
    def _(self, request: profiles.ProfileTypeOpsRequest) -> Any:
        return resources.ProfileTypeOperations(operations={'reboot': {}})

    @_answer.register
    def _(self, request: profiles.ProfileListRequest) -> Any:
        return _page(self.profiles, request)

    @_answer.register
    def _(self, request: profiles.ProfileCreateRequest) -> Any:
        made = _profile(request.name, request.spec, request.metadata)
        self.profiles[made.id] = made
        return made

    @_answer.register
    def _(self, request: profiles.ProfileValidateRequest) -> Any:
        return _profile('validated_profile', request.spec, {})

    @_answer.register
    def _(self, request: profiles.ProfileGetRequest) -> Any:
        return _find(self.profiles, request.identity, 'profile')

    @_answer.register
    def _(self, request: profiles.ProfileUpdateRequest) -> Any:
        profile = _find(self.profiles, request.identity, 'profile')
        for name in ('name', 'metadata'):
            value = _given(request, name, getattr(profile, name))
            setattr(profile, name, value)
        return profile

    @_answer.register
    def _(self, request: profiles.ProfileDeleteRequest) -> Any:
        profile = _find(self.profiles, request.identity, 'profile')
        del self.profiles[profile.id]

    @_answer.register
    def _(self, request: clusters.ClusterListRequest) -> Any:
        return _page(self.clusters, request)

    @_answer.register
    def _(self, request: clusters.ClusterCreateRequest) -> Any:
        made = _cluster(request)
        self.clusters[made.id] = made
        return self._accept(cluster=made)

    @_answer.register
    def _(self, request: clusters.ClusterGetRequest) -> Any:
        return _find(self.clusters, request.identity, 'cluster')

    @_answer.register
    def _(self, request: clusters.ClusterUpdateRequest) -> Any:
        return self._accept(
            cluster=_find(self.clusters, request.identity, 'cluster')
        )

    @_answer.register(clusters.ClusterDeleteRequest)
    @_answer.register(clusters.ClusterResizeRequest)
    @_answer.register(clusters.ClusterScaleInRequest)
    @_answer.register(clusters.ClusterScaleOutRequest)
    @_answer.register(policies.ClusterAttachPolicyRequest)
    @_answer.register(policies.ClusterDetachPolicyRequest)
    @_answer.register(policies.ClusterUpdatePolicyRequest)
    @_answer.register(clusters.ClusterAddNodesRequest)
    @_answer.register(clusters.ClusterDelNodesRequest)
    @_answer.register(clusters.ClusterReplaceNodesRequest)
    @_answer.register(clusters.ClusterOperationRequest)
    @_answer.register(clusters.ClusterCompleteLifecycleRequest)
    @_answer.register(clusters.ClusterCheckRequest)
    @_answer.register(clusters.ClusterRecoverRequest)
    def _(self, request: Any) -> Any:
        _find(self.clusters, request.identity, 'cluster')
        return self._accept()

    @_answer.register
    def _(self, request: clusters.ClusterCollectRequest) -> Any:
        _find(self.clusters, request.identity, 'cluster')
        return [resources.ClusterAttribute(id='n', value=request.path)]

    @_answer.register
    def _(self, request: nodes.NodeListRequest) -> Any:
        return _page(self.nodes, request)

    @_answer.register
    def _(self, request: nodes.NodeCreateRequest) -> Any:
        made = _node(request)
        self.nodes[made.id] = made
        return self._accept(node=made)

    @_answer.register
    def _(self, request: nodes.NodeGetRequest) -> Any:
        return _find(self.nodes, request.identity, 'node')

    @_answer.register
    def _(self, request: nodes.NodeUpdateRequest) -> Any:
        return self._accept(node=_find(self.nodes, request.identity, 'node'))

    @_answer.register(nodes.NodeDeleteRequest)
    @_answer.register(nodes.NodeCheckRequest)
    @_answer.register(nodes.NodeOperationRequest)
    @_answer.register(nodes.NodeRecoverRequest)
    def _(self, request: Any) -> Any:
        _find(self.nodes, request.identity, 'node')
        return self._accept()

    @_answer.register
    def _(self, request: nodes.NodeAdoptRequest) -> Any:
        return _adopted(request)

    @_answer.register
    def _(self, request: nodes.NodeAdoptPreviewRequest) -> Any:
        return resources.NodePreview(
            type='os.nova.server', version='1.0', properties={}
        )

    @_answer.register
    def _(self, request: actions.ActionUpdateRequest) -> Any:
        found = _find(self.actions, request.identity, 'action')
        return resources.Accepted(action=found.id, cluster=None, node=None)

    @_answer.register
    def _(self, request: actions.ActionListRequest) -> Any:
        return _page(self.actions, request)

    @_answer.register
    def _(self, request: actions.ActionGetRequest) -> Any:
        return _find(self.actions, request.identity, 'action')

    @_answer.register
    def _(self, request: policies.PolicyTypeListRequest) -> Any:
        return [
            resources.PolicyTypeItem(
                name='senlin.policy.batch', version='1.0', support_status={}
            )
        ]

    @_answer.register
    def _(self, request: policies.PolicyTypeGetRequest) -> Any:
        if request.identity != 'senlin.policy.batch-1.0':
            raise errors.ResourceNotFound(
                f'The policy_type {request.identity} could not be found.'
            )
        return resources.PolicyType(
            name=request.identity, schema={}, support_status={}
        )

    @_answer.register
    def _(self, request: policies.PolicyListRequest) -> Any:
        return _page(self.policies, request)

    @_answer.register
    def _(self, request: policies.PolicyCreateRequest) -> Any:
        made = _policy(resources.Policy, request.name, request.spec)
        self.policies[made.id] = made
        return made

    @_answer.register
    def _(self, request: policies.PolicyValidateRequest) -> Any:
        return _policy(resources.PolicyValidation, 'v', request.spec)

    @_answer.register
    def _(self, request: policies.PolicyGetRequest) -> Any:
        return _find(self.policies, request.identity, 'policy')

    @_answer.register
    def _(self, request: policies.PolicyUpdateRequest) -> Any:
        policy = _find(self.policies, request.identity, 'policy')
        policy.name = request.name
        return policy

    @_answer.register
    def _(self, request: policies.PolicyDeleteRequest) -> Any:
        policy = _find(self.policies, request.identity, 'policy')
        del self.policies[policy.id]

    @_answer.register
    def _(self, request: policies.ClusterPolicyListRequest) -> Any:
        cluster = _find(self.clusters, request.identity, 'cluster')
        return [_attached(cluster, one) for one in self.policies.values()]

    @_answer.register
    def _(self, request: policies.ClusterPolicyGetRequest) -> Any:
        cluster = _find(self.clusters, request.identity, 'cluster')
        policy = _find(self.policies, request.policy_id, 'policy')
        return _attached(cluster, policy)

    @_answer.register
    def _(self, request: receivers.ReceiverListRequest) -> Any:
        return _page(self.receivers, request)

    @_answer.register
    def _(self, request: receivers.ReceiverCreateRequest) -> Any:
        made = _receiver(request)
        self.receivers[made.id] = made
        return made

    @_answer.register(receivers.ReceiverGetRequest)
    @_answer.register(receivers.ReceiverUpdateRequest)
    def _(self, request: Any) -> Any:
        return _find(self.receivers, request.identity, 'receiver')

    @_answer.register
    def _(self, request: receivers.ReceiverDeleteRequest) -> Any:
        found = _find(self.receivers, request.identity, 'receiver')
        del self.receivers[found.id]

    @_answer.register
    def _(self, request: receivers.ReceiverNotifyRequest) -> Any:
        _find(self.receivers, request.identity, 'receiver')

    @_answer.register
    def _(self, request: receivers.WebhookTriggerRequest) -> Any:
        _find(self.receivers, request.identity, 'receiver')
        return self._accept()

    @_answer.register
    def _(self, request: events.EventListRequest) -> Any:
        return _page(self.events, request)

    @_answer.register
    def _(self, request: events.EventGetRequest) -> Any:
        if request.identity not in self.events:
            raise errors.ResourceNotFound(
                f'The event ({request.identity}) could not be found.'
            )
        return self.events[request.identity]

    def _accept(self, **about: Any) -> Any:
        made = _action()
        self.actions[made.id] = made
        none: dict[str, Any] = {'cluster': None, 'node': None}
        return resources.Accepted(action=made.id, **{**none, **about})


def min_version(ours: str, theirs: str | None) -> str:
    """Return the lower of two versions, as numbers."""
    if theirs is None:
        return ours
    return min(ours, theirs, key=versions.Version.parse)


def _page(kept: dict[str, Any], request: Any) -> list[Any]:
    found = list(kept.values())
    marker = _given(request, 'marker', None)
    if marker is not None:
        places = [one.id for one in found]
        found = found[places.index(marker) + 1 :]
    return found[: _given(request, 'limit', None)]


def _find(kept: dict[str, Any], identity: str, what: str) -> Any:
    for resource in kept.values():
        if identity in (resource.id, resource.name):
            return resource
    raise errors.ResourceNotFound(
        f'The {what} ({identity}) could not be found.'
    )


def _given(request: Any, name: str, default: Any) -> Any:
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
        desired_capacity=_given(request, 'desired_capacity', 0),
        timeout=_given(request, 'timeout', 3600),
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
        cluster_id=_given(request, 'cluster_id', None),
        action=_given(request, 'action', None),
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


def _attached(cluster: Any, policy: Any) -> Any:
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


def _adopted(request: Any) -> Any:
    return _node(
        nodes.NodeCreateRequest(
            name=_given(request, 'name', 'adopted'),
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
