# SPDX-License-Identifier: Apache-2.0
"""Every field class, the containers of its values, and example values.

``test_field_conformance.py`` takes each row of :data:`ROWS` in each container
of :data:`CONTAINERS` through each path of the library. Run as a program, this
module prints all that must not depend on the hash seed.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import zoneinfo
from collections.abc import Callable, Iterator
from typing import Any

import netaddr
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields
from oslo_versionedobjects import fixture

import vobjects
from vobjects import fields, objects
from vobjects.objects import history

#: The module that has a class: vobjects.fields or that of oslo.
Module = Any


@dataclasses.dataclass(frozen=True)
class Row:
    """A field class.

    :ivar make: returns a field; called with the module and options
    :ivar values: pairs of a value and its JSON, at least two; the JSON is in
        the order of a set
    :ivar accepts: other JSON of bodies -> JSON of the value
    :ivar queries: texts of a query -> JSON of the value; none: no query
    :ivar rejects: JSON that a body must not have
    :ivar in_sets: whether a set can contain the values
    """

    make: Callable[..., Any]
    values: tuple[tuple[Any, Any], ...]
    accepts: tuple[tuple[Any, Any], ...] = ()
    queries: tuple[tuple[str, Any], ...] = ()
    rejects: tuple[Any, ...] = ()
    in_sets: bool = True


def plain(name: str) -> Callable[..., Any]:
    """Return what makes a field of a class without arguments."""
    return lambda module, **options: getattr(module, name)(**options)


def same(*values: Any) -> tuple[tuple[Any, Any], ...]:
    """Return values that are their own JSON."""
    return tuple((value, value) for value in values)


def texts(cls: Any, *values: str) -> tuple[tuple[Any, Any], ...]:
    """Return values that a class makes of their JSON."""
    return tuple((cls(value), value) for value in values)


BERLIN = zoneinfo.ZoneInfo('Europe/Berlin')
EAST = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
UUIDS = (
    '0e6bbd65-3a7b-4f1c-8b5c-9a3c0a4f0001',
    '1e6bbd65-3a7b-4f1c-8b5c-9a3c0a4f0002',
)
NOT_TEXT = (1, True, [], {}, None)
NOT_NUMBER = ('x', True, [], {}, None)
WORDS = ('"', 'ä', '\u2028', 'B', 'a')
WORDS_IN_ORDER = tuple(sorted(WORDS))
TIMES = (
    (
        datetime.datetime(999, 1, 1, tzinfo=datetime.UTC),
        '0999-01-01T00:00:00Z',
    ),
    (
        datetime.datetime(2024, 2, 29, 23, 0, tzinfo=EAST),
        '2024-02-29T17:30:00Z',
    ),
    (
        datetime.datetime(2026, 7, 1, 12, tzinfo=BERLIN),
        '2026-07-01T10:00:00Z',
    ),
    (
        datetime.datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN),
        '2026-10-25T01:30:00Z',
    ),
)

ROWS: dict[str, Row] = {
    'AnyCaseEnumField': Row(
        lambda module, **options: fields.AnyCaseEnumField(
            ['A', 'SOFT'], **options
        ),
        same('A', 'SOFT'),
        accepts=(('a', 'A'), ('Soft', 'SOFT'), ('soft', 'SOFT')),
        queries=(('a', 'A'), ('Soft', 'SOFT')),
        rejects=('B', '\u017foft', *NOT_TEXT),
    ),
    'BooleanField': Row(
        plain('BooleanField'),
        same(False, True),
        queries=(('true', True), ('no', False)),
        rejects=('x', 'true', 1, [], {}, None),
    ),
    'CapacityField': Row(
        lambda module, **options: fields.CapacityField(-5, 7, **options),
        same(-5, 7),
        accepts=(('7', 7),),
        queries=(('7', 7), ('-5', -5)),
        rejects=(8, '8', -6, 1.5, 10**400, *NOT_NUMBER),
    ),
    'DateTimeField': Row(
        plain('DateTimeField'),
        TIMES,
        accepts=(
            ('2026-07-01T12:00:00+02:00', '2026-07-01T10:00:00Z'),
            ('2026-07-01T12:00:00', '2026-07-01T12:00:00Z'),
            ('2026-07-01T12:00:00.999999Z', '2026-07-01T12:00:00Z'),
        ),
        queries=(('2026-07-01T12:00:00Z', '2026-07-01T12:00:00Z'),),
        rejects=(
            'x',
            '2026-02-29T00:00:00Z',
            '0001-01-01T00:00:00+14:00',
            '2026-01-01T00:00:00+99:99',
            *NOT_TEXT,
        ),
    ),
    'DictOfIntegersField': Row(
        plain('DictOfIntegersField'),
        same({'a': 2**63 - 1}, {'b': 1, 'a': -1}),
        rejects=({'a': 'x'}, {'a': None}, [], 'x', None),
        in_sets=False,
    ),
    'DictOfListOfStringsField': Row(
        plain('DictOfListOfStringsField'),
        same({'a': []}, {'b': ['x', 'x'], '': ['']}),
        rejects=({'a': 'x'}, {'a': [1]}, [], None),
        in_sets=False,
    ),
    'DictOfNullableStringsField': Row(
        plain('DictOfNullableStringsField'),
        same({'a': None}, {'b': 'x', 'a': ''}),
        rejects=({'a': 1}, [], None),
        in_sets=False,
    ),
    'DictOfSetOfIntegersField': Row(
        plain('DictOfSetOfIntegersField'),
        (
            ({'a': {10, 9, -1}}, {'a': [-1, 9, 10]}),
            ({'b': set()}, {'b': []}),
        ),
        accepts=(({'a': [10, 9]}, {'a': [9, 10]}),),
        rejects=({'a': [1, 1]}, {'a': ['x']}, {'a': None}, [], None),
        in_sets=False,
    ),
    'DictOfStringsField': Row(
        plain('DictOfStringsField'),
        same({}, {'b': 'x', 'a': ''}),
        rejects=({'a': 1}, {'a': None}, [], None),
        in_sets=False,
    ),
    'EnumField': Row(
        lambda module, **options: module.EnumField(WORDS, **options),
        same(*WORDS_IN_ORDER),
        queries=(('a', 'a'),),
        rejects=('A', 'c', *NOT_TEXT),
    ),
    'FlexibleBooleanField': Row(
        plain('FlexibleBooleanField'),
        same(False, True),
        queries=(('yes', True), ('off', False)),
        rejects=('x', 1, [], {}, None),
    ),
    'FloatField': Row(
        plain('FloatField'),
        same(-1e300, -0.0, 1.5, 1e16),
        accepts=((2, 2.0),),
        queries=(('1.5', 1.5), ('-2', -2.0)),
        rejects=(10**400, *NOT_NUMBER),
    ),
    'IPAddressField': Row(
        plain('IPAddressField'),
        texts(netaddr.IPAddress, '10.0.0.1', '2001:db8::1'),
        accepts=(('2001:DB8:0::1', '2001:db8::1'),),
        queries=(('10.0.0.1', '10.0.0.1'), ('::1', '::1')),
        rejects=('x', '10.0.0', '10.0.0.1/8', '1::2::3', 'f' * 99, *NOT_TEXT),
    ),
    'IPNetworkField': Row(
        plain('IPNetworkField'),
        texts(netaddr.IPNetwork, '10.0.0.0/8', 'fe80::/64'),
        accepts=(('10.0.0.1', '10.0.0.1/32'),),
        queries=(('10.0.0.0/8', '10.0.0.0/8'),),
        rejects=('x', '10.0.0.0/33', 'fe80::/129', '::/0' * 99, *NOT_TEXT),
    ),
    'IPV4AddressField': Row(
        plain('IPV4AddressField'),
        texts(netaddr.IPAddress, '10.0.0.1', '10.0.0.2'),
        queries=(('10.0.0.1', '10.0.0.1'),),
        rejects=('x', '10.0.0.256', '::1', *NOT_TEXT),
    ),
    'IPV4AndV6AddressField': Row(
        plain('IPV4AndV6AddressField'),
        texts(netaddr.IPAddress, '10.0.0.1', '2001:db8::1'),
        queries=(('::1', '::1'),),
        rejects=('x', '10.0.0.1/8', *NOT_TEXT),
    ),
    'IPV4NetworkField': Row(
        plain('IPV4NetworkField'),
        texts(netaddr.IPNetwork, '10.0.0.0/8', '10.1.0.0/16'),
        queries=(('10.0.0.0/8', '10.0.0.0/8'),),
        rejects=('x', '10.0.0.0/33', 'fe80::/64', *NOT_TEXT),
    ),
    'IPV6AddressField': Row(
        plain('IPV6AddressField'),
        texts(netaddr.IPAddress, '2001:db8::1', '2001:db8::2'),
        queries=(('::1', '::1'),),
        rejects=('x', '10.0.0.1', 'fe80::1%eth0', *NOT_TEXT),
    ),
    'IPV6NetworkField': Row(
        plain('IPV6NetworkField'),
        texts(netaddr.IPNetwork, 'fe80::/64', 'fe81::/64'),
        queries=(('fe80::/64', 'fe80::/64'),),
        rejects=('x', 'fe80::/129', '10.0.0.0/8', *NOT_TEXT),
    ),
    'IdentityListField': Row(
        lambda module, **options: fields.IdentityListField(1, **options),
        same(['a'], ['b', 'a']),
        queries=(('a', ['a']),),
        rejects=([], ['a', 'a'], [1], [''], 'a', {}, {'a': 1}, None),
        in_sets=False,
    ),
    'IntegerField': Row(
        plain('IntegerField'),
        same(-(2**63 - 1), -1, 0, 9, 10),
        queries=(('10', 10), ('-1', -1)),
        rejects=(1.5, *NOT_NUMBER),
    ),
    'JsonField': Row(
        plain('JsonField'),
        same({}, {'b': [None, 1.5, {'a': 'ä'}], 'a': True}),
        rejects=([], 'x', 1, None),
        in_sets=False,
    ),
    'JsonValueField': Row(
        plain('JsonValueField'),
        same('a', 'b', 'ä'),
        accepts=tuple((v, v) for v in ([], {'a': None}, 'x', False, 1.5)),
        queries=(('x', ['x']),),
        rejects=(None,),
    ),
    'ListOfDictOfNullableStringsField': Row(
        plain('ListOfDictOfNullableStringsField'),
        same([], [{'b': None, 'a': 'x'}, {}]),
        rejects=([1], [{'a': 1}], [None], {}, None),
        in_sets=False,
    ),
    'ListOfEnumField': Row(
        lambda module, **options: module.ListOfEnumField(
            list(WORDS), **options
        ),
        same([], ['a', 'B', 'a']),
        queries=(('a', ['a']),),
        rejects=(['A'], [1], 'a', {}, None),
        in_sets=False,
    ),
    'ListOfIntegersField': Row(
        plain('ListOfIntegersField'),
        same([], [2**63 - 1, -1, 9, 9]),
        queries=(('9', [9]),),
        rejects=(['x'], [1.5], [None], {}, None),
        in_sets=False,
    ),
    'ListOfListsOfStringsField': Row(
        plain('ListOfListsOfStringsField'),
        same([], [['b', 'a'], []]),
        rejects=(['x'], [[1]], [None], {}, None),
        in_sets=False,
    ),
    'ListOfSetsOfIntegersField': Row(
        plain('ListOfSetsOfIntegersField'),
        (([], []), ([{10, 9}, set()], [[9, 10], []])),
        accepts=(([[10, 9]], [[9, 10]]),),
        rejects=([[1, 1]], ['x'], [1], [None], {}, None),
        in_sets=False,
    ),
    'ListOfStringsField': Row(
        plain('ListOfStringsField'),
        same([], ['b', 'a', 'a']),
        queries=(('a', ['a']),),
        rejects=([1], [None], 'x', {}, None),
        in_sets=False,
    ),
    'ListOfUUIDField': Row(
        plain('ListOfUUIDField'),
        same([], [*UUIDS]),
        queries=((UUIDS[0], [UUIDS[0]]),),
        rejects=(['x'], [1], 'x', {}, None),
        in_sets=False,
    ),
    'MACAddressField': Row(
        plain('MACAddressField'),
        same('00:11:22:33:44:55', 'aa:11:22:33:44:55'),
        accepts=(
            ('AA:11:22:33:44:5f', 'aa:11:22:33:44:5f'),
            ('aa-11-22-33-44-5F', 'aa:11:22:33:44:5f'),
        ),
        queries=(('00:11:22:33:44:AA', '00:11:22:33:44:aa'),),
        rejects=('x', '00:11:22:33:44:55\n', *NOT_TEXT),
    ),
    'NameField': Row(
        lambda module, **options: fields.NameField(1, 5, **options),
        same('a b', 'ä'),
        queries=(('a b', 'a b'),),
        rejects=('', ' a', 'abcdef', 'a\n', *NOT_TEXT),
    ),
    'NonNegativeFloatField': Row(
        plain('NonNegativeFloatField'),
        same(0.0, 1.5),
        accepts=((2, 2.0),),
        queries=(('1.5', 1.5),),
        rejects=(-1, 10**400, *NOT_NUMBER),
    ),
    'NonNegativeIntegerField': Row(
        plain('NonNegativeIntegerField'),
        same(0, 9, 10, 2**63 - 1),
        queries=(('10', 10),),
        rejects=(-1, 1.5, *NOT_NUMBER),
    ),
    'PCIAddressField': Row(
        plain('PCIAddressField'),
        same('0000:02:00.0', '0000:02:00.1'),
        accepts=(('0000:0A:1f.0', '0000:0a:1f.0'),),
        queries=(('0000:02:0B.0', '0000:02:0b.0'),),
        rejects=('x', '0000:02:00.8', *NOT_TEXT),
    ),
    'SensitiveStringField': Row(
        plain('SensitiveStringField'),
        same('', 'password=x'),
        queries=(('x', 'x'),),
        rejects=NOT_TEXT,
    ),
    'SetOfIntegersField': Row(
        plain('SetOfIntegersField'),
        ((set(), []), ({10, 9, -1, 2**63 - 1}, [-1, 9, 10, 2**63 - 1])),
        accepts=(([10, 9], [9, 10]),),
        queries=(('9', [9]),),
        rejects=([1, 1], ['x'], [1.5], [None], 1, {}, None),
        in_sets=False,
    ),
    'SetOfStringsField': Row(
        plain('SetOfStringsField'),
        ((set(), []), (set(WORDS), list(WORDS_IN_ORDER))),
        accepts=((['b', 'a'], ['a', 'b']),),
        queries=(('a', ['a']),),
        rejects=(['a', 'a'], [1], [None], 'a', {}, None),
        in_sets=False,
    ),
    'SortField': Row(
        lambda module, **options: fields.SortField(['b', 'a'], **options),
        same('a', 'b:desc,a'),
        queries=(('b:desc,a', 'b:desc,a'),),
        rejects=('c', 'a:up', '', *NOT_TEXT),
    ),
    'StrictBooleanField': Row(
        plain('StrictBooleanField'),
        same(False, True),
        queries=(('true', True), ('no', False)),
        rejects=('x', 1, [], {}, None),
    ),
    'StringField': Row(
        plain('StringField'),
        same('', *WORDS_IN_ORDER),
        queries=(('x', 'x'), ('', ''), ('1', '1')),
        rejects=NOT_TEXT,
    ),
    'UUIDField': Row(
        plain('UUIDField'),
        same(*UUIDS),
        queries=((UUIDS[0], UUIDS[0]),),
        rejects=('x', UUIDS[0] + '\n', *NOT_TEXT),
    ),
    'VersionPredicateField': Row(
        plain('VersionPredicateField'),
        same('<2.0', '>=1.0'),
        queries=(('>=1.0', '>=1.0'),),
        rejects=('x', *NOT_TEXT),
    ),
}

#: Classes that a service does not use as they are.
ABSTRACT = {
    'AutoTypedField',
    'BaseEnumField',
    'Field',  # of each type, in CONTAINERS
    'LimitedField',
    'StateMachine',
}
#: Classes whose values are objects; see NESTED.
OF_OBJECTS = {'ListOfObjectsField', 'ObjectField'}


#: Container -> field, with options, of a type; its value of some values; and
#: the same for JSON.
Container = tuple[
    Callable[..., Any], Callable[[list[Any]], Any], Callable[[list[Any]], Any]
]


def _wrapped(make_type: Callable[[Module, Any], Any]) -> Callable[..., Any]:
    def make(row: Row, module: Module, **options: Any) -> Any:
        kind = make_type(module, row.make(module)._type)
        return module.Field(kind, **options)

    return make


def _nothing(values: list[Any]) -> None:
    return None


CONTAINERS: dict[str, Container] = {
    'alone': (
        lambda row, module, **o: row.make(module, **o),
        lambda values: values[-1],
        lambda values: values[-1],
    ),
    'other': (
        lambda row, module, **o: row.make(module, **o),
        lambda values: values[0],
        lambda values: values[0],
    ),
    'nullable': (
        lambda row, module, **o: row.make(module, **{**o, 'nullable': True}),
        _nothing,
        _nothing,
    ),
    'list': (_wrapped(lambda m, kind: m.List(kind)), list, list),
    'null_items': (
        _wrapped(lambda m, kind: m.List(kind, nullable=True)),
        lambda values: [None, *values],
        lambda values: [None, *values],
    ),
    'dict': (
        _wrapped(lambda m, kind: m.Dict(kind)),
        lambda values: {'b': values[0], 'a': values[1]},
        lambda values: {'b': values[0], 'a': values[1]},
    ),
    'dict_of_lists': (
        _wrapped(lambda m, kind: m.Dict(m.List(kind))),
        lambda values: {'b': values, 'a': []},
        lambda values: {'b': values, 'a': []},
    ),
    'set': (_wrapped(lambda m, kind: m.Set(kind)), set, list),
    'list_of_sets': (
        _wrapped(lambda m, kind: m.List(m.Set(kind))),
        lambda values: [set(values), set()],
        lambda values: [list(values), []],
    ),
    'empty': (
        _wrapped(lambda m, kind: m.Dict(kind)),
        lambda _: {},
        lambda _: {},
    ),
}


def containers_of(row: Row) -> list[str]:
    """Return the containers that can have the values of a row."""
    return [name for name in CONTAINERS if row.in_sets or 'set' not in name]


def value(row: Row, container: str) -> Any:
    """Return a value of a container."""
    return CONTAINERS[container][1]([pair[0] for pair in row.values])


def as_json(row: Row, container: str) -> Any:
    """Return the same value as JSON."""
    return CONTAINERS[container][2]([pair[1] for pair in row.values])


def values(row: Row) -> dict[str, Any]:
    """Return values for all fields of :func:`fields_of`, by name."""
    return {
        name: value(row, name.removeprefix('changed_'))
        for name in fields_of(row)
    }


def json_values(row: Row, version: str = '1.1') -> dict[str, Any]:
    """Return the same values as JSON, as of a version."""
    result = {}
    for name in fields_of(row):
        result[name] = as_json(row, name.removeprefix('changed_'))
        if version == '1.0' and name in older_texts(row):
            result[name] = json.dumps(result[name], sort_keys=True)
    return result


def older_texts(row: Row) -> list[str]:
    """Return the fields with a value that is a text at version 1.0."""
    return [
        f'changed_{name}' for name in containers_of(row) if name != 'nullable'
    ]


def fields_of(row: Row, module: Module = fields) -> dict[str, Any]:
    """Return a field for each container, at the newest version."""
    declared = {
        name: CONTAINERS[name][0](row, module) for name in containers_of(row)
    }
    for name in declared.copy():
        declared[f'changed_{name}'] = CONTAINERS[name][0](row, module)
    return declared


def declared_fields(row: Row, *, backwards: bool = False) -> dict[str, Any]:
    """Return the declaration of the same fields, and of defaults."""
    declared: dict[str, Any] = {}
    for name, field in fields_of(row).items():
        declared[name] = field
        if name.startswith('changed_'):
            declared[name] = history.changed(
                '1.1',
                fields.StringField(nullable=field.nullable),
                field,
                up=json.loads,
                down=dumps,
            )
    for container in containers_of(row):
        declared[f'default_{container}'] = history.added(
            '1.1',
            CONTAINERS[container][0](
                row, fields, default=value(row, container)
            ),
        )
    if backwards:
        declared = dict(reversed(declared.items()))
    return declared


def dumps(primitive: Any) -> str:
    """Convert a value to the older type, a text."""
    return json.dumps(primitive, sort_keys=True)


@dataclasses.dataclass(frozen=True)
class Types:
    """The types that have the fields of a row.

    :ivar plain: the fields in a class of oslo.versionedobjects
    :ivar outer: has the resource in each container; its versions are those
        of the resource
    """

    request: Any
    resource: Any
    outer: Any
    list_: Any
    plain: Any


def register_types(name: str, row: Row, *, backwards: bool = False) -> Types:
    """Register the types of a row, named after its class."""
    options = {'VERSION': '1.1', 'VERSION_MAP': {'1.1': '1.1'}}

    def declare(base: type, suffix: str, **attributes: Any) -> Any:
        return vobjects.register(
            type(f'{name}{suffix}', (base,), {**options, **attributes})
        )

    declared = declared_fields(row, backwards=backwards)
    resource = declare(vobjects.Resource, 'Resource', fields=declared)
    inner = f'{name}Resource'
    nested = {
        'one': fields.ObjectField(inner, nullable=True),
        'many': fields.ListOfObjectsField(inner, default=[]),
        'by_key': fields.Field(fields.Dict(fields.List(fields.Object(inner)))),
    }
    return Types(
        declare(vobjects.Request, 'Request', fields=declared),
        resource,
        declare(
            vobjects.Resource,
            'Outer',
            fields=nested,
            obj_relationships={
                key: [('1.0', '1.0'), ('1.1', '1.1')] for key in nested
            },
        ),
        vobjects.register(
            type(
                f'{name}List',
                (objects.ObjectListBase, vobjects.Resource),
                {
                    **options,
                    'fields': {'objects': fields.ListOfObjectsField(inner)},
                    'child_versions': {'1.0': '1.0', '1.1': '1.1'},
                },
            )
        ),
        ovo_base.VersionedObjectRegistry.register(
            type(
                f'{name}Plain',
                (ovo_base.VersionedObject,),
                {'fields': fields_of(row, _OvoFields())},
            )
        ),
    )


class _OvoFields:
    """Field classes of oslo.versionedobjects, and ours that it lacks."""

    def __getattr__(self, name: str) -> Any:
        return getattr(ovo_fields, name, None) or getattr(fields, name)


def field_classes() -> Iterator[str]:
    """Yield the names of the field classes of vobjects.fields."""
    for name in sorted(set(fields.__all__)):
        cls = getattr(fields, name)
        if isinstance(cls, type) and issubclass(cls, ovo_fields.Field):
            yield name


def field_types() -> Iterator[type]:
    """Yield the field types of vobjects.fields."""
    for name in sorted(set(fields.__all__)):
        cls = getattr(fields, name)
        if isinstance(cls, type) and issubclass(cls, ovo_fields.FieldType):
            yield cls


def register_collections(*, backwards: bool) -> None:
    """Register a type declared with sets, and with dicts in some order."""
    words = ['x', 'y', 'z', 'ä', 'B']
    keys = words[::-1] if backwards else words
    pairs = dict.fromkeys(keys, frozenset(words))
    text_lists = fields.Dict(fields.List(fields.String()))
    vobjects.register(
        type(
            'Collections',
            (vobjects.Request,),
            {
                'fields': {
                    'enum': fields.EnumField(set(words)),
                    'enums': fields.ListOfEnumField(set(words)),
                    'any': fields.AnyCaseEnumField(frozenset('XYZ')),
                    'sort': fields.SortField(set(words)),
                    'inner': fields.Field(fields.List(fields.Enum({*words}))),
                    'json': fields.JsonField(
                        default={key: dict.fromkeys(keys, 1) for key in keys}
                    ),
                    'texts': fields.DictOfStringsField(
                        default=dict.fromkeys(keys, 'x')
                    ),
                    'set': fields.SetOfStringsField(default=frozenset(words)),
                    'list': fields.ListOfStringsField(default=set(words)),
                    'lists': fields.Field(text_lists, default=pairs),
                    'sets': fields.Field(
                        fields.Dict(fields.Set(fields.String())),
                        default=pairs,
                    ),
                    'identities': fields.IdentityListField(default=set(words)),
                }
            },
        )
    )


def stable_lines(*, backwards: bool) -> Iterator[tuple[str, str]]:
    """Yield all that must depend neither on the hash seed nor on the order."""
    from vobjects.lock import registries, samples, snapshot, text
    from vobjects.microversions import schema
    from vobjects.rpc import serializer
    from vobjects.versions import Version

    registry = ovo_base.VersionedObjectRegistry()._obj_classes
    registry.clear()
    register_collections(backwards=backwards)
    rows = list(ROWS.items())
    for name, row in reversed(rows) if backwards else rows:
        types = register_types(name, row, backwards=backwards)
        resource = types.resource(**values(row))
        resource.obj_reset_changes()
        names = sorted(schema.all_field_names(types.request))
        for microversion in (Version(1, 0), Version(1, 1)):
            body = schema.body_schema(types.request, microversion, names)
            yield name, json.dumps(body, sort_keys=True)
        yield name, dumps(json.loads(serializer.to_bytes(resource, None)))
        for cls in (types.request, types.resource):
            for primitive in samples.primitives(cls, registries.newest):
                yield name, dumps(primitive)
    classes = [cls for versions in registry.values() for cls in versions]
    yield 'lock', text.dump(snapshot.of_classes(classes))
    checker = fixture.ObjectVersionChecker(registry)
    for name, fingerprint in sorted(checker.get_hashes().items()):
        if not name.endswith('Plain'):
            yield name, fingerprint


if __name__ == '__main__':
    import sys

    for line in stable_lines(backwards=sys.argv[1:] == ['backwards']):
        sys.stdout.write(' '.join(line) + '\n')
