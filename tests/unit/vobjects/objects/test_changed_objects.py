# SPDX-License-Identifier: Apache-2.0
"""Fields that change between scalars and objects, on every path."""

from __future__ import annotations

import json
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, fields, objects
from vobjects.objects.codec import list_decoding
from vobjects.objects.history import added, changed, removed, renamed
from vobjects.objects.object import Object
from vobjects.rpc import serializer

DATA = 'versioned_object.data'
CHANGES = 'versioned_object.changes'


@objects.register
class Span(objects.Object):
    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.0', '1.2': '1.1'}
    fields = {
        'amount': renamed('1.1', 'size', fields.IntegerField()),
        'unit': added('1.1', fields.StringField(default='minutes')),
    }


@objects.register
class Range(objects.Object):
    VERSION_MAP = {'1.1': '1.0'}
    fields = {'end': fields.IntegerField()}


def span(amount: int) -> Any:
    return Span(amount=amount).obj_to_primitive()


def amount_of(primitive: Any) -> Any:
    return primitive[DATA]['amount']


def range_of(primitive: Any) -> Any:
    return Range(end=amount_of(primitive)).obj_to_primitive()


def span_of(primitive: Any) -> Any:
    return span(primitive[DATA]['end'])


def each(function: Any) -> Any:
    return lambda items: [function(item) for item in items]


def each_value(function: Any) -> Any:
    return lambda items: {k: function(v) for k, v in items.items()}


def objects_of(cls: str) -> Any:
    return fields.ObjectField(cls, nullable=True)


INTEGER = fields.IntegerField(nullable=True)

#: name -> (field of 1.0, field of 1.1, up, down, new value, old data)
PAIRS: dict[str, Any] = {
    'scalar to object': (
        *(INTEGER, objects_of('Span'), span, amount_of),
        *(lambda: Span(amount=5), 5),
    ),
    'object to scalar': (
        *(objects_of('Span'), INTEGER, amount_of, span),
        *(lambda: 5, {'size': 5}),
    ),
    'scalar to list': (
        *(INTEGER, fields.ListOfIntegersField(nullable=True)),
        *(lambda n: [n], lambda items: items[0], lambda: [5], 5),
    ),
    'list to scalar': (
        *(fields.ListOfIntegersField(nullable=True), INTEGER),
        *(lambda items: items[0], lambda n: [n], lambda: 5, [5]),
    ),
    'scalars to objects': (
        fields.ListOfIntegersField(nullable=True),
        fields.ListOfObjectsField('Span', nullable=True),
        *(each(span), each(amount_of), lambda: [Span(amount=5)], [5]),
    ),
    'objects to scalars': (
        fields.ListOfObjectsField('Span', nullable=True),
        fields.ListOfIntegersField(nullable=True),
        *(each(amount_of), each(span), lambda: [5], [{'size': 5}]),
    ),
    'dict of objects': (
        fields.DictOfIntegersField(nullable=True),
        fields.Field(
            ovo_fields.Dict(ovo_fields.Object('Span')), nullable=True
        ),
        each_value(span),
        each_value(amount_of),
        *(lambda: {'a': Span(amount=5)}, {'a': 5}),
    ),
    'object to another': (
        *(objects_of('Span'), objects_of('Range'), range_of, span_of),
        *(lambda: Range(end=5), {'size': 5}),
    ),
}


def _root(base: type, field: Any, name: str) -> Any:
    return objects.register(
        type(
            name,
            (base,),
            {
                'VERSION': '1.3',
                'VERSION_MAP': {'1.3': '1.3'},
                'NO_FIELD_CHANGES': {'1.3': 'for the test'},
                'fields': {'value': field},
            },
        )
    )


ROOTS: dict[tuple[str, str], Any] = {}
for _number, (_pair, (_old, _new, _up, _down, *_)) in enumerate(PAIRS.items()):
    for _base in (objects.Request, objects.Resource):
        ROOTS[_pair, _base.__name__] = _root(
            _base,
            renamed(
                '1.2', 'val', changed('1.1', _old, _new, up=_up, down=_down)
            ),
            f'Pair{_number}{_base.__name__}',
        )


@objects.register
class Holder(objects.Resource):
    """Holds any resource, alone and in a list."""

    fields = {
        'one': fields.ObjectField('Object', subclasses=True, nullable=True),
        'many': fields.ListOfObjectsField(
            'Object', subclasses=True, nullable=True
        ),
    }


def stripped(value: Any) -> Any:
    """Return the data of primitives at any depth."""
    if isinstance(value, list):
        return [stripped(item) for item in value]
    if isinstance(value, dict):
        data = value.get(DATA, value)
        return {key: stripped(item) for key, item in data.items()}
    return value


@pytest.mark.parametrize('root', ['Request', 'Resource'])
@pytest.mark.parametrize('pair', PAIRS)
def test_changed_field_converts_on_every_path(pair: str, root: str) -> None:
    cls = ROOTS[pair, root]
    value, old = PAIRS[pair][-2:]
    name = cls.obj_name()
    obj = cls(value=value())
    versions = {name: '1.0', 'Span': '1.0', 'Holder': '1.0'}
    expected = {'val': old}

    def hand_written(self: Any, data: Any, version: str) -> None:
        Object.obj_make_compatible(self, data, version)

    def check() -> None:
        wire = serializer.to_wire(obj, versions)
        assert stripped(wire) == expected
        assert wire[CHANGES] == ['val']
        assert json.loads(serializer.to_bytes(obj, versions)) == wire
        assert objects.to_json(obj, versions) == expected
        assert objects.to_json_list([obj], versions) == [expected]
        held = Holder(one=obj, many=[obj])
        assert objects.to_json(held, versions) == {
            'one': expected,
            'many': [expected],
        }
        back = cls.obj_from_primitive(wire)
        assert stripped(back.obj_to_primitive()) == stripped(
            obj.obj_to_primitive()
        )
        if pair != 'object to scalar':
            newest = objects.to_json(
                obj, {**versions, name: '1.3', 'Range': '1.0'}
            )
            assert newest['value'] is not None

    check()
    cls.obj_make_compatible = hand_written
    try:
        check()
    finally:
        del cls.obj_make_compatible


@pytest.mark.parametrize('pair', PAIRS)
def test_rows_and_null_convert_like_objects(pair: str) -> None:
    cls = ROOTS[pair, 'Resource']
    versions = {cls.obj_name(): '1.0', 'Span': '1.0', 'Range': '1.0'}
    rows = [
        cls(value=PAIRS[pair][-2]()).obj_to_primitive()[DATA]['value'],
        None,
    ]
    lazy = list_decoding.from_columns(cls, {'value': rows})
    assert objects.to_json_list(lazy, versions) == [
        {'val': PAIRS[pair][-1]},
        {'val': None},
    ]


def test_error_of_a_converter_other_than_value_error_is_raised() -> None:
    def fail(_: Any) -> Any:
        raise failure

    failure: Exception
    cls = _root(
        objects.Resource,
        changed(
            '1.1', INTEGER, fields.JsonField(nullable=True), up=fail, down=fail
        ),
        'FailingResource',
    )
    old = {'FailingResource': '1.0'}
    lazy = list_decoding.from_columns(cls, {'value': [{}]})
    sends = [
        lambda: serializer.to_bytes(cls(value={}), old),
        lambda: objects.to_json(cls(value={}), old),
        lambda: objects.to_json_list(lazy, old),
        lambda: serializer.to_wire([cls(value={})], old),
        lambda: cls(value={}).obj_to_primitive('1.0'),
        lambda: objects.to_json(
            Holder(one=cls(value={})), {**old, 'Holder': '1.0'}
        ),
    ]
    for error in (KeyError, TypeError, AttributeError, ZeroDivisionError):
        failure = error('typo')
        for send in sends:
            with pytest.raises(error) as caught:
                send()
            assert 'down= of value, changed in 1.1' in str(
                caught.value.__notes__
            )
    failure = ValueError('documented')
    for send in sends:
        send()


def test_null_of_a_request_is_lost_only_where_it_is_no_default(
    registry: None,
) -> None:
    @objects.register
    class Update(objects.Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.1': '1.1'}
        fields = {
            'note': added('1.1', fields.StringField(nullable=True)),
            'more': added(
                '1.1', fields.StringField(nullable=True, default=None)
            ),
            'size': changed(
                '1.1',
                fields.IntegerField(default=1),
                fields.IntegerField(nullable=True, default=1),
                up=int,
                down=int,
            ),
        }

    for name in ('note', 'size'):
        assert getattr(Update(), name) is None
        assert not Update().obj_attr_is_set(name)
        with pytest.raises(exceptions.LossyDowngrade, match=name):
            Update(**{name: None}).obj_to_primitive('1.0')
    assert Update(more=None).obj_to_primitive('1.0')[DATA] == {}
    with pytest.raises(NotImplementedError, match=r'Span\.amount is not set'):
        _ = Span().amount


def hours(number: int) -> Any:
    return Span(amount=number, unit='hours').obj_to_primitive()


TIMER = {
    'VERSION': '1.1',
    'VERSION_MAP': {'1.1': '1.0', '1.2': '1.1'},
    'fields': {
        'span': changed(
            '1.1', objects_of('Span'), INTEGER, up=amount_of, down=hours
        )
    },
}
TimerRequest: Any = objects.register(
    type('TimerRequest', (objects.Request,), dict(TIMER))
)
TimerAnswer: Any = objects.register(
    type('TimerAnswer', (objects.Resource,), dict(TIMER))
)


def test_loss_in_an_object_of_a_converter_is_refused_in_requests() -> None:
    manifest = dict.fromkeys(['TimerRequest', 'TimerAnswer', 'Span'], '1.0')
    answer = TimerAnswer(span=5).obj_to_primitive(version_manifest=manifest)
    assert answer[DATA]['span'][DATA] == {'size': 5}
    with pytest.raises(exceptions.LossyDowngrade, match=r'Span\.unit'):
        TimerRequest(span=5).obj_to_primitive(version_manifest=manifest)


@objects.register
class Disks(ovo_base.ObjectListBase, objects.Object):
    VERSION = '1.1'
    NO_FIELD_CHANGES = {'1.1': 'for the test'}
    child_versions = {'1.0': '1.0', '1.1': '1.1'}
    fields = {'objects': fields.ListOfObjectsField('Span')}


@objects.register
class Rack(objects.Object):
    VERSION = '1.1'
    NO_FIELD_CHANGES = {'1.1': 'for the test'}
    obj_relationships = {
        'one': [('1.0', '1.0'), ('1.1', '1.1')],
        'disks': [('1.0', '1.0'), ('1.1', '1.1')],
    }
    fields = {
        'label': fields.StringField(),
        'one': fields.ObjectField('Span'),
        'disks': fields.ObjectField('Disks'),
    }


def test_changes_of_nested_objects_have_the_names_of_their_version() -> None:
    rack = Rack(
        label='a',
        one=Span(amount=1, unit='minutes'),
        disks=Disks(objects=[Span(amount=2, unit='minutes')]),
    )
    versions = {'Rack': '1.0', 'Disks': '1.0', 'Span': '1.0'}
    for primitive in (
        rack.obj_to_primitive('1.0'),
        rack.obj_to_primitive(version_manifest=versions),
        json.loads(serializer.to_bytes(rack, versions)),
    ):
        data = primitive[DATA]
        assert data['one'][CHANGES] == ['size']
        (item,) = data['disks'][DATA]['objects']
        assert item[CHANGES] == ['size']
        assert Rack.obj_from_primitive(primitive).one.obj_what_changed() == {
            'amount'
        }


SETS: dict[str, tuple[Any, Any]] = {
    'set': (fields.SetOfStringsField, {'b', 'a'}),
    'list of sets': (fields.ListOfSetsOfIntegersField, [{2, 1}]),
    'dict of sets': (fields.DictOfSetOfIntegersField, {'k': {2, 1}}),
}


@pytest.mark.parametrize('root', [objects.Request, objects.Object])
@pytest.mark.parametrize('name', SETS)
def test_default_set_of_a_field_without_a_peer_is_no_loss(
    registry: None, name: str, root: Any
) -> None:
    make, default = SETS[name]

    @objects.register
    class Tagged(root):  # type: ignore[misc]
        VERSION = '1.2'
        VERSION_MAP = {'1.1': '1.1', '1.2': '1.2'}
        fields = {
            'old': removed('1.1', make(default=default), dropped='1.1'),
            'new': added('1.2', make(default=default)),
        }

    older = Tagged(new=default).obj_to_primitive('1.1')
    assert older[DATA] == {}
    oldest = json.loads(
        json.dumps(Tagged(new=default).obj_to_primitive('1.0'))
    )
    assert oldest[DATA].keys() == {'old'}
    read = Tagged.obj_from_primitive(oldest)
    assert read.new == default
    written = read.obj_to_primitive('1.0')
    assert json.loads(json.dumps(written))[DATA] == oldest[DATA]
