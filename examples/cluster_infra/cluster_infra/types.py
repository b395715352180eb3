# SPDX-License-Identifier: Apache-2.0
"""Requests and resources."""

from vobjects import Request, Resource, fields, register

ENGINES = ('kubernetes', 'swarm', 'mesos')
DRIVERS = ('flannel', 'docker')
STATUSES = ('CREATE_COMPLETE', 'UPDATE_COMPLETE')

#: Default and maximum number of resources in a list.
PAGE, MAX_PAGE = 50, 1000


class ListRequest(Request):
    """Base of the requests for a page of resources, oldest first."""

    fields = {
        'limit': fields.CapacityField(1, MAX_PAGE, default=PAGE),
        'marker': fields.UUIDField(nullable=True),
    }


class IdentityRequest(Request):
    """Base of the requests about one resource."""

    fields = {'uuid': fields.UUIDField()}


@register
class ClusterTemplateCreateRequest(Request):
    """Create a cluster template."""

    fields = {
        'name': fields.NameField(),
        'image_id': fields.NameField(),
        'coe': fields.EnumField(ENGINES),
        'network_driver': fields.EnumField(DRIVERS, nullable=True),
        'labels': fields.JsonField(default={}),
    }


@register
class ClusterTemplateListRequest(ListRequest):
    """List cluster templates."""


@register
class ClusterTemplateGetRequest(IdentityRequest):
    """Show a cluster template."""


@register
class ClusterTemplateUpdateRequest(IdentityRequest):
    """Update a cluster template; null removes a property."""

    fields = {
        'name': fields.NameField(nullable=True),
        'image_id': fields.NameField(nullable=True),
        'network_driver': fields.EnumField(DRIVERS, nullable=True),
        'labels': fields.JsonField(nullable=True),
    }


@register
class ClusterTemplateDeleteRequest(IdentityRequest):
    """Delete a cluster template."""


@register
class ClusterTemplate(Resource):
    """A cluster template."""

    fields = {
        'uuid': fields.UUIDField(),
        'name': fields.StringField(),
        'image_id': fields.StringField(),
        'coe': fields.EnumField(ENGINES),
        'network_driver': fields.EnumField(DRIVERS, nullable=True),
        'labels': fields.JsonField(default={}),
    }


@register
class ClusterCreateRequest(Request):
    """Create a cluster."""

    fields = {
        'name': fields.NameField(),
        'cluster_template_id': fields.UUIDField(),
        'node_count': fields.CapacityField(1, default=1),
        'discovery_url': fields.NameField(maximum=2000, nullable=True),
    }


@register
class ClusterListRequest(ListRequest):
    """List clusters."""


@register
class ClusterGetRequest(IdentityRequest):
    """Show a cluster."""


@register
class ClusterUpdateRequest(IdentityRequest):
    """Update a cluster; null removes a property."""

    fields = {
        'node_count': fields.CapacityField(1, nullable=True),
        'discovery_url': fields.NameField(maximum=2000, nullable=True),
    }


@register
class ClusterDeleteRequest(IdentityRequest):
    """Delete a cluster."""


@register
class Cluster(Resource):
    """A cluster."""

    fields = {
        'uuid': fields.UUIDField(),
        'name': fields.StringField(),
        'cluster_template_id': fields.UUIDField(),
        'node_count': fields.IntegerField(),
        'discovery_url': fields.StringField(nullable=True),
        'status': fields.EnumField(STATUSES),
    }
