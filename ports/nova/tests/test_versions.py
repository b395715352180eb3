# SPDX-License-Identifier: Apache-2.0
"""Versions and declarations of Nova's API on the library.

They take the place of Nova's test of its own comparisons, and of the checks
that Nova made when a schema was declared.
"""

import inspect
import operator

import nova.conf
import pytest
import webob.exc
from nova import exception
from nova.api.openstack import wsgi
from nova.api.openstack.api_version_request import APIVersionRequest
from nova.api.openstack.compute import certificates, routes
from nova.api.validation import schema

from vobjects.controllers.method_spec import spec_of
from vobjects.exceptions import DeclarationError

EMPTY = {'type': 'object', 'properties': {}, 'additionalProperties': False}


@pytest.fixture(scope='module', autouse=True)
def _configuration():
    nova.conf.CONF([], project='nova', default_config_files=[])


def request_at(version, path='/'):
    request = wsgi.Request.blank(path)
    request.api_version_request = APIVersionRequest(version)
    return request


def test_versions_compare_as_numbers():
    old, new = APIVersionRequest('2.9'), APIVersionRequest('2.10')

    assert APIVersionRequest() < old < new
    assert old <= APIVersionRequest('2.9') == old != new
    with pytest.raises(TypeError):
        operator.lt(old, '2.10')


def test_method_outside_its_range_is_not_found():
    class Controller(wsgi.Controller):
        @wsgi.api_version('2.2', '2.35')
        @wsgi.action('go')
        def run(self, req):
            return 'ran'

    assert Controller.wsgi_actions == {'go': 'run'}
    assert Controller().run(req=request_at('2.35')) == 'ran'
    for version in ('2.1', '2.36'):
        with pytest.raises(
            exception.VersionNotFoundForAPIMethod, match=version
        ):
            Controller().run(req=request_at(version))


def test_gap_between_schemas_is_rejected():
    with pytest.raises(DeclarationError, match='no request schema between'):

        @schema(EMPTY, '2.1', '2.4')
        @schema(EMPTY, '2.6')
        def create(self, req, body):
            pass


def test_removed_method_with_a_query_is_gone():
    """The original responds with 500: its schema has no properties."""
    controller = certificates.CertificatesController()

    with pytest.raises(webob.exc.HTTPGone):
        controller.show(request_at('2.1', '/os-certificates/root?x=1'), 'root')


def methods():
    """Yield the methods of all controllers."""
    for name in routes.__dict__.values():
        for cls in vars(name).values() if inspect.ismodule(name) else ():
            if inspect.isclass(cls) and issubclass(cls, wsgi.Controller):
                yield from filter(callable, vars(cls).values())


def test_objects_say_whether_they_have_other_properties():
    def check(definition):
        if definition.get('type') != 'object' or 'oneOf' in definition:
            return
        assert 'additionalProperties' in definition, definition
        for each in definition.get('properties', {}).values():
            check(each)

    specs = [spec_of(method) for method in methods()]
    definitions = [
        entry.value.definition
        for spec in specs
        for ranges in (spec.request_schemas, spec.query_schemas)
        for entry in ranges
    ]
    for definition in definitions:
        check(definition)

    assert len(definitions) > 250
