# SPDX-License-Identifier: Apache-2.0
"""The typed client of the library with Magnum's API."""

import dataclasses

import httpx
import pytest
from magnum.api.controllers import versions
from magnum.tests.unit.api import base
from magnum.tests.unit.objects import utils

import vobjects
import vobjects_client as client
from vobjects import UNSET, added, renamed
from vobjects.versions import Version
from vobjects_client import Client, Http, Operations, operation


@vobjects.register
class ClusterListRequest(vobjects.Request):
    """List clusters."""

    limit: int | None = UNSET


@vobjects.register
class ClusterGetRequest(vobjects.Request):
    """Show a cluster."""

    identity: str


@vobjects.register
class ClusterResizeRequest(vobjects.Request):
    """Resize a cluster; a later release of the client also sends a reason."""

    VERSION = '1.1'
    VERSION_MAP = {'1.7': '1.0', '1.15': '1.1'}

    identity: str
    node_count: int
    reason: str = added('1.1', default='')


@vobjects.register
class Cluster(vobjects.Resource):
    """A cluster; 1.13 renamed a field."""

    VERSION = '1.1'
    VERSION_MAP = {'1.13': '1.1'}

    uuid: str
    name: str
    node_count: int
    cluster_id: str | None = renamed('1.1', 'stack_id', default=UNSET)


class Clusters(Operations[Http]):
    """Operations on clusters."""

    get = operation(
        'GET', '/v1/clusters/{identity}', ClusterGetRequest, Cluster
    )
    resize = operation(
        'POST', '/v1/clusters/{identity}/actions/resize', ClusterResizeRequest
    )
    list = operation(
        'GET',
        '/v1/clusters',
        ClusterListRequest,
        list[Cluster],
        result='clusters',
    )


class Newer(Client[Http]):
    """A client of a later release than the server."""

    POLICY = dataclasses.replace(versions.POLICY, maximum=Version(1, 15))

    clusters: Clusters[Http]


class Older(Newer[Http]):
    """A client of an earlier release than the server."""

    POLICY = dataclasses.replace(versions.POLICY, maximum=Version(1, 12))


class TestTypedClient(base.FunctionalTest):
    """The application of Magnum's own tests, over WSGI."""

    def setUp(self):
        super().setUp()
        self.http = httpx.Client(
            base_url='http://magnum',
            headers={'X-Roles': 'reader'},
            transport=httpx.WSGITransport(self.app.app),
        )
        self.addCleanup(self.http.close)
        self.cluster = utils.create_test_cluster(self.context)

    def test_each_client_reads_the_field_under_its_own_name(self):
        for kind, version in (
            (Newer, Version(1, 14)),
            (Older, Version(1, 12)),
        ):
            clusters = kind(self.http)
            (listed,) = clusters.clusters.list()
            shown = clusters.clusters.get(identity=listed.uuid)
            assert clusters.version == version
            assert shown.name == self.cluster.name
            assert shown.cluster_id == self.cluster.stack_id

    def test_an_error_of_magnum_has_its_text(self):
        with pytest.raises(client.RequestFailed, match='missing could not be'):
            Newer(self.http).clusters.get(identity='missing')

    def test_a_value_that_magnum_cannot_hold_is_not_sent(self):
        with pytest.raises(client.ServerTooOld) as caught:
            Newer(self.http).clusters.resize(
                identity='c', node_count=2, reason='load'
            )
        error = caught.value
        assert error.subject == "ClusterResizeRequest.reason='load'"
        assert (error.needed, error.version) == (
            Version(1, 15),
            Version(1, 14),
        )
        assert '1.14' in error.reason
