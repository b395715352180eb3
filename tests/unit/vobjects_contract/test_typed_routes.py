# SPDX-License-Identifier: Apache-2.0
"""The contract of routes with request types."""

from __future__ import annotations

import pytest
from oslo_versionedobjects import base as ovo_base

from vobjects import Request, Resource, added, fields, register
from vobjects.microversions import presets
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.versions import Version
from vobjects_contract import openapi, type_schemas, typed_routes
from vobjects_contract.registry import Contract, Operation
from vobjects_contract.typed_routes import TypedRoute

POLICY = VersionPolicy(
    service_types=('shelves',),
    minimum=Version(1, 0),
    maximum=Version(1, 2),
    help_url='https://example.org/',
)
OLD, NEW = Version(1, 0), Version(1, 2)


@register
class TypedShelfRequest(Request):
    """Change a shelf."""

    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {
        'name': fields.NameField(),
        'size': fields.IntegerField(default=1),
        'colour': added('1.1', fields.StringField(default='')),
    }


@register
class TypedLateRequest(Request):
    """A request of a later version."""

    VERSION_MAP = {'1.2': '1.0'}
    fields = {'name': fields.NameField()}


@register
class TypedShelf(Resource):
    """A shelf."""

    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {
        'name': fields.NameField(),
        'colour': added('1.1', fields.StringField(default='')),
    }


# Other tests walk all registered types.
for _cls in (TypedShelfRequest, TypedLateRequest, TypedShelf):
    del ovo_base.VersionedObjectRegistry()._obj_classes[_cls.__name__]


def shelf(version: Version) -> dict[str, object]:
    return {'type': 'object', 'title': f'Shelf at {version}'}


def operation(
    *route: object, policy: VersionPolicy = POLICY, **options: object
) -> Operation:
    (result,) = typed_routes.operations(
        policy, [TypedRoute(*route, **options)]
    )
    return result


@pytest.mark.parametrize('method', ['POST', 'PUT', 'PATCH'])
def test_fields_of_a_write_come_from_the_path_and_the_body(
    method: str,
) -> None:
    route = operation(
        method, '/v1/shelves/{name}', TypedShelfRequest, 200, shelf
    )

    old, new = route.shape_at(OLD), route.shape_at(NEW)
    assert list(old.path) == list(new.path) == ['name']
    assert old.path['name']['maxLength'] == 255
    assert list(old.body['properties']) == ['size']
    assert list(new.body['properties']) == ['size', 'colour']
    assert new.query['properties'] == {}
    assert new.responses[200] == shelf(NEW)


def test_response_that_is_a_type_has_its_schema_at_each_version() -> None:
    route = operation('GET', '/v1/shelves', TypedShelfRequest, 200, TypedShelf)

    for version in (OLD, NEW):
        response = route.shape_at(version).responses[200]
        assert response == type_schemas.resource(TypedShelf, version)
    assert list(response['properties']) == ['name', 'colour']


@pytest.mark.parametrize('method', ['GET', 'HEAD', 'DELETE'])
def test_fields_of_other_methods_come_from_the_query(method: str) -> None:
    shape = operation(method, '/v1/shelves', TypedShelfRequest, 204).shape_at(
        NEW
    )

    assert list(shape.query['properties']) == ['name', 'size', 'colour']
    assert shape.body is None
    assert shape.responses[204] is None


def test_body_of_another_format_replaces_the_fields() -> None:
    body = {'type': 'array'}
    route = operation(
        *('PATCH', '/v1/shelves/{name}', TypedShelfRequest, 200),
        body=lambda version: body,
    )

    assert route.shape_at(NEW).body == body


def test_errors_are_those_of_the_policy_and_of_the_route() -> None:
    shape = operation(
        *('GET', '/v1/shelves/{name}', TypedShelfRequest, 200, shelf, (404,)),
        policy=presets.MAGNUM,
    ).shape_at(Version(1, 1))

    assert list(shape.responses) == [200, 400, 404, 406, 503]


def test_operation_of_a_later_type_is_missing_before_it() -> None:
    route = operation('GET', '/v1/late/{name}', TypedLateRequest, 200, shelf)

    assert route.shape_at(OLD) is None
    assert 404 in route.shape_at(NEW).responses


def test_document_has_summary_and_tag() -> None:
    route = operation('PUT', '/v1/shelves/{name}', TypedShelfRequest, 204)
    document = openapi.document(Contract(POLICY, [route]), NEW)

    written = document['paths']['/v1/shelves/{name}']['put']
    assert written['summary'] == 'Change a shelf'
    assert written['tags'] == ['shelves']
