# SPDX-License-Identifier: Apache-2.0
"""Fields declared by annotations equal those of a ``fields`` dictionary."""

import re
import sys
import types

import pytest

import vobjects
from vobjects import exceptions
from vobjects.lock import snapshot
from vobjects.rpc import serializer

IMPORTS = """
import datetime
import enum
from typing import Annotated, Any, ClassVar, Literal, Optional

import vobjects
from vobjects import (
    UNSET, Object, added, changed, fields, register, removed, renamed
)


class Level(enum.Enum):
    FULL = 'full'
    CHANGES = 'changes'


class TextLevel(enum.StrEnum):
    FULL = 'full'
    CHANGES = 'changes'


LEVELS = ['full', 'changes']
Name = Annotated[str, fields.NameField(minimum=2)]
Hidden = Annotated[str, fields.sensitive(fields.StringField())]
"""
OPTIONAL = 'nullable=True'

#: Declaration, and the equivalent field of a dictionary.
DECLARATIONS = [
    ('a: str', 'fields.StringField()'),
    ('a: str | None', f'fields.StringField({OPTIONAL})'),
    ('a: Optional[str] = UNSET', f'fields.StringField({OPTIONAL})'),
    ("a: str = ''", "fields.StringField(default='')"),
    ('a: int = 1', 'fields.IntegerField(default=1)'),
    ('a: float = 0.5', 'fields.FloatField(default=0.5)'),
    ('a: bool = False', 'fields.StrictBooleanField(default=False)'),
    (
        'a: None | bool = None',
        'fields.StrictBooleanField(nullable=True, default=None)',
    ),
    ('a: datetime.datetime', 'fields.DateTimeField()'),
    ('a: Any', 'fields.JsonValueField()'),
    ('a: dict', 'fields.JsonField()'),
    ('a: dict[str, Any] = {}', 'fields.JsonField(default={})'),
    ('a: dict[str, str]', 'fields.DictOfStringsField()'),
    (
        'a: dict[str, str | None]',
        'fields.DictOfNullableStringsField()',
    ),
    ('a: dict[str, list[str]]', 'fields.DictOfListOfStringsField()'),
    ('a: list[str] = []', 'fields.ListOfStringsField(default=[])'),
    (
        'a: list[dict[str, str | None]]',
        'fields.ListOfDictOfNullableStringsField()',
    ),
    ('a: set[int] | None', f'fields.SetOfIntegersField({OPTIONAL})'),
    (
        "a: Literal['full', 'changes'] = 'full'",
        "fields.EnumField(LEVELS, default='full')",
    ),
    (
        "a: Literal['full', 'changes', None]",
        "fields.EnumField(['full', 'changes'], nullable=True)",
    ),
    (
        "a: list[Literal['full', 'changes']]",
        'fields.ListOfEnumField(LEVELS)',
    ),
    ('a: Level', 'fields.EnumField(LEVELS)'),
    ('a: Level = Level.FULL', "fields.EnumField(LEVELS, default='full')"),
    (
        'a: TextLevel | None = TextLevel.FULL',
        "fields.EnumField(LEVELS, nullable=True, default='full')",
    ),
    ('a: list[Level]', 'fields.ListOfEnumField(LEVELS)'),
    ('a: Name', 'fields.NameField(minimum=2)'),
    ('a: Name | None', f'fields.NameField(minimum=2, {OPTIONAL})'),
    (
        'a: Annotated[str | None, fields.UUIDField()] = UNSET',
        f'fields.UUIDField({OPTIONAL})',
    ),
    ('a: list[Name]', 'fields.Field(fields.List(fields.Name(minimum=2)))'),
    (
        'a: Annotated[str, fields.MACAddress()]',
        'fields.MACAddressField()',
    ),
    ('a: Later', "fields.ObjectField('Later')"),
    ('a: Later | None', f"fields.ObjectField('Later', {OPTIONAL})"),
    ("a: 'Later | None'", f"fields.ObjectField('Later', {OPTIONAL})"),
    (
        "a: list['Later'] = []",
        "fields.ListOfObjectsField('Later', default=[])",
    ),
    (
        'a: dict[str, Later]',
        "fields.Field(fields.Dict(fields.Object('Later')))",
    ),
    (
        "a: bool = added('1.1', default=False)",
        "added('1.1', fields.StrictBooleanField(default=False))",
    ),
    (
        "a: Level | None = added('1.1', on_drop='ignore')",
        "added('1.1', fields.EnumField(LEVELS, nullable=True),"
        " on_drop='ignore')",
    ),
    (
        "a: str = renamed('1.1', 'b')",
        "renamed('1.1', 'b', fields.StringField())",
    ),
    (
        "a: int = renamed('1.2', 'b', added('1.1', default=1))",
        "renamed('1.2', 'b', added('1.1', fields.IntegerField(default=1)))",
    ),
    (
        "a: int = renamed('1.2', 'b', added('1.1'), default=1)",
        "renamed('1.2', 'b', added('1.1', fields.IntegerField(default=1)))",
    ),
    (
        "a: str = removed('1.1', default='x')",
        "removed('1.1', fields.StringField(default='x'))",
    ),
    (
        "a: int = changed('1.1', str, up=int, down=str)",
        "changed('1.1', fields.StringField(), fields.IntegerField(),"
        ' up=int, down=str)',
    ),
    (
        "a: int | None = renamed('1.3', 'b', changed('1.2', added('1.1',"
        ' fields.StringField(nullable=True)), up=int, down=str), default=2)',
        "renamed('1.3', 'b', changed('1.2', added('1.1',"
        ' fields.StringField(nullable=True)), fields.IntegerField('
        'nullable=True, default=2), up=int, down=str))',
    ),
]


@pytest.fixture(params=['', 'from __future__ import annotations\n'])
def build(request, registry, monkeypatch):
    """Return a function that registers a class with a body.

    Python evaluates its annotations at once, or keeps them as text.
    """

    def registered(body):
        name = f'annotated_fields_{id(body)}'
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        later = 'class Later(Object):\n    pass\n'
        version = max(re.findall(r"'(1\.\d)'", body), default='1.0')
        parts = [
            request.param,
            IMPORTS,
            '' if request.param else later,
            'class R(vobjects.Request):',
            f'    VERSION = {version!r}',
            f"    VERSION_MAP = {{'1.1': {version!r}}}",
            f'    {body}',
            later,
        ]
        exec('\n'.join(parts), vars(module))
        vobjects.register(module.Later)
        return vobjects.register(module.R)

    return registered


@pytest.mark.parametrize(('annotated', 'field'), DECLARATIONS)
def test_an_annotation_declares_the_same_as_a_field(annotated, field, build):
    written = build(f"fields = {{'a': {field}}}")
    cls = build(annotated)
    [(_, schemas)] = snapshot.of_classes([cls]).types.items()
    [(_, expected)] = snapshot.of_classes([written]).types.items()
    assert schemas == expected
    assert cls.fields.keys() == written.fields.keys() == {'a'}
    assert cls.fields['a'].get_schema() == written.fields['a'].get_schema()
    assert not cls().obj_attr_is_set('a')


@pytest.mark.parametrize(
    ('body', 'problem'),
    [
        ('a: tuple[int, str]', 'R.a: .* is not the type of a field; use str'),
        ('a: int | str', 'R.a: .* is not the type of a field'),
        ('a: bytes = b""', 'R.a: .* is not the type of a field'),
        ('a: list', 'R.a: .* is not the type of a field'),
        ('a: dict[int, str]', r'R.a: .* write dict\[str, TYPE\]'),
        ('a: str = fields.NameField()', r'Annotated\[TYPE, NameField'),
        (
            'a: Annotated[str, fields.NameField(nullable=True)]',
            r'R.a: write `\| None` in the annotation',
        ),
        (
            "a: Annotated[str, fields.NameField(default='x')]",
            'R.a: write .* the default after it',
        ),
        ("a = added('1.1', default=1)", 'R.a: .* missing; write `a: TYPE ='),
        (
            'a = fields.NameField()',
            r'missing; .* or `a: Annotated\[TYPE, FIELD\]',
        ),
        ('a: int = UNSET', r'R.a: a request needs .* write `\| None = UNSET`'),
        (
            "a: str; fields = {'a': fields.StringField()}",
            'R.a: it is in `fields` and has an annotation',
        ),
        ("a: 'str +'", "R.a: the annotation 'str \\+' is invalid"),
        (
            'a: Annotated[str, fields.NameField]',
            r'R.a: NameField is a class; write Annotated\[TYPE, NameField',
        ),
        ('a: Literal[None]', r'R.a: the values \[\] are no enum'),
        ("a: Literal[b'x']", r"R.a: the values \[b'x'\] are no enum"),
        ('a: Literal[Level.FULL]', 'R.a: the values .* are no enum'),
        ("a: Literal['x'] = 'y'", 'R.a: the default .y. is invalid'),
        ("a: str = added('1.1')", r'R.a: a field added at 1\.1 needs'),
        (
            "a: int = renamed('1.2', 'b', added('1.1', default=1), default=2)",
            r"renamed\('1.2'\): a field has one default",
        ),
    ],
)
def test_an_invalid_declaration_names_the_field_and_the_fix(
    body, problem, build
):
    with pytest.raises(exceptions.DeclarationError, match=problem):
        build(body)


def test_other_attributes_are_no_fields(build):
    cls = build('a: int = 1; B: ClassVar[int] = 2; _c: int = 3; d = 4')
    assert cls.fields.keys() == {'a'}
    assert (cls.B, cls._c, cls.d) == (2, 3, 4)


def test_a_dictionary_and_annotations_can_be_mixed(build):
    cls = build("a: int; fields = {'b': fields.StringField()}")
    assert cls(a=1, b='x').as_dict() == {'a': 1, 'b': 'x'}


@pytest.mark.usefixtures('registry')
def test_fields_are_inherited_from_a_class_that_is_not_registered():
    class Page(vobjects.Request):
        limit: int = 10
        marker: str | None = vobjects.UNSET

    @vobjects.register
    class ClusterPage(Page):
        limit: int = 20
        name: str

    page = ClusterPage(name='c')
    page.obj_set_defaults()
    assert page.as_dict() == {'limit': 20, 'name': 'c'}
    assert page.marker is None


@pytest.mark.parametrize('name', ['Level', 'TextLevel'])
def test_a_field_of_an_enum_class_has_its_members(name, build):
    cls = build(f'a: {name} = {name}.FULL; b: list[{name}]')
    level = getattr(sys.modules[cls.__module__], name)
    obj = cls(a='changes', b=[level.FULL, 'changes'])
    assert obj.a is level.CHANGES
    assert obj.b == [level.FULL, level.CHANGES]
    primitive = obj.obj_to_primitive()
    assert primitive['versioned_object.data'] == {
        'a': 'changes',
        'b': ['full', 'changes'],
    }
    read = serializer.from_bytes(serializer.to_bytes(obj, None))
    assert read.a is level.CHANGES
    assert read.b == [level.FULL, level.CHANGES]
    assert vobjects.to_json(obj, {cls.obj_name(): '1.0'}) == {
        'a': 'changes',
        'b': ['full', 'changes'],
    }
    with pytest.raises(ValueError, match='other'):
        obj.a = 'other'
    defaulted = cls()
    defaulted.obj_set_defaults('a')
    assert defaulted.a is level.FULL


def test_an_added_field_converts_as_declared(build):
    cls = build("a: bool = added('1.1', default=False)")
    primitive = cls(a=False).obj_to_primitive('1.0')
    assert primitive['versioned_object.data'] == {}
    assert cls.obj_from_primitive(primitive).a is False
    with pytest.raises(exceptions.LossyDowngrade, match='=True needs R 1'):
        cls(a=True).obj_to_primitive('1.0')
