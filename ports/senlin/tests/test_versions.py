# SPDX-License-Identifier: Apache-2.0
"""Requests of Senlin at each API version, as the declarations say.

They take the place of Senlin's tests of its own conversion.
"""

import pytest
import senlin.objects
from senlin.api.common import util, wsgi
from senlin.common import exception

senlin.objects.register_all()


class Context:
    def __init__(self, api_version):
        self.api_version = api_version


class Request:
    def __init__(self, api_version):
        self.context = Context(api_version)
        self.version_request = wsgi.version_request.APIVersionRequest(
            api_version
        )


@pytest.mark.parametrize(
    ('name', 'field', 'value', 'first'),
    [
        ('ActionListRequest', 'cluster_id', ['c'], '1.14'),
        ('ClusterUpdateRequest', 'profile_only', True, '1.6'),
        ('ClusterUpdateRequest', 'config', {'a': 1}, '1.7'),
        ('ClusterDelNodesRequest', 'destroy_after_deletion', True, '1.4'),
        ('ClusterDeleteRequest', 'force', True, '1.8'),
        ('NodeUpdateRequest', 'tainted', True, '1.13'),
        ('NodeDeleteRequest', 'force', True, '1.8'),
        ('ReceiverListRequest', 'user', ['u'], '1.4'),
    ],
)
def test_field_is_dropped_before_its_version(name, field, value, first):
    body = {field: value}
    if name.endswith('ListRequest'):
        body['project_safe'] = True
    else:
        body['identity'] = 'x'
    if name == 'ClusterDelNodesRequest':
        body['nodes'] = ['n']
    minor = int(first.partition('.')[2])
    for version in range(15):
        request = util.parse_request(name, Request(f'1.{version}'), body)

        kept = (
            request.obj_attr_is_set(field) and getattr(request, field) == value
        )
        assert kept == (version >= minor), f'1.{version}'


@pytest.mark.parametrize('version', ['1.0', '1.6', '1.7', '1.14'])
def test_config_of_a_new_cluster_is_kept_at_every_version(version):
    """The original converts the request, but not the object in it."""
    body = {'cluster': {'name': 'c', 'profile_id': 'p', 'config': {'a': 1}}}

    request = util.parse_request(
        'ClusterCreateRequest', Request(version), body, 'cluster'
    )

    assert request.cluster.config == {'a': 1}


@pytest.mark.parametrize(
    'name', ['ClusterUpdateRequest', 'NodeUpdateRequest', 'ActionListRequest']
)
def test_request_for_an_older_engine_is_converted(name):
    """The original raises KeyError: 'senlin_object.data'."""
    cls = senlin.objects.base.SenlinObject.obj_class_from_name(name)

    primitive = cls().obj_to_primitive('1.0')

    assert primitive['senlin_object.version'] == '1.0'


class Controller(wsgi.Controller):
    def __init__(self):
        pass

    @wsgi.Controller.api_version('1.0', '1.3')
    def show(self, req):
        return 'old'

    @wsgi.Controller.api_version('1.5')
    def show(self, req):  # noqa: F811
        return 'new'


def test_method_is_that_of_the_version():
    assert Controller().show(Request('1.3')) == 'old'
    assert Controller().show(req=Request('1.14')) == 'new'
    with pytest.raises(exception.MethodVersionNotFound, match=r'1\.4'):
        Controller().show(Request('1.4'))
