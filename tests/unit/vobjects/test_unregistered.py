# SPDX-License-Identifier: Apache-2.0
"""Errors about types that are not registered name the field and the type."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception

import vobjects
from vobjects import exceptions, fields, objects
from vobjects.controllers import request_parsing
from vobjects.lock import snapshot
from vobjects.lock.model import LockError
from vobjects.microversions import version_policy
from vobjects.objects import primitives
from vobjects.rpc import serializer
from vobjects.versions import Version
from vobjects_contract import type_schemas

pytestmark = pytest.mark.usefixtures('registry')

CLIENT = {version_policy.MICROVERSION: Version(1, 0)}


def envelope(name: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        'versioned_object.name': name,
        'versioned_object.namespace': 'versionedobjects',
        'versioned_object.version': '1.0',
        'versioned_object.data': data,
    }


UNIT = envelope('Unit', {})
VALUES: dict[str, Any] = {
    'one': UNIT,
    'sub': UNIT,
    'many': [UNIT],
    'by_key': {'a': [UNIT]},
}


@pytest.fixture(params=[False, True])
def rack(request: Any) -> Any:
    """Return types that refer to one that is missing, at first or always."""

    @vobjects.register
    class Rack(vobjects.Resource):
        fields = {
            'one': fields.ObjectField('Unit'),
            'sub': fields.ObjectField('Unit', subclasses=True),
            'many': fields.ListOfObjectsField('Unit'),
            'by_key': fields.Field(
                fields.Dict(fields.List(fields.Object('Unit')))
            ),
        }

    @vobjects.register
    class Hall(vobjects.Resource):
        fields = {'racks': fields.ListOfObjectsField('Rack')}

    @vobjects.register
    class RackRequest(vobjects.Request):
        fields = {'one': fields.ObjectField('Unit', nullable=True)}

    if request.param:  # a look-up that leaves an empty list of classes
        with pytest.raises(ovo_exception.UnregisteredSubobject):
            ovo_base.obj_tree_get_versions('Rack')
    return Rack


@pytest.mark.parametrize('field', VALUES)
@pytest.mark.parametrize('nested', [False, True])
def test_primitive_with_unregistered_type_names_the_field(
    rack: Any, field: str, nested: bool
) -> None:
    primitive = envelope('Rack', {field: VALUES[field]})
    if nested:
        primitive = envelope('Hall', {'racks': [primitive]})
    for read in (
        objects.Object.obj_from_primitive,
        lambda p: serializer.from_bytes(json.dumps(p).encode()),
        lambda p: list(primitives.versions_in(p)),
    ):
        with pytest.raises(
            ovo_exception.UnsupportedObjectError,
            match=rf'Rack\.{field}: the type Unit is not registered; import',
        ):
            read(primitive)


def parse(rack: Any) -> Any:
    cls = objects.registered_type('RackRequest')
    return request_parsing.parse_body(cls, CLIENT, b'{}')


@pytest.mark.parametrize(
    'use', [parse, lambda rack: type_schemas.resource(rack, Version(1, 0))]
)
def test_schema_with_unregistered_type_names_the_field(
    rack: Any, use: Callable[[Any], Any]
) -> None:
    with pytest.raises(
        ovo_exception.UnsupportedObjectError,
        match=r'Rack(Request)?\.one: the type Unit is not registered',
    ):
        use(rack)


def test_lock_with_unregistered_type_names_the_field(rack: Any) -> None:
    with pytest.raises(LockError, match=r'Rack\.one: the type Unit is not'):
        snapshot.snapshot([rack.__module__])


def register_plain() -> Any:
    """Register a class that is not of this library, and return it."""
    unit = type('Unit', (ovo_base.VersionedObject,), {'fields': {}})
    return ovo_base.VersionedObjectRegistry.register(unit)


@pytest.mark.parametrize('kind', ['one', 'many', 'by_key'])
@pytest.mark.parametrize(
    'parent', [vobjects.Request, vobjects.Resource, vobjects.Object]
)
def test_type_of_the_api_with_a_plain_class_inside_is_refused(
    parent: type[objects.Object], kind: str
) -> None:
    register_plain()
    field = {
        'one': fields.ObjectField('Unit'),
        'many': fields.ListOfObjectsField('Unit', nullable=True),
        'by_key': fields.Field(
            fields.Dict(fields.List(fields.Object('Unit')))
        ),
    }[kind]
    body = {'VERSION_MAP': {'1.4': '1.0'}, 'fields': {kind: field}}
    with pytest.raises(
        exceptions.DeclarationError,
        match=rf'Shelf\.{kind}: the type Unit is a class of oslo.*; derive',
    ):
        vobjects.register(type('Shelf', (parent,), body))


def test_internal_type_may_have_a_plain_class_inside() -> None:
    unit = register_plain()

    @vobjects.register
    class Shelf(vobjects.Object):
        fields = {'unit': fields.ObjectField('Unit')}

    manifest = {'Shelf': '1.0', 'Unit': '1.0'}
    sent = serializer.to_wire(Shelf(unit=unit()), manifest)
    assert isinstance(serializer.from_wire(sent).unit, unit)


def to_json(rack: Any) -> Any:
    unit = ovo_base.VersionedObjectRegistry.obj_classes()['Unit'][0]
    made = rack(one=unit(), sub=unit(), many=[], by_key={})
    return vobjects.to_json(made, {'Rack': '1.0', 'Unit': '1.0'})


@pytest.mark.parametrize(
    'use',
    [
        to_json,
        lambda rack: request_parsing.parse_body(
            objects.registered_type('RackRequest'), CLIENT, b'{"one": {}}'
        ),
        lambda rack: type_schemas.resource(rack, Version(1, 0)),
        lambda rack: list(
            primitives.versions_in(envelope('Rack', {'one': UNIT}))
        ),
    ],
)
def test_plain_class_that_is_registered_later_is_named(
    rack: Any, use: Callable[[Any], Any]
) -> None:
    register_plain()
    with pytest.raises(
        ovo_exception.UnsupportedObjectError,
        match=r'the type Unit is a class of oslo\.versionedobjects only',
    ):
        use(rack)


def test_class_that_is_not_registered_cannot_be_used() -> None:
    class Unit(vobjects.Object):
        fields = {'size': fields.IntegerField()}

    for use in (Unit, lambda: Unit(size=1)):
        with pytest.raises(
            exceptions.DeclarationError, match='is not registered'
        ):
            use()


def _unregistered(base: type[Any]) -> Any:
    return type('Sample', (base,), {'fields': {'b': fields.StringField()}})


def _subclass() -> Any:
    own = {'fields': {'a': fields.StringField()}}
    return _unregistered(
        objects.register(type('Base', (vobjects.Request,), own))
    )


def _adopted(namespace: str) -> Any:
    cls = _unregistered(ovo_base.VersionedObject)
    cls.OBJ_SERIAL_NAMESPACE = namespace
    ovo_base.VersionedObjectRegistry.register(cls)
    vobjects.adopt(ovo_base.VersionedObjectRegistry)
    return cls


@pytest.mark.parametrize(
    'use',
    [
        lambda cls: request_parsing.parse_body(cls, CLIENT, b'{"b": "x"}'),
        lambda cls: request_parsing.parse_query(cls, CLIENT, 'b=x'),
        lambda cls: vobjects.to_json(cls(b='x'), {'Sample': '1.0'}),
        lambda cls: vobjects.to_json_list([cls(b='x')], {'Sample': '1.0'}),
    ],
    ids=['body', 'query', 'to_json', 'to_json_list'],
)
@pytest.mark.parametrize(
    ('declare', 'problem'),
    [
        (lambda: _unregistered(vobjects.Request), 'Sample is not registered'),
        (_subclass, 'Sample is not registered'),
        (lambda: _adopted('versioned_object'), 'oslo.versionedobjects only'),
        (lambda: _adopted('service_object'), 'oslo.versionedobjects only'),
    ],
    ids=['class', 'subclass', 'adopted', 'other namespace'],
)
def test_class_that_is_not_registered_here_is_named_with_the_fix(
    declare: Callable[[], Any], problem: str, use: Callable[[Any], Any]
) -> None:
    with pytest.raises(
        exceptions.DeclarationError, match=f'{problem}.* @vobjects.register'
    ):
        use(declare())


def test_manifest_of_the_wrong_type_is_named(rack: Any) -> None:
    with pytest.raises(TypeError, match=r'minor=4.* no manifest.*at_micro'):
        vobjects.to_json(rack(), Version(1, 4))  # type: ignore[arg-type]
