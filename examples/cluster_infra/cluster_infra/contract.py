# SPDX-License-Identifier: Apache-2.0
"""The API, as ``vobjects contract`` prints it."""

from cluster_infra import json_patch, types
from cluster_infra.api import POLICY
from cluster_infra.service import SERVICE
from vobjects_contract import (
    Contract,
    TypedRoute,
    closed,
    discovery_operations,
    list_of,
    resource,
    typed_operations,
)

TEMPLATES, CLUSTERS = '/v1/clustertemplates', '/v1/clusters'


def template(version):
    """Return the schema of a cluster template."""
    return resource(types.ClusterTemplate, version)


def cluster(version):
    """Return the schema of a cluster."""
    return resource(types.Cluster, version)


def changed_cluster(version):
    """Return the schema of the response to a change of a cluster."""
    return closed({'uuid': cluster(version)['properties']['uuid']}, ['uuid'])


def page(name, item):
    """Return the schema of a page of resources."""

    def schema(version):
        url = {'type': 'string', 'format': 'uri'}
        return closed({name: list_of(item(version)), 'next': url}, [name])

    return schema


def patch(version):
    """Return the schema of an update, the same at every version."""
    return json_patch.SCHEMA


CONTRACT = Contract(
    POLICY,
    discovery_operations(POLICY)
    + typed_operations(
        POLICY,
        [
            TypedRoute(
                *('GET', TEMPLATES, types.ClusterTemplateListRequest),
                *(200, page('clustertemplates', template), (404,)),
            ),
            TypedRoute(
                *('POST', TEMPLATES, types.ClusterTemplateCreateRequest),
                *(201, template),
            ),
            TypedRoute(
                *('GET', TEMPLATES + '/{uuid}'),
                *(types.ClusterTemplateGetRequest, 200, template, (404,)),
            ),
            TypedRoute(
                *('PATCH', TEMPLATES + '/{uuid}'),
                *(types.ClusterTemplateUpdateRequest, 200, template, (404,)),
                body=patch,
            ),
            TypedRoute(
                *('DELETE', TEMPLATES + '/{uuid}'),
                *(types.ClusterTemplateDeleteRequest, 204),
                errors=(404, 409),
            ),
            TypedRoute(
                *('GET', CLUSTERS, types.ClusterListRequest),
                *(200, page('clusters', cluster), (404,)),
            ),
            TypedRoute(
                *('POST', CLUSTERS, types.ClusterCreateRequest),
                *(202, changed_cluster, (404,)),
            ),
            TypedRoute(
                *('GET', CLUSTERS + '/{uuid}', types.ClusterGetRequest),
                *(200, cluster, (404,)),
            ),
            TypedRoute(
                *('PATCH', CLUSTERS + '/{uuid}', types.ClusterUpdateRequest),
                *(202, changed_cluster, (404,)),
                body=patch,
            ),
            TypedRoute(
                *('DELETE', CLUSTERS + '/{uuid}', types.ClusterDeleteRequest),
                *(204,),
                errors=(404,),
            ),
        ],
    ),
    SERVICE.history,
)
