# SPDX-License-Identifier: Apache-2.0
"""Unknown fields and incomplete requests raise errors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, fields, objects
from vobjects.objects.adoption import adopt
from vobjects.objects.history import added
from vobjects.rpc import serializer

pytestmark = pytest.mark.usefixtures('registry')


@pytest.fixture
def delete() -> type[objects.Request]:
    @objects.register
    class Delete(objects.Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.8': '1.1'}
        fields = {
            'identity': fields.StringField(),
            'names': fields.ListOfStringsField(),
            'note': fields.StringField(nullable=True),
            'force': added('1.1', fields.BooleanField(default=False)),
        }

    return Delete


def test_init_with_unknown_field_suggests_a_known_one(
    delete: type[objects.Request],
) -> None:
    with pytest.raises(exceptions.NoSuchField) as caught:
        delete(identity='c', forse=True)
    assert str(caught.value) == (
        "Delete has no field 'forse'; did you mean 'force'?"
    )


def test_setattr_of_unknown_field_suggests_a_known_one(
    delete: type[objects.Request],
) -> None:
    request: Any = delete(identity='c')
    with pytest.raises(AttributeError, match="did you mean 'force'"):
        request.focre = True
    assert not hasattr(request, 'focre')


@pytest.mark.parametrize(
    ('field', 'advice'),
    [
        ('forse', "did you mean 'force'?"),
        ('quiet', "declare it (known here: 'force', 'identity', 'names',"),
    ],
)
def test_get_of_unknown_field_raises_with_advice(
    delete: type[objects.Request], field: str, advice: str
) -> None:
    with pytest.raises(exceptions.NoSuchField) as caught:
        delete(identity='c').get(field)
    assert f"Delete has no field '{field}'; {advice}" in str(caught.value)


def test_every_field_can_be_set_by_keyword_or_later(
    delete: type[objects.Request],
) -> None:
    values: dict[str, Any] = {
        'identity': 'c',
        'names': ['a'],
        'note': None,
        'force': True,
    }
    later: Any = delete()
    for name, value in values.items():
        setattr(later, name, value)
    assert later.as_dict() == delete(**values).as_dict() == values
    assert later.obj_what_changed() == set(values)


def test_class_and_private_attributes_can_be_set() -> None:
    @objects.register
    class Thing(objects.Object):
        fields = {'name': fields.StringField()}
        cache: Any = None

    thing: Any = Thing(name='a')
    thing.cache = 1
    thing._own = 2
    assert (thing.cache, thing._own) == (1, 2)
    with pytest.raises(exceptions.NoSuchField, match='cashe'):
        thing.cashe = 1


def test_adopted_class_accepts_any_attribute() -> None:
    @ovo_base.VersionedObjectRegistry.register
    class Plain(ovo_base.VersionedObject):
        fields = {'name': ovo_fields.StringField()}

    adopt([Plain])
    plain: Any = Plain(name='a', nmae='b')
    plain.other = 1
    assert (plain.nmae, plain.other) == ('b', 1)


@pytest.mark.parametrize(
    'write',
    [
        lambda request: serializer.to_bytes(request, None),
        lambda request: serializer.to_wire([request], None),
        lambda request: serializer.to_wire({'it': request}, {'Delete': '1.0'}),
    ],
)
def test_serialization_names_missing_required_fields(
    delete: type[objects.Request], write: Any
) -> None:
    with pytest.raises(exceptions.FieldsMissing) as caught:
        write(delete(force=False))
    assert caught.value.fields == ('identity', 'names')
    with pytest.raises(exceptions.FieldsMissing, match="without 'names': set"):
        write(delete(identity='c'))
    assert write(delete(identity='c', names=[]))


def test_serialization_of_partial_resource_names_the_field() -> None:
    @objects.register
    class Shown(objects.Resource):
        fields = {'name': fields.StringField(), 'size': fields.IntegerField()}

    with pytest.raises(exceptions.FieldsMissing, match="without 'size'"):
        serializer.to_bytes(Shown(name='a'), None)


@pytest.mark.parametrize('root', [objects.Request, objects.Resource])
@pytest.mark.parametrize('depth', [1, 2])
@pytest.mark.parametrize(
    ('wrap_field', 'wrap'),
    [
        (fields.Field, lambda part: part),
        (lambda kind: fields.Field(fields.List(kind)), lambda part: [part]),
        (
            lambda kind: fields.Field(fields.Dict(fields.List(kind))),
            lambda part: {'k': [part]},
        ),
    ],
)
def test_serialization_names_missing_fields_of_objects_inside(
    root: Any, depth: int, wrap_field: Any, wrap: Any
) -> None:
    @objects.register
    class Part0(objects.Object):
        VERSION = '1.1'
        fields = {
            'size': fields.IntegerField(),
            'note': added('1.1', fields.StringField(nullable=True)),
        }

    def outer(number: int, base: Any) -> Any:
        kind = fields.Object(f'Part{number - 1}')
        return objects.register(
            type(
                f'Part{number}',
                (base,),
                {'fields': {'inner': wrap_field(kind)}},
            )
        )

    classes = [
        outer(number, root if number == depth else objects.Object)
        for number in range(1, depth + 1)
    ]
    manifest = {f'Part{number}': '1.0' for number in range(depth + 1)}

    def send(part: Any, versions: Any) -> Any:
        for cls in classes:
            part = cls(inner=wrap(part))
        return serializer.to_bytes([part], versions)

    read = Part0.obj_from_primitive(Part0().obj_to_primitive())
    for versions in (None, manifest):
        with pytest.raises(exceptions.FieldsMissing, match=r"Part0 .*'size'"):
            send(Part0(), versions)
        assert send(Part0(size=1), versions)
        assert send(read, versions)
    Part0.obj_load_attr = lambda self, name: None
    assert send(Part0(), None)


@pytest.mark.parametrize(
    'error',
    [
        exceptions.NoSuchField('Delete', 'forse', ['force']),
        exceptions.FieldsMissing('Delete', ['identity']),
    ],
)
def test_errors_survive_a_copy(error: Exception) -> None:
    for same in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(same) == str(error)
        assert type(same) is type(error)
