# SPDX-License-Identifier: Apache-2.0
"""Resources in responses. A response omits fields that are not set."""

from __future__ import annotations

from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import fields, objects
from vobjects.clustering import consts
from vobjects.objects.history import added

_OWNED: dict[str, ovo_fields.Field[Any]] = {
    'user': fields.StringField(nullable=True),
    'project': fields.StringField(nullable=True),
    'domain': fields.StringField(nullable=True),
}

_TIMES: dict[str, ovo_fields.Field[Any]] = {
    'created_at': fields.DateTimeField(nullable=True),
    'updated_at': fields.DateTimeField(nullable=True),
}


@objects.register
class ProfileTypeItem(objects.Resource):
    """A profile type in a list.

    Up to microversion 1.4 the name includes the version
    (``os.nova.server-1.0``). From 1.5 on, version and support status are
    separate fields.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}

    fields = {
        'name': fields.StringField(),
        'version': added('1.1', fields.StringField(nullable=True)),
        'support_status': added('1.1', fields.JsonField(nullable=True)),
    }

    def obj_make_compatible(
        self, primitive: dict[str, Any], target_version: str
    ) -> None:
        """Append the version to the name for readers of version 1.0."""
        version = primitive.get('version')
        super().obj_make_compatible(primitive, target_version)
        if 'version' not in primitive and version is not None:
            primitive['name'] = f'{primitive["name"]}-{version}'


@objects.register
class ProfileType(objects.Resource):
    """A profile type and the schema of its spec's properties."""

    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}

    fields = {
        'name': fields.StringField(),
        'schema': fields.JsonField(),
        'support_status': added('1.1', fields.JsonField(nullable=True)),
    }


@objects.register
class ProfileTypeOperations(objects.Resource):
    """The operations that nodes of a profile type support."""

    VERSION_MAP = {'1.4': '1.0'}

    fields = {'operations': fields.JsonField()}


@objects.register
class Profile(objects.Resource):
    """A template from which nodes are created."""

    fields = {
        'id': fields.StringField(),
        'name': fields.StringField(),
        'type': fields.StringField(),
        'spec': fields.JsonField(),
        'metadata': fields.JsonField(nullable=True),
        **_OWNED,
        **_TIMES,
    }


@objects.register
class ProfileValidation(objects.Resource):
    """The result of validating a spec without creating a profile."""

    VERSION_MAP = {'1.2': '1.0'}

    fields = {
        'id': fields.StringField(nullable=True),
        'name': fields.StringField(nullable=True),
        'type': fields.StringField(),
        'spec': fields.JsonField(),
        'metadata': fields.JsonField(nullable=True),
        **_OWNED,
        **_TIMES,
    }


@objects.register
class PolicyTypeItem(objects.Resource):
    """A policy type in a list.

    Up to microversion 1.4 the name includes the version
    (``senlin.policy.batch-1.0``). From 1.5 on, version and support status are
    separate fields.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}

    fields = {
        'name': fields.StringField(),
        'version': added('1.1', fields.StringField(nullable=True)),
        'support_status': added('1.1', fields.JsonField(nullable=True)),
    }

    def obj_make_compatible(
        self, primitive: dict[str, Any], target_version: str
    ) -> None:
        """Append the version to the name for readers of version 1.0."""
        version = primitive.get('version')
        super().obj_make_compatible(primitive, target_version)
        if 'version' not in primitive and version is not None:
            primitive['name'] = f'{primitive["name"]}-{version}'


@objects.register
class PolicyType(objects.Resource):
    """A policy type and the schema of its spec's properties."""

    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}

    fields = {
        'name': fields.StringField(),
        'schema': fields.JsonField(),
        'support_status': added('1.1', fields.JsonField(nullable=True)),
    }


@objects.register
class Policy(objects.Resource):
    """A rule that can be attached to clusters."""

    fields = {
        'id': fields.StringField(),
        'name': fields.StringField(),
        'type': fields.StringField(),
        'spec': fields.JsonField(),
        'data': fields.JsonField(nullable=True),
        **_OWNED,
        **_TIMES,
    }


@objects.register
class PolicyValidation(objects.Resource):
    """The result of validating a spec without creating a policy."""

    VERSION_MAP = {'1.2': '1.0'}

    fields = {
        'id': fields.StringField(nullable=True),
        'name': fields.StringField(nullable=True),
        'type': fields.StringField(),
        'spec': fields.JsonField(),
        'data': fields.JsonField(nullable=True),
        **_OWNED,
        **_TIMES,
    }


@objects.register
class ClusterPolicy(objects.Resource):
    """A policy attached to a cluster."""

    fields = {
        'id': fields.StringField(),
        'cluster_id': fields.StringField(),
        'cluster_name': fields.StringField(),
        'policy_id': fields.StringField(),
        'policy_name': fields.StringField(),
        'policy_type': fields.StringField(),
        'enabled': fields.StrictBooleanField(),
        'priority': fields.IntegerField(),
        'data': fields.JsonField(nullable=True),
        'last_op': fields.DateTimeField(nullable=True),
    }


@objects.register
class Cluster(objects.Resource):
    """A group of nodes created from one profile."""

    VERSION = '1.1'
    VERSION_MAP = {'1.7': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    fields = {
        'id': fields.StringField(),
        'name': fields.StringField(),
        'profile_id': fields.StringField(),
        'profile_name': fields.StringField(nullable=True),
        'min_size': fields.IntegerField(),
        'max_size': fields.IntegerField(),
        'desired_capacity': fields.IntegerField(),
        'timeout': fields.IntegerField(nullable=True),
        'status': fields.EnumField(valid_values=consts.CLUSTER_STATUSES),
        'status_reason': fields.StringField(nullable=True),
        'metadata': fields.JsonField(nullable=True),
        'data': fields.JsonField(nullable=True),
        'dependents': fields.JsonField(nullable=True),
        'nodes': fields.ListOfStringsField(default=[]),
        'policies': fields.ListOfStringsField(default=[]),
        'init_at': fields.DateTimeField(nullable=True),
        'config': added('1.1', fields.JsonField(nullable=True)),
        **_OWNED,
        **_TIMES,
    }


@objects.register
class Node(objects.Resource):
    """A server, a stack or a container."""

    VERSION = '1.1'
    VERSION_MAP = {'1.13': '1.1'}

    fields = {
        'id': fields.StringField(),
        'name': fields.StringField(),
        'profile_id': fields.StringField(),
        'profile_name': fields.StringField(nullable=True),
        'cluster_id': fields.StringField(nullable=True),
        'physical_id': fields.StringField(nullable=True),
        'index': fields.IntegerField(),
        'role': fields.StringField(nullable=True),
        'status': fields.EnumField(valid_values=consts.NODE_STATUSES),
        'status_reason': fields.StringField(nullable=True),
        'metadata': fields.JsonField(nullable=True),
        'data': fields.JsonField(nullable=True),
        'dependents': fields.JsonField(nullable=True),
        'details': fields.JsonField(nullable=True),
        'init_at': fields.DateTimeField(nullable=True),
        'tainted': added('1.1', fields.StrictBooleanField(default=False)),
        **_OWNED,
        **_TIMES,
    }


@objects.register
class ClusterAttribute(objects.Resource):
    """The value of a JSON path in one node."""

    VERSION_MAP = {'1.2': '1.0'}

    fields = {
        'id': fields.StringField(),
        'value': fields.JsonValueField(nullable=True),
    }


@objects.register
class NodePreview(objects.Resource):
    """The spec that an existing cloud resource would have as a node."""

    VERSION_MAP = {'1.7': '1.0'}

    fields = {
        'type': fields.StringField(),
        'version': fields.StringField(),
        'properties': fields.JsonField(),
    }


@objects.register
class Action(objects.Resource):
    """A task of an engine. Times are in seconds since the epoch."""

    VERSION = '1.1'
    VERSION_MAP = {'1.14': '1.1'}

    fields = {
        'id': fields.StringField(),
        'name': fields.StringField(),
        'action': fields.StringField(),
        'target': fields.StringField(),
        'cause': fields.StringField(nullable=True),
        'owner': fields.StringField(nullable=True),
        'interval': fields.IntegerField(nullable=True),
        'start_time': fields.FloatField(nullable=True),
        'end_time': fields.FloatField(nullable=True),
        'timeout': fields.IntegerField(nullable=True),
        'status': fields.EnumField(valid_values=consts.ACTION_STATUSES),
        'status_reason': fields.StringField(nullable=True),
        'inputs': fields.JsonField(nullable=True),
        'outputs': fields.JsonField(nullable=True),
        'data': fields.JsonField(nullable=True),
        'depends_on': fields.ListOfStringsField(default=[]),
        'depended_by': fields.ListOfStringsField(default=[]),
        'cluster_id': added('1.1', fields.StringField(nullable=True)),
        **_OWNED,
        **_TIMES,
    }


@objects.register
class Receiver(objects.Resource):
    """An entry point through which external systems start cluster actions."""

    fields = {
        'id': fields.StringField(),
        'name': fields.StringField(),
        'type': fields.StringField(),
        'cluster_id': fields.StringField(nullable=True),
        'action': fields.StringField(nullable=True),
        'actor': fields.JsonField(nullable=True),
        'params': fields.JsonField(nullable=True),
        'channel': fields.JsonField(nullable=True),
        **_OWNED,
        **_TIMES,
    }


@objects.register
class Event(objects.Resource):
    """A record of something that happened to a cluster or a node."""

    fields = {
        'id': fields.StringField(),
        'timestamp': fields.DateTimeField(),
        'level': fields.StringField(),
        'oid': fields.StringField(),
        'oname': fields.StringField(nullable=True),
        'otype': fields.StringField(),
        'cluster_id': fields.StringField(nullable=True),
        'action': fields.StringField(),
        'status': fields.StringField(),
        'status_reason': fields.StringField(nullable=True),
        'meta_data': fields.JsonField(nullable=True),
        'user': fields.StringField(nullable=True),
        'project': fields.StringField(nullable=True),
    }


@objects.register
class Accepted(objects.Resource):
    """The response to a request that an action carries out later."""

    fields = {
        'action': fields.StringField(),
        'cluster': fields.ObjectField('Cluster', nullable=True),
        'node': fields.ObjectField('Node', nullable=True),
    }


@objects.register
class Service(objects.Resource):
    """An engine process."""

    VERSION_MAP = {'1.7': '1.0'}
    EARLY_VERSION_MAP = {'1.0': '1.0'}

    fields = {
        'id': fields.StringField(),
        'binary': fields.StringField(),
        'host': fields.StringField(),
        'topic': fields.StringField(),
        'state': fields.StringField(),
        'status': fields.StringField(),
        'disabled_reason': fields.StringField(nullable=True),
        'updated_at': fields.DateTimeField(nullable=True),
    }


@objects.register
class BuildInfo(objects.Resource):
    """The builds of the API and of the engine."""

    fields = {
        'api': fields.JsonField(nullable=True),
        'engine': fields.JsonField(nullable=True),
    }


@objects.register
class Summary(objects.Resource):
    """The numbers of resources of a project, by status.

    Actions that ended count only if they are recent. ``queue_age`` is the age
    in seconds of the oldest action that is ready and waits for an engine;
    None: there is none.
    """

    fields = {
        'clusters': fields.JsonField(),
        'nodes': fields.JsonField(),
        'actions': fields.JsonField(),
        'queue_age': fields.FloatField(nullable=True),
    }
