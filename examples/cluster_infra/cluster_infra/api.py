# SPDX-License-Identifier: Apache-2.0
"""Run the API: ``cluster-infra-api FILE``."""

import dataclasses
import signal
import socketserver
import sys
from wsgiref import simple_server

import pecan
import pecan.hooks
import pecan.rest
import webob.exc

from cluster_infra import json_patch, types
from cluster_infra.service import SERVICE, configuration
from vobjects.controllers import parse_body, parse_query, parse_values
from vobjects.microversions import (
    Discovery,
    HttpError,
    Microversions,
    presets,
)
from vobjects.rpc import ClientProcess

POLICY = dataclasses.replace(
    presets.MAGNUM,
    maximum=SERVICE.maximum,
    help_url='https://docs.example.org/cluster-infra/',
    history_url='https://docs.example.org/cluster-infra/history',
    legacy_headers=('X-Cluster-Infra-API-Version',),
)


class Errors(pecan.hooks.PecanHook):
    """Report errors of Pecan in the format of this API."""

    def on_error(self, state, error):
        # Pecan would respond to its own errors as HTML.
        if isinstance(error, webob.exc.HTTPError):
            raise HttpError(error.code) from error


class Collection(pecan.rest.RestController):
    """Handle the requests about the resources of one type.

    :param conductors: client process of the conductors
    """

    def __init__(self, conductors):
        self.conductors = conductors

    def call(self, message):
        """Return the response of a conductor as JSON data."""
        return self.conductors.forward(pecan.request, {}, message)

    @pecan.expose('json')
    def get_all(self, **_query):
        message = parse_query(self.LIST, pecan.request)
        resources = self.call(message)
        page = {self.NAME: resources}
        if len(resources) == message.limit:
            marker = resources[-1]['uuid']
            url = pecan.request.path_url
            page['next'] = f'{url}?limit={message.limit}&marker={marker}'
        return page

    @pecan.expose('json')
    def get_one(self, uuid, **_query):
        path = {'uuid': uuid}
        return self.call(parse_query(self.GET, pecan.request, path=path))

    @pecan.expose('json')
    def post(self, **_query):
        message = parse_body(self.CREATE, pecan.request, pecan.request.body)
        resource = self.call(message)
        pecan.response.status = self.CREATED
        return self.shown_after_change(resource)

    @pecan.expose('json')
    def patch(self, uuid='', **_query):
        self.check_addressed(uuid)
        values = json_patch.values_of(pecan.request.body)
        path = {'uuid': uuid}
        message = parse_values(self.UPDATE, pecan.request, values, path=path)
        resource = self.call(message)
        pecan.response.status = self.UPDATED
        return self.shown_after_change(resource)

    @pecan.expose()
    def delete(self, uuid='', **_query):
        self.check_addressed(uuid)
        path = {'uuid': uuid}
        self.call(parse_query(self.DELETE, pecan.request, path=path))
        pecan.response.status = 204

    def check_addressed(self, uuid):
        """Reject a method that needs a resource, not the collection."""
        if not uuid:
            pecan.abort(405)

    def shown_after_change(self, resource):
        """Return the response to a creation or an update."""
        return resource


class ClusterTemplates(Collection):
    """Handle /v1/clustertemplates."""

    NAME = 'clustertemplates'
    CREATE = types.ClusterTemplateCreateRequest
    LIST = types.ClusterTemplateListRequest
    GET = types.ClusterTemplateGetRequest
    UPDATE = types.ClusterTemplateUpdateRequest
    DELETE = types.ClusterTemplateDeleteRequest
    CREATED, UPDATED = 201, 200


class Clusters(Collection):
    """Handle /v1/clusters; a change of a cluster takes time."""

    NAME = 'clusters'
    CREATE = types.ClusterCreateRequest
    LIST = types.ClusterListRequest
    GET = types.ClusterGetRequest
    UPDATE = types.ClusterUpdateRequest
    DELETE = types.ClusterDeleteRequest
    CREATED, UPDATED = 202, 202

    def shown_after_change(self, resource):
        return {'uuid': resource['uuid']}


class V1:
    """Handle /v1."""

    def __init__(self, conductors):
        self.clustertemplates = ClusterTemplates(conductors)
        self.clusters = Clusters(conductors)


class Root:
    """Handle the root."""

    def __init__(self, conductors):
        self.v1 = V1(conductors)


class Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    """Serve each connection in a thread."""

    daemon_threads = True


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    conf = configuration()
    with ClientProcess(conf, SERVICE) as conductors:
        app = pecan.make_app(
            Root(conductors),
            hooks=[Errors()],
            guess_content_type_from_ext=False,
        )
        application = Microversions(
            Discovery(app, POLICY), POLICY, conductors.maximum
        )
        address = (str(conf.api.host), conf.api.port, application)
        with simple_server.make_server(*address, Server) as server:
            server.serve_forever()
