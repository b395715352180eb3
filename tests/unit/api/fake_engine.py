# SPDX-License-Identifier: Apache-2.0
"""An engine that keeps its resources in memory, and its fleet.

:class:`FakeEngine` takes the place of the API's RPC client: it gets request
objects as they arrive over the wire, and returns resource objects.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

from vobjects import exceptions, fields, objects, versions
from vobjects.clustering import errors, history, resources
from vobjects.clustering import types as clustering_types
from vobjects.clustering.context import RequestContext
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
    def _stores(self) -> dict[str, dict[str, Any]]:
        """The resources by kind."""
        return {
            'Cluster': self.clusters,
            'Node': self.nodes,
            'Profile': self.profiles,
            'Action': self.actions,
            'Event': self.events,
            'Policy': self.policies,
            'Receiver': self.receivers,
        }

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

    def _handle(self, request: Any) -> Any:
        """Handle a request by its name: the kind of resource, and a verb."""
        name = type(request).__name__.removesuffix('Request')
        if name in CANNED:
            return CANNED[name](request)
        if name == 'WebhookTrigger':
            return self._trigger(request)
        match = re.fullmatch(f'({"|".join(self._stores)})(.+)', name)
        assert match, f'no handler of {name}'
        kind, verb = match.groups()
        store = self._stores[kind]
        if verb == 'List':
            return _page(store, request)
        if verb in ('Create', 'Adopt'):
            return self._create(kind, verb, request)
        found = _find(store, request.identity, kind.lower())
        if verb == 'Get':
            return found
        if kind in ('Cluster', 'Node'):
            return self._change(kind, verb, found, request)
        if kind == 'Action':
            return resources.Accepted(action=found.id, cluster=None, node=None)
        if verb == 'Delete':
            del store[found.id]
        if verb != 'Update':
            return None
        for field in () if kind == 'Receiver' else ('name', 'metadata'):
            if field in request.fields:
                value = _value(request, field, getattr(found, field))
                setattr(found, field, value)
        return found

    def _create(self, kind: str, verb: str, request: Any) -> Any:
        resource = _resource(getattr(resources, kind), request)
        if verb == 'Adopt':
            return resource
        self._stores[kind][resource.id] = resource
        if kind in ('Cluster', 'Node'):
            return self._accepted(**{kind.lower(): resource})
        return resource

    def _change(self, kind: str, verb: str, found: Any, request: Any) -> Any:
        """Handle a request that changes or shows a cluster or node."""
        if verb == 'Collect':
            return [resources.ClusterAttribute(id='n', value=request.path)]
        if verb == 'PolicyList':
            return [_binding(found, item) for item in self.policies.values()]
        if verb == 'PolicyGet':
            policy = _find(self.policies, request.policy_id, 'policy')
            return _binding(found, policy)
        shown = {kind.lower(): found} if verb == 'Update' else {}
        return self._accepted(**shown)

    def _trigger(self, request: Any) -> Any:
        _find(self.receivers, request.identity, 'receiver')
        return self._accepted()

    def _accepted(self, **fields: Any) -> Any:
        resource = resources.Action(id=str(uuid.uuid4()), **ACTION)
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
        if identity in (resource.id, getattr(resource, 'name', '')):
            return resource
    raise errors.ResourceNotFound(
        f'The {kind} ({identity}) could not be found.'
    )


def _value(request: Any, name: str, default: Any) -> Any:
    value = getattr(request, name) if name in request else None
    return default if value is None else value


def _resource(cls: type[Any], request: Any) -> Any:
    """Return a new resource with the values of a request."""
    given = {
        name: value
        for name in request.fields
        if (value := _value(request, name, None)) is not None
    }
    if cls is resources.Receiver:
        given |= {'actor': {}, 'channel': {'alarm_url': request.endpoint}}
    values = {**SAMPLE, 'type': TYPE_NAMES.get(cls), **given}
    values['id'] = str(uuid.uuid4())
    return cls(
        **{
            name: values.get(
                name, {} if isinstance(field, fields.JsonField) else None
            )
            for name, field in cls.fields.items()
            if name != 'details'
        }
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


def _type_of(cls: type[Any], name: str) -> Callable[[Any], Any]:
    """Return the handler that shows the only type of a kind."""

    def show(request: Any) -> Any:
        if request.identity != name:
            kind = 'profile' if cls is resources.ProfileType else 'policy'
            raise errors.ResourceNotFound(
                f'The {kind}_type {request.identity} could not be found.'
            )
        return cls(name=name, schema={}, support_status={})

    return show


PROFILE_TYPE, POLICY_TYPE = 'os.nova.server-1.0', 'senlin.policy.batch-1.0'
TYPE_NAMES = {resources.Profile: PROFILE_TYPE, resources.Policy: POLICY_TYPE}

OWNER = {
    'user': 'u',
    'project': 'p',
    'domain': None,
    'created_at': NOW,
    'updated_at': None,
}

#: Values of new resources, unless the request has others.
SAMPLE = {
    **OWNER,
    'name': 'adopted',
    'profile_id': 'p',
    'profile_name': 'p',
    'status': 'INIT',
    'status_reason': 'Initializing',
    'desired_capacity': 0,
    'timeout': 3600,
    'index': -1,
    'tainted': False,
    'nodes': [],
    'policies': [],
    'init_at': NOW,
}

ACTION = {
    **OWNER,
    'name': 'cluster_create_1',
    'action': 'CLUSTER_CREATE',
    'target': str(uuid.uuid4()),
    'cause': 'RPC Request',
    'owner': None,
    'interval': -1,
    'start_time': 1.5,
    'end_time': None,
    'timeout': 3600,
    'status': 'READY',
    'status_reason': '',
    'inputs': {},
    'outputs': {},
    'data': {},
    'depends_on': [],
    'depended_by': [],
    'cluster_id': str(uuid.uuid4()),
}

#: Name of a request, without its ending -> the function that returns the
#: response.
CANNED: dict[str, Callable[[Any], Any]] = {
    'BuildInfo': lambda _: resources.BuildInfo(
        api=None, engine={'revision': '0.1.0'}
    ),
    'Summary': lambda _: resources.Summary(
        clusters={'ACTIVE': 1}, nodes={}, actions={'READY': 2}, queue_age=1.5
    ),
    'RollbackVerdict': lambda _: resources.RollbackVerdict(
        release='0.1.0', can_roll_back=False, reasons=['because']
    ),
    'ServiceList': lambda _: [
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
    ],
    'ProfileTypeList': lambda _: [
        resources.ProfileTypeItem(
            name='os.nova.server',
            version='1.0',
            support_status={
                '1.0': [{'status': 'SUPPORTED', 'since': '2016.04'}]
            },
        )
    ],
    'ProfileTypeGet': _type_of(resources.ProfileType, PROFILE_TYPE),
    'ProfileTypeOps': lambda _: resources.ProfileTypeOperations(
        operations={'reboot': {}}
    ),
    'ProfileValidate': lambda request: resources.ProfileValidation(
        name='validated_profile',
        type=PROFILE_TYPE,
        spec=request.spec,
        metadata={},
    ),
    'PolicyTypeList': lambda _: [
        resources.PolicyTypeItem(
            name='senlin.policy.batch', version='1.0', support_status={}
        )
    ],
    'PolicyTypeGet': _type_of(resources.PolicyType, POLICY_TYPE),
    'PolicyValidate': lambda request: resources.PolicyValidation(
        id=str(uuid.uuid4()),
        name='v',
        type=POLICY_TYPE,
        spec=request.spec,
        data={},
        **OWNER,
    ),
    'NodeAdoptPreview': lambda _: resources.NodePreview(
        type='os.nova.server', version='1.0', properties={}
    ),
}
