# SPDX-License-Identifier: Apache-2.0
"""Pairs of types: of oslo.versionedobjects, and the same types compiled.

Each side has a separate registry (:func:`using`), so that names are equal.
"""

from __future__ import annotations

import contextlib
import datetime
import enum
import itertools
import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import netaddr
from hypothesis import strategies as st
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo

from vobjects.objects.adoption import adopt


class Text(str):
    """A subclass of str."""


class Colour(enum.StrEnum):
    RED = 'red'


class Upper(ovo.FieldType):
    """A field type that the codec does not know."""

    def coerce(self, obj: Any, attr: str, value: Any) -> Any:
        return value.upper()

    def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return [attr, value]

    def from_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return value[1]


class Traffic(ovo.StateMachine):
    ALLOWED_TRANSITIONS = {'red': {'green'}, 'green': {'red', 'off'}}

    def __init__(self, **options: Any) -> None:
        super().__init__(['red', 'green', 'off'], **options)


def declared_fields() -> dict[str, ovo.Field]:
    """Return a field of each type; :func:`build_side` adds objects."""
    return {
        'string': ovo.StringField(),
        'nullable': ovo.StringField(nullable=True),
        'defaulted': ovo.StringField(default='x'),
        'once': ovo.StringField(read_only=True),
        'sensitive': ovo.SensitiveStringField(),
        'predicate': ovo.VersionPredicateField(),
        'enum': ovo.EnumField(['red', 'green']),
        'traffic': Traffic(),
        'uuid': ovo.UUIDField(),
        'mac': ovo.MACAddressField(),
        'pci': ovo.PCIAddressField(),
        'integer': ovo.IntegerField(),
        'natural': ovo.NonNegativeIntegerField(),
        'float': ovo.FloatField(),
        'positive': ovo.NonNegativeFloatField(),
        'boolean': ovo.BooleanField(),
        'flexible': ovo.FlexibleBooleanField(nullable=True),
        'at': ovo.DateTimeField(nullable=True),
        'naive': ovo.DateTimeField(tzinfo_aware=False),
        'strings': ovo.ListOfStringsField(),
        'enums': ovo.ListOfEnumField(['red', 'green']),
        'uuids': ovo.ListOfUUIDField(),
        'integers': ovo.ListOfIntegersField(default=[1]),
        'dict': ovo.DictOfStringsField(),
        'nulls': ovo.DictOfNullableStringsField(),
        'numbers': ovo.DictOfIntegersField(nullable=True),
        'set': ovo.SetOfStringsField(),
        'integer_set': ovo.SetOfIntegersField(),
        'lists': ovo.ListOfListsOfStringsField(),
        'dicts': ovo.ListOfDictOfNullableStringsField(),
        'dict_of_lists': ovo.DictOfListOfStringsField(),
        'dict_of_sets': ovo.DictOfSetOfIntegersField(),
        'list_of_sets': ovo.ListOfSetsOfIntegersField(),
        'address': ovo.IPAddressField(),
        'v4': ovo.IPV4AddressField(),
        'v6': ovo.IPV6AddressField(),
        'either': ovo.IPV4AndV6AddressField(),
        'network': ovo.IPNetworkField(),
        'network4': ovo.IPV4NetworkField(),
        'network6': ovo.IPV6NetworkField(),
        'any': ovo.Field(ovo.FieldType(), nullable=True),
        'upper': ovo.Field(Upper()),
        'times': ovo.Field(ovo.List(ovo.DateTime()), nullable=True),
    }


class Side(NamedTuple):
    """The types of one side and their registry."""

    types: dict[str, Any]
    registry: dict[str, list[Any]]


def build_side(compiled: bool) -> Side:
    singleton = ovo_base.VersionedObjectRegistry()
    before = {k: list(v) for k, v in singleton._obj_classes.items()}
    singleton._obj_classes.clear()
    register = ovo_base.VersionedObjectRegistry.register

    class Root(ovo_base.VersionedObject):
        """Each side has a root, as Nova has NovaObject."""

    @register
    class Leaf(Root):
        VERSION = '1.2'
        fields = {
            'name': ovo.StringField(),
            'tag': ovo.StringField(nullable=True),
            # of a type whose loading is not compiled
            'upper': ovo.Field(Upper()),
        }

        def obj_make_compatible(self, primitive: Any, version: str) -> None:
            super().obj_make_compatible(primitive, version)
            if version in ('1.0', '1.1'):
                primitive.pop('tag', None)

    @register
    class LeafPlus(Leaf):
        VERSION = '1.3'
        fields = {'weight': ovo.IntegerField(default=0)}

    @register
    class LeafList(ovo_base.ObjectListBase, Root):
        VERSION = '1.1'
        fields = {'objects': ovo.ListOfObjectsField('Leaf')}
        child_versions = {'1.0': '1.1', '1.1': '1.2'}

    @register
    class Loader(ovo_base.VersionedObjectDictCompat, Root):
        """Loads what is missing, and says more of its changes."""

        fields = {'name': ovo.StringField(), 'size': ovo.IntegerField()}

        def obj_load_attr(self, name: str) -> None:
            setattr(self, name, {'name': 'loaded', 'size': 7}[name])

        def obj_what_changed(self) -> set[str]:
            return super().obj_what_changed() | {'size'}

    @register
    class Born(Leaf):
        """Sets a field in ``__init__``."""

        fields = {'size': ovo.IntegerField()}

        def __init__(self, *arguments: Any, **values: Any) -> None:
            super().__init__(*arguments, **values)
            if 'size' not in values:
                self.size = 3

        def obj_what_changed(self) -> set[str]:
            return super().obj_what_changed() | {'name'}

    @register
    class Tree(ovo_base.TimestampedObject, Root):
        VERSION = '1.4'
        obj_relationships = {
            'leaf': [('1.0', '1.0'), ('1.3', '1.1'), ('1.4', '1.2')],
            'row': [('1.2', '1.1'), ('1.4', '1.2')],
            'leaves': [('1.0', '1.0'), ('1.4', '1.1')],
            'loader': [('1.0', '1.0')],
        }
        fields = {
            'leaf': ovo.ObjectField('Leaf', nullable=True),
            'sub': ovo.Field(ovo.Object('Leaf', subclasses=True)),
            'row': ovo.ListOfObjectsField('Leaf', subclasses=True),
            'map': ovo.Field(ovo.Dict(ovo.Object('Leaf')), nullable=True),
            'leaves': ovo.ObjectField('LeafList'),
            'loader': ovo.ObjectField('Loader'),
        }

    @register
    class All(Root):
        VERSION = '1.5'
        fields = declared_fields()

    for name, field in All.fields.items():
        # One type a field too: it is then clear which one differs.
        register(type(f'Only_{name}', (Root,), {'fields': {name: field}}))
    if compiled:
        adopt(ovo_base.VersionedObjectRegistry)
    registry = {k: list(v) for k, v in singleton._obj_classes.items()}
    singleton._obj_classes.clear()
    singleton._obj_classes.update(before)
    types = {name: versions[0] for name, versions in registry.items()}
    return Side(types, registry)


PLAIN, COMPILED = build_side(compiled=False), build_side(compiled=True)
NAMES = tuple(declared_fields())


@contextlib.contextmanager
def using(side: Side) -> Iterator[dict[str, Any]]:
    """Register only the types of a side."""
    singleton = ovo_base.VersionedObjectRegistry()
    before = dict(singleton._obj_classes)
    singleton._obj_classes.clear()
    singleton._obj_classes.update(side.registry)
    try:
        yield side.types
    finally:
        singleton._obj_classes.clear()
        singleton._obj_classes.update(before)


# Values, as recipes: an object must be made anew on each side.


class Make(NamedTuple):
    """A recipe of an object: its type and keywords."""

    name: str
    values: dict[str, Any]
    clean: bool = False


def create(value: Any, types: dict[str, Any]) -> Any:
    """Return a value with objects in place of recipes."""
    if isinstance(value, Make):
        obj = types[value.name](**create(value.values, types))
        if value.clean:
            obj.obj_reset_changes()
        return obj
    if type(value) is dict:
        return {key: create(item, types) for key, item in value.items()}
    if type(value) is list:
        return [create(item, types) for item in value]
    return value


#: Times that oslo.versionedobjects reads back; test_ovo_differences.py has
#: others.
moments = st.datetimes(
    # Hypothesis wants them naive, and gives them a zone.
    min_value=datetime.datetime(1000, 1, 1),  # noqa: DTZ001
    max_value=datetime.datetime(9999, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([datetime.UTC, None]),
)
texts = st.text(max_size=6)
odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2**70),
    st.floats(),
    texts,
    st.binary(max_size=3),
    st.just(Text('subclass')),
    st.just(Colour.RED),
    st.just(uuid.UUID(int=1)),
    st.just(netaddr.IPAddress('10.0.0.1')),
    moments,
    st.lists(st.none() | texts | st.integers(), max_size=3),
    st.dictionaries(texts | st.integers(), st.none() | texts, max_size=2),
    st.sets(texts | st.integers(), max_size=3),
    st.tuples(texts),
    st.just(object),
)
uuids = st.uuids().map(str) | st.sampled_from(
    ['B0B1B2B3-0000-4000-8000-000000000000', 'not-one', 'a' * 32, '-' * 36]
)
addresses4 = st.ip_addresses(v=4).map(str)
addresses6 = st.ip_addresses(v=6).map(str)
counter = itertools.count()

_VALID: dict[str, st.SearchStrategy[Any]] = {
    'predicate': st.sampled_from(['>=1.0', '==2.1,<3.0', 'no']),
    'enum': st.sampled_from(['red', 'green', Colour.RED]),
    'traffic': st.sampled_from(['red', 'green', 'off']),
    'uuid': uuids,
    'mac': st.sampled_from(['00:11:22:aa:bb:cc', '00-11-22-AA-BB-CC']),
    'pci': st.sampled_from(['0000:02:00.0', '0000:02:00.A']),
    'integer': st.integers() | st.integers().map(str),
    'natural': st.integers(-1, 5),
    'float': st.floats(),
    'positive': st.floats(-1, 3),
    'boolean': st.booleans(),
    'flexible': st.sampled_from([True, 'yes', 'no', 'off', 1]),
    'at': moments | st.sampled_from(['2026-11-21T10:00:00Z', '2026-1-1']),
    'naive': moments,
    'strings': st.lists(texts, max_size=3),
    'enums': st.lists(st.sampled_from(['red', 'green']), max_size=3),
    'uuids': st.lists(uuids, max_size=2),
    'integers': st.lists(st.integers(), max_size=3),
    'dict': st.dictionaries(texts, texts, max_size=3),
    'nulls': st.dictionaries(texts, st.none() | texts, max_size=3),
    'numbers': st.dictionaries(texts, st.integers(), max_size=3),
    'set': st.sets(texts, max_size=3),
    'integer_set': st.sets(st.integers(), max_size=3),
    'lists': st.lists(st.lists(texts, max_size=2), max_size=2),
    'dicts': st.lists(
        st.dictionaries(texts, st.none() | texts, max_size=2), max_size=2
    ),
    'dict_of_lists': st.dictionaries(
        texts, st.lists(texts, max_size=2), max_size=2
    ),
    'dict_of_sets': st.dictionaries(
        texts, st.sets(st.integers(), max_size=2), max_size=2
    ),
    'list_of_sets': st.lists(st.sets(st.integers(), max_size=2), max_size=2),
    'address': addresses4 | addresses6,
    'v4': addresses4,
    'v6': addresses6,
    'either': addresses4 | addresses6,
    'network': addresses4.map(lambda a: a + '/24'),
    'network4': addresses4.map(lambda a: a + '/24'),
    'network6': addresses6.map(lambda a: a + '/64'),
    'any': odd_values,
    'upper': texts,
    'times': st.none() | st.lists(moments, max_size=2),
}


def valid_values(name: str) -> st.SearchStrategy[Any]:
    """Draw values that a field of :func:`declared_fields` mostly accepts."""
    return _VALID.get(name, texts)


def values(name: str) -> st.SearchStrategy[Any]:
    """Draw values, a quarter of them invalid or unusual."""
    return st.one_of(
        valid_values(name), valid_values(name), valid_values(name), odd_values
    )


leaves = st.builds(
    Make,
    st.sampled_from(['Leaf', 'LeafPlus']),
    st.fixed_dictionaries(
        {},
        optional={'name': texts, 'tag': st.none() | texts, 'upper': texts},
    ),
    st.booleans(),
)
plain_leaves = leaves.map(lambda leaf: leaf._replace(name='Leaf'))
loaders = st.builds(
    Make,
    st.just('Loader'),
    st.fixed_dictionaries({}, optional={'name': texts, 'size': st.integers()}),
    st.booleans(),
)
leaf_lists = st.builds(
    Make,
    st.just('LeafList'),
    st.fixed_dictionaries(
        {}, optional={'objects': st.lists(plain_leaves, max_size=3)}
    ),
    st.booleans(),
)
_CHILDREN: dict[str, st.SearchStrategy[Any]] = {
    'leaf': st.none() | leaves | loaders,
    'sub': leaves,
    'row': st.lists(leaves, max_size=3) | st.lists(odd_values, max_size=2),
    'map': st.dictionaries(texts, plain_leaves, max_size=2),
    'leaves': leaf_lists,
    'loader': loaders,
    'created_at': moments,
    'updated_at': st.none() | moments,
}
trees = st.builds(
    Make,
    st.just('Tree'),
    st.fixed_dictionaries({}, optional=_CHILDREN),
    st.booleans(),
)
alls = st.builds(
    Make,
    st.just('All'),
    st.fixed_dictionaries(
        {}, optional={name: valid_values(name) for name in NAMES}
    ),
    st.booleans(),
)


def comparable(value: Any, owner: Any = None) -> Any:
    """Return a value that can be compared with that of the other side."""
    if isinstance(value, ovo_base.VersionedObject):
        state = vars(value)
        return (
            'object',
            type(value).__name__,
            {
                key: comparable(item, value)
                for key, item in state.items()
                if key.startswith('_obj_')
            },
            set(state.get('_changed_fields', ())),
            state.get('VERSION'),
            state.get('_context'),
        )
    if isinstance(value, ovo.CoercedCollectionMixin):
        convert = {
            list: lambda: [comparable(item, owner) for item in value],
            dict: lambda: {k: comparable(v, owner) for k, v in value.items()},
            set: lambda: set(value),
        }
        kind = next(base for base in convert if isinstance(value, base))
        return (
            kind.__name__,
            convert[kind](),
            value._field,
            repr(value._element_type),
            value._obj is owner,
        )
    if type(value) is tuple:
        if len(value) == 3 and value[0] == 'error':
            return value
        # The primitive of a set has no defined order.
        return (
            'tuple',
            sorted((comparable(i, owner) for i in value), key=repr),
        )
    if type(value) is list:
        return [comparable(item, owner) for item in value]
    if type(value) is dict:
        return {key: comparable(item, owner) for key, item in value.items()}
    if isinstance(value, float) and value != value:
        return 'nan'
    return (type(value).__name__, value)


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or its error."""
    try:
        return comparable(call())
    except Exception as error:  # noqa: BLE001 - errors are compared too
        return ('error', type(error).__name__, str(error))
