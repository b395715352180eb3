# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import enum
import json
import math
from typing import Any

import pytest

import vobjects
from vobjects import exceptions, fields
from vobjects.objects.history import added, changed
from vobjects.rpc import serializer

pytestmark = pytest.mark.usefixtures('registry')


class Word(enum.StrEnum):
    A = 'a'
    B = 'b'


class MixedInWord(str, enum.Enum):  # noqa: UP042 - unlike StrEnum
    """Its text is the name of the member."""

    A = 'a'
    B = 'b'


class NoSchema(fields.FieldType[str]):
    """A type of a service, without a schema."""


class BadSchema(NoSchema):
    def get_schema(self) -> dict[str, Any]:
        return {'type': ['strin']}


class BadPattern(NoSchema):
    def get_schema(self) -> dict[str, Any]:
        return {'type': ['string'], 'pattern': '('}


class OneType(NoSchema):
    def get_schema(self) -> dict[str, Any]:
        return {'type': 'string'}


def declare(base: type, field: Any, name: str = 'Sample') -> Any:
    attributes = {
        'VERSION': '1.1',
        'NO_FIELD_CHANGES': {}
        if hasattr(field, '_vobjects_changes')
        else {'1.1': 'For a test.'},
        'VERSION_MAP': {'1.1': '1.1'},
        'fields': {'key': field},
    }
    return vobjects.register(type(name, (base,), attributes))


@pytest.mark.parametrize('field_type', [NoSchema, BadSchema, BadPattern])
@pytest.mark.parametrize(
    'wrap',
    [
        fields.Field,
        lambda kind: fields.Field(kind, nullable=True),
        lambda kind: fields.Field(fields.List(kind)),
        lambda kind: fields.Field(fields.Dict(fields.List(kind))),
        lambda kind: added('1.1', fields.Field(kind, nullable=True)),
        lambda kind: changed(
            '1.1', fields.Field(kind), fields.StringField(), up=str, down=str
        ),
    ],
)
def test_request_whose_field_has_no_valid_schema_is_refused(
    field_type: type[NoSchema], wrap: Any
) -> None:
    problem = rf'Sample\.key: {field_type.__name__} has no valid JSON schema'
    with pytest.raises(exceptions.DeclarationError, match=problem):
        declare(vobjects.Request, wrap(field_type()))
    declare(vobjects.Object, wrap(field_type()))  # not in a body


def test_nullable_type_whose_schema_has_one_type_is_refused() -> None:
    declare(vobjects.Request, fields.Field(OneType()))
    with pytest.raises(exceptions.DeclarationError, match='a list of types'):
        declare(vobjects.Request, fields.Field(OneType(), nullable=True))


@pytest.mark.parametrize('inner_first', [True, False])
def test_type_inside_a_request_needs_schemas_too(inner_first: bool) -> None:
    def inner() -> None:
        declare(vobjects.Object, fields.Field(NoSchema()), 'Inner')

    def outer() -> None:
        declare(vobjects.Object, fields.ObjectField('Inner'), 'Middle')
        declare(vobjects.Request, fields.ListOfObjectsField('Middle'))

    first, last = (inner, outer) if inner_first else (outer, inner)
    first()
    with pytest.raises(exceptions.DeclarationError, match=r'Inner\.key'):
        last()


@pytest.mark.parametrize(
    'field',
    [
        fields.StringField(default=lambda: 'x'),
        fields.UUIDField(default=lambda: 'x'),
        fields.BooleanField(default=bool),
        fields.ListOfStringsField(default=list),
        fields.StringField(default=None),
        fields.IntegerField(default='x'),
        fields.FloatField(default=math.nan),
        fields.FloatField(default=-math.inf),
        fields.IntegerField(default=math.inf),
        fields.JsonField(default={'key': b'x'}),
        fields.JsonValueField(default={1}),
        fields.EnumField(['a'], default='b'),
        fields.DateTimeField(default='x'),
        fields.ListOfStringsField(default='x'),
        fields.DictOfStringsField(default={1: 'x'}),
        fields.SetOfIntegersField(default={'x'}),
        fields.SetOfStringsField(default=['x']),
        fields.Field(fields.Dict(fields.UUID()), default=[]),
    ],
)
def test_default_that_the_field_cannot_have_is_refused(field: Any) -> None:
    for base in (vobjects.Request, vobjects.Resource, vobjects.Object):
        with pytest.raises(
            exceptions.DeclarationError, match=r'Sample\.key: the default'
        ):
            declare(base, field)


@pytest.mark.parametrize(
    ('field', 'problem'),
    [
        (fields.EnumField([1, 2]), "write '1'"),
        (fields.ListOfEnumField([1.5]), "write '1.5'"),
        (fields.EnumField(iter(['a'])), 'write them as a list'),
        (fields.Field(fields.Set(fields.List(fields.String()))), 'use a List'),
        (fields.Field(fields.Set(fields.Set(fields.String()))), 'use a List'),
        (fields.Field(fields.List(fields.Set(fields.Json()))), 'use a List'),
        (fields.Field(fields.Set(fields.IdentityList())), 'use a List'),
    ],
)
def test_type_that_cannot_be_read_back_is_refused(
    field: Any, problem: str
) -> None:
    with pytest.raises(
        exceptions.DeclarationError, match=rf'Sample\.key: .*{problem}'
    ):
        declare(vobjects.Object, field)


@pytest.mark.parametrize('words', [['soft'], ['ß'], ['A', 'a'], [1]])
def test_any_case_enum_with_a_word_not_in_upper_case_is_refused(
    words: Any,
) -> None:
    with pytest.raises(ValueError, match='in upper case'):
        fields.AnyCaseEnumField(words)


@pytest.mark.parametrize(
    ('field', 'values'),
    [
        (fields.AnyCaseEnumField(['A', 'B']), ['A', 'B', 'a', 'b']),
        (fields.AnyCaseEnumField(['A', 'A']), ['A', 'a']),
        (
            fields.AnyCaseEnumField(['\u0130', 'STRASSE']),
            ['\u0130', 'STRASSE', 'strasse', 'Strasse'],
        ),
        (fields.EnumField(['b', 'a', 'b']), ['b', 'a']),
        (fields.EnumField(('a', 'a'), nullable=True), ['a', None]),
        (fields.EnumField({'b', 'a'}), ['a', 'b']),
        (fields.EnumField(dict.fromkeys('ba').keys()), ['b', 'a']),
        (fields.EnumField(Word), ['a', 'b']),
        (fields.EnumField(MixedInWord), ['a', 'b']),
    ],
)
def test_schema_of_enum_has_each_value_once(
    field: Any, values: list[Any]
) -> None:
    from vobjects.microversions import schema
    from vobjects.versions import Version

    cls = declare(vobjects.Request, field)
    compiled = schema.request_schema_at(cls, Version(1, 1), ('key',))
    assert compiled.properties['key']['enum'] == values


def test_items_of_list_of_enum_may_be_null() -> None:
    from vobjects.microversions import validation
    from vobjects.versions import Version

    kind = fields.List(fields.Enum(['a', 'a']), nullable=True)
    cls = declare(vobjects.Request, fields.Field(kind))
    validation.validate(cls, Version(1, 1), ('key',), {'key': ['a', None]})


@pytest.mark.parametrize('words', [Word, MixedInWord, [*MixedInWord], 'ab'])
@pytest.mark.parametrize('wrap', [fields.Enum, fields.AnyCaseEnum])
def test_member_of_an_enum_class_is_sent_as_its_value(
    words: Any, wrap: Any
) -> None:
    upper = wrap is fields.AnyCaseEnum
    values = [*(['A', 'B'] if upper else words)]
    cls = declare(vobjects.Resource, fields.Field(fields.List(wrap(values))))
    obj = cls(key=[*Word, *MixedInWord, 'a'])
    expected = ['a', 'b', 'a', 'b', 'a']
    if upper:
        expected = [word.upper() for word in expected]
    written = serializer.to_bytes(obj, None)
    assert vobjects.to_json(obj, {'Sample': '1.1'}) == {'key': expected}
    assert serializer.from_bytes(written).key == expected
    assert json.loads(written)['versioned_object.data']['key'] == expected


@pytest.mark.parametrize(
    'name', ['context', 'self', 'fields', 'get', 'as_dict', 'VERSION', 'ROUTE']
)
@pytest.mark.parametrize(
    'attributes',
    [
        lambda name: {'fields': {name: fields.StringField()}},
        lambda name: {'__annotations__': {name: str}},
        lambda name: {
            '__annotations__': {name: str},
            name: {} if name == 'fields' else '1.0',
        },
    ],
    ids=['dictionary', 'annotation', 'default'],
)
def test_field_with_the_name_of_an_attribute_is_refused(
    registry: None, name: str, attributes: Any
) -> None:
    with pytest.raises(
        exceptions.DeclarationError, match=rf'Sample\.{name}: .* another name'
    ):
        vobjects.register(type('Sample', (vobjects.Object,), attributes(name)))


@pytest.mark.parametrize(
    'bounds', [{'maxlength': 5}, {'maxItems': -1}, {'maxItems': '5'}]
)
def test_bounds_that_a_schema_cannot_have_are_refused(
    registry: None, bounds: dict[str, int]
) -> None:
    attributes = {'BOUNDS': bounds, 'fields': {'key': fields.StringField()}}
    with pytest.raises(exceptions.DeclarationError, match=r'Sample\.BOUNDS'):
        vobjects.register(type('Sample', (vobjects.Request,), attributes))


@pytest.mark.parametrize(
    'make',
    [
        lambda: fields.NameField(-1),
        lambda: fields.NameField(5, 4),
        lambda: fields.CapacityField(5, 4),
        lambda: fields.IdentityListField(-1),
        lambda: fields.bounded(fields.StringField(), max_length=-1),
        lambda: fields.bounded(fields.JsonField(), max_properties=-1),
        lambda: fields.bounded(fields.ListOfStringsField(), max_items=-1),
    ],
)
def test_limits_that_no_value_can_satisfy_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match='must be at least'):
        make()
