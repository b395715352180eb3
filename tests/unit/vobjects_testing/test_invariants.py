# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from oslo_utils import versionutils
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields

from tests.unit.vobjects import field_table
from tests.unit.vobjects.lock.factories import (
    TODAY,
    ironic_class,
    ovo_class,
    released_lock,
    vobjects_type,
)
from vobjects import conversions, fields, objects
from vobjects.lock import edit, snapshot
from vobjects.lock.model import Lock
from vobjects.objects.history import added, changed, removed, renamed
from vobjects_testing import golden_checks, invariants, strategies

pytestmark = pytest.mark.usefixtures('registry')

Convert = Callable[[Any, dict[str, Any], str], None]

#: A primitive of Thing 1.0.
GOLDEN_THING = {
    'versioned_object.name': 'Thing',
    'versioned_object.namespace': 'versionedobjects',
    'versioned_object.version': '1.0',
    'versioned_object.data': {'a': 'x'},
}


def below(target_version: str, version: tuple[int, int]) -> bool:
    target: tuple[int, ...] = versionutils.convert_version_to_tuple(
        target_version
    )
    return target < version


def lock_of_versions(*classes: Any) -> Lock:
    """Return a lock with a release for each class, one after the other."""
    lock = released_lock(classes[0])
    for number, cls in enumerate(classes[1:], 2):
        code = snapshot.of_classes([cls], known=lock)
        lock = edit.update(lock, code, TODAY)
        lock = edit.release(lock, str(number), code)
    return lock


def cases_of(lock: Lock) -> Iterator[invariants.Case]:
    cases = list(invariants.cases(lock))
    assert cases
    yield from cases


def check(lock: Lock) -> None:
    for case in cases_of(lock):
        case.check()


def violation(lock: Lock) -> str:
    """Return the message of the first violation."""
    with pytest.raises(invariants.InvariantViolated) as caught:
        check(lock)
    return str(caught.value)


def by_hand(convert: Convert) -> Lock:
    """Return the lock of a class that got a field and a conversion."""

    def second(convert: Convert) -> Any:
        return ovo_class(
            version='1.1',
            body={'obj_make_compatible': convert},
            a=fields.StringField(),
            b=fields.StringField(nullable=True),
        )

    first = ovo_class(a=fields.StringField())
    lock = lock_of_versions(first, second(convert_correctly))
    # A wrong conversion would not be released, because the lock's rules
    # reject it. It replaces the released class.
    second(convert)
    return lock


def convert_correctly(
    self: Any, primitive: dict[str, Any], target: str
) -> None:
    ovo_base.VersionedObject.obj_make_compatible(self, primitive, target)
    if below(target, (1, 1)):
        primitive.pop('b', None)


def wrong_super(self: Any, primitive: dict[str, Any], target: str) -> None:
    super(objects.Request, self).obj_make_compatible(primitive, target)


def wrong_version(self: Any, primitive: dict[str, Any], target: str) -> None:
    """Compare with 1.0, although 1.1 adds the field."""
    if not below(target, (1, 0)):
        return
    primitive.pop('b', None)


def envelope(self: Any, primitive: dict[str, Any], target: str) -> None:
    primitive['versioned_object.data'].pop('b', None)


def forgotten(self: Any, primitive: dict[str, Any], target: str) -> None:
    primitive.get('versioned_object.data', {}).pop('b', None)


def too_much(self: Any, primitive: dict[str, Any], target: str) -> None:
    primitive.clear()


@pytest.mark.parametrize(
    ('convert', 'message'),
    [
        (wrong_super, 'downgraded: Thing 1.0: obj_make_compatible raised'),
        (wrong_version, "UnknownField: Thing 1.0 has no field 'b'"),
        (envelope, "obj_make_compatible raised KeyError: 'versioned_object"),
        (forgotten, "UnknownField: Thing 1.0 has no field 'b'"),
        (too_much, "downgraded: Thing 1.0: the primitive has no field 'a'"),
    ],
)
def test_check_when_conversion_is_wrong_fails(
    convert: Convert, message: str
) -> None:
    assert message in violation(by_hand(convert))


@pytest.mark.parametrize('forgets', [False, True])
def test_check_of_ironic_class_calls_its_conversion(
    forgets: bool,
) -> None:
    def convert(self: Any, target: str) -> None:
        if self.obj_attr_is_set('b') and below(target, (1, 1)):
            delattr(self, 'b')

    def second(convert: Callable[[Any, str], None]) -> Any:
        return ironic_class(
            version='1.1',
            body={
                '_convert_to_version': convert,
                'obj_make_compatible': convert_correctly,
            },
            a=fields.StringField(),
            b=fields.StringField(nullable=True),
        )

    first = ironic_class(a=fields.StringField())
    lock = lock_of_versions(first, second(convert))
    if forgets:
        second(lambda self, target: None)
    if forgets:
        assert "UnknownField: Thing 1.0 has no field 'b'" in violation(lock)
    else:
        check(lock)


@pytest.mark.parametrize(
    ('is_older', 'leaks'),
    [
        (lambda target: below(target, (1, 10)), False),
        # As text, 1.9 is greater than 1.10.
        (lambda target: target < '1.10', True),
        # Compares the version of the sender.
        (lambda target: below('1.10', (1, 10)), True),
    ],
)
def test_check_when_versions_are_compared_as_text_fails(
    is_older: Callable[[str], bool], leaks: bool
) -> None:
    def second(is_older: Callable[[str], bool]) -> Any:
        def convert(self: Any, primitive: dict[str, Any], target: str) -> None:
            if is_older(target):
                primitive.pop('b', None)

        return ovo_class(
            version='1.10',
            body={'obj_make_compatible': convert},
            a=fields.StringField(),
            b=fields.StringField(nullable=True),
        )

    first = ovo_class(version='1.9', a=fields.StringField())
    lock = lock_of_versions(
        first, second(lambda target: below(target, (1, 10)))
    )
    second(is_older)
    if leaks:
        assert "UnknownField: Thing 1.9 has no field 'b'" in violation(lock)
    else:
        check(lock)


def test_check_when_conversion_is_correct_passes() -> None:
    check(by_hand(convert_correctly))


def test_check_when_conversion_is_missing_fails() -> None:
    first = ovo_class(a=fields.StringField())
    second = ovo_class(
        version='1.1',
        a=fields.StringField(),
        b=fields.StringField(nullable=True),
    )
    code = snapshot.of_classes([second])
    lock = released_lock(first)
    lock = dataclasses.replace(lock, schemas=lock.schemas + code.schemas)
    assert "has no field 'b'" in violation(lock)


@pytest.mark.parametrize('make', [ovo_class, vobjects_type])
def test_check_when_fields_are_sets_passes(make: Callable[..., Any]) -> None:
    inner = make(numbers=fields.SetOfIntegersField())
    check(released_lock(inner))
    case = next(cases_of(released_lock(inner)))
    case.check_instance(inner(numbers={7, 1, 300}))


@pytest.mark.parametrize('name', sorted(field_table.ROWS))
def test_strategy_of_each_field_class_has_values(name: str) -> None:
    for field in field_table.fields_of(field_table.ROWS[name]).values():
        assert not strategies.of_type(field._type).is_empty


class NumberedField(fields.FieldType[dict[int, str]]):
    """A mapping with numbers as keys, which JSON turns into strings."""

    def coerce(self, obj: Any, attr: str, value: Any) -> dict[int, str]:
        if isinstance(value, dict) and value:
            return {1: 'x'}
        raise ValueError


def test_check_when_json_changes_a_value_names_the_field_and_both_values() -> (
    None
):
    lock = released_lock(
        ovo_class(a=fields.StringField(), pairs=fields.Field(NumberedField()))
    )
    assert violation(lock) == (
        "wire: Thing 1.0: 'pairs.1' was 'x' and became <unset>"
    )


def test_check_when_the_field_is_exempt_checks_the_others() -> None:
    exempt = {'wire Thing.pairs': 'read back by number'}
    lock = released_lock(
        ovo_class(a=fields.StringField(), pairs=fields.Field(NumberedField()))
    )
    case = next(cases_of(lock))
    case.exempt = exempt
    case.check()

    lossy = next(cases_of(by_hand(too_much)))
    lossy.exempt = {'downgraded Thing.b': 'another field'}
    with pytest.raises(invariants.InvariantViolated, match="no field 'a'"):
        lossy.check()


def test_check_when_older_conversion_does_not_concern_a_version_passes() -> (
    None
):
    first = ovo_class(a=fields.StringField())
    second, third = (
        ovo_class(
            version=version,
            body={'obj_make_compatible': convert_correctly},
            a=fields.StringField(),
            b=fields.StringField(nullable=True),
        )
        for version in ('1.1', '1.2')
    )
    check(lock_of_versions(first, second, third))


def test_check_when_conversion_does_nothing_reports_it() -> None:
    def convert(self: Any, primitive: dict[str, Any], target: str) -> None:
        """Converts nothing."""

    first = ovo_class(a=fields.StringField())
    second = ovo_class(
        version='1.1',
        body={'obj_make_compatible': convert},
        a=fields.StringField(),
    )
    message = violation(lock_of_versions(first, second))
    assert message.startswith(
        'exercised: Thing 1.0: no instance exercised "by-hand"'
    )


def declared(parent: type[objects.Object]) -> Any:
    return vobjects_type(
        version='1.4',
        parent=parent,
        version_map={
            '1.1': '1.1',
            '1.2': '1.2',
            '1.3': '1.3',
            '1.10': '1.4',
        },
        a=fields.StringField(),
        b=added('1.1', fields.ListOfStringsField(default=[])),
        d=renamed('1.2', 'c', fields.UUIDField(nullable=True)),
        e=changed(
            '1.3',
            fields.StringField(),
            fields.IntegerField(),
            up=lambda text: len(text),
            down=lambda number: 'x' * (number % 7),
        ),
        f=removed('1.4', fields.StringField(default='')),
    )


@pytest.mark.parametrize('parent', [objects.Request, objects.Resource])
def test_check_exercises_all_declared_changes(
    parent: type[objects.Object],
) -> None:
    def whole(number: int) -> str:
        if not 0 <= number < 1000:
            raise ValueError('out of range')
        return 'x' * number

    good = vobjects_type(
        version='1.2',
        parent=parent,
        version_map={'1.1': '1.1', '1.10': '1.2'},
        a=fields.StringField(),
        b=added('1.1', fields.ListOfStringsField(default=[])),
        d=renamed('1.2', 'c', fields.UUIDField(nullable=True)),
        e=changed(
            '1.2',
            fields.StringField(),
            fields.IntegerField(),
            up=len,
            down=whole,
        ),
        f=removed('1.2', fields.StringField(default=''), dropped='1.2'),
        h=renamed('1.2', 'g', added('1.1', fields.StringField(default=''))),
    )
    (oldest, *_rest) = list(cases_of(lock_of_versions(good)))
    oldest.check()
    assert {str(change) for change in oldest.exercised} == {
        'added b',
        'renamed c to d',
        'changed e by functions; loss unknown',
        'removed f',
        'added g',
        'renamed g to h',
    }


@pytest.mark.parametrize('parent', [objects.Request, objects.Resource])
@pytest.mark.parametrize(
    ('released', 'declared'),
    [
        (
            fields.StringField(default='x'),
            lambda old: changed('1.1', old, fields.StringField(default='y')),
        ),
        (
            fields.StringField(nullable=True),
            lambda old: changed('1.1', old, fields.StringField(), missing='x'),
        ),
        (
            fields.StringField(default='x'),
            lambda old: removed('1.1', old),
        ),
    ],
    ids=['default', 'missing', 'removed'],
)
def test_check_when_reading_fills_a_field_of_a_nested_object_passes(
    parent: Any, released: Any, declared: Any
) -> None:
    def register(field: Any, **later: Any) -> list[Any]:
        things = fields.Field(fields.Dict(fields.Object('Thing')))
        body = {'fields': {'things': things}}
        outer = objects.register(type('Outer', (parent,), body))
        return [vobjects_type(a=field, **later), outer]

    lock = released_lock(*register(released))
    ovo_base.VersionedObjectRegistry()._obj_classes.clear()
    later = {'version': '1.1', 'version_map': {'1.1': '1.1'}}
    code = snapshot.of_classes(
        register(declared(released), **later), known=lock
    )
    for case in cases_of(edit.update(lock, code, TODAY)):
        case.check(examples=20)


def test_check_when_a_plain_class_loses_a_field_names_it() -> None:
    def convert(self: Any, primitive: dict[str, Any], target: str) -> None:
        primitive.pop('a', None)

    optional = fields.StringField(nullable=True)
    lock = lock_of_versions(ovo_class(a=optional))
    ovo_class(body={'obj_make_compatible': convert}, a=optional)
    assert violation(lock) == (
        "returned: Thing 1.0: 'a' was 'text' and became <unset>"
    )


def test_check_when_conversion_loses_data_fails() -> None:
    message = violation(lock_of_versions(declared(objects.Request)))
    assert message.startswith("returned: Thing 1.0: 'e' was ")


def test_check_when_a_nested_object_loses_a_field_exercises_the_outer() -> (
    None
):
    def declare(version: str, **new: Any) -> list[Any]:
        ovo_base.VersionedObjectRegistry()._obj_classes.clear()
        inner = {'x': fields.StringField(), **new}
        outer = fields.ObjectField('Inner')
        if new:
            outer = changed(
                '1.1',
                outer,
                fields.ListOfObjectsField('Inner'),
                by=conversions.wrap(),
            )
        body = {'VERSION': version}
        return [
            objects.register(type(name, (objects.Object,), {**body, **own}))
            for name, own in (
                ('Inner', {'fields': inner}),
                ('Outer', {'fields': {'one': outer}}),
            )
        ]

    code = snapshot.of_classes(declare('1.0'))
    lock = edit.release(edit.update(Lock(), code, TODAY), '1', code)
    new = added('1.1', fields.StringField(nullable=True))
    code = snapshot.of_classes(declare('1.1', y=new), known=lock)
    check(edit.update(lock, code, TODAY))


def test_check_sends_nested_types_at_versions_of_the_release() -> None:
    inner = vobjects_type(x=fields.StringField())
    inner.__name__ = 'Inner'
    ovo_base.VersionedObjectRegistry()._obj_classes.clear()
    objects.register(inner)
    outer = vobjects_type(
        parent=objects.Resource,
        one=fields.ObjectField('Inner', nullable=True),
        many=fields.ListOfObjectsField('Inner', default=[]),
    )
    code = snapshot.of_classes([inner, outer])
    lock = edit.release(edit.update(Lock(), code, TODAY), '1', code)
    newer = vobjects_type(
        version='1.1',
        x=fields.StringField(),
        y=added('1.1', fields.StringField(nullable=True)),
    )
    newer.__name__ = 'Inner'
    objects.register(newer)
    code = snapshot.of_classes([newer, outer], known=lock)
    lock = edit.release(edit.update(lock, code, TODAY), '2', code)
    check(lock)


@pytest.mark.parametrize(
    ('module', 'accepted'),
    [('os_vif.objects.vif', True), ('tests.later', False)],
)
def test_nested_type_outside_the_lock_when_of_other_package_is_accepted(
    module: str, accepted: bool
) -> None:
    """A lock has the types of the packages that it imports only."""
    nested = type(
        'VIFBase',
        (ovo_base.VersionedObject,),
        {'fields': {'id': fields.StringField()}, '__module__': module},
    )
    ovo_base.VersionedObjectRegistry.register(nested)
    thing = ovo_class(vif=fields.ObjectField('VIFBase'))
    lock = dataclasses.replace(released_lock(thing), imports=('tests.unit',))
    if accepted:
        check(lock)
    else:
        assert 'Unsupported object type VIFBase' in violation(lock)


def test_check_when_a_service_cannot_read_a_type_only_converts_it() -> None:
    """A class with a required argument is sent, but never read."""

    def init(self: Any, reason: str = '') -> None:
        assert reason
        ovo_base.VersionedObject.__init__(self)

    def second(convert: Convert) -> Any:
        return ovo_class(
            version='1.1',
            body={'__init__': init, 'obj_make_compatible': convert},
            a=fields.StringField(),
            b=fields.StringField(nullable=True),
        )

    first = ovo_class(body={'__init__': init}, a=fields.StringField())
    lock = lock_of_versions(first, second(convert_correctly))
    check(lock)
    golden_checks.check(GOLDEN_THING, {'Thing': '1.0'})
    second(wrong_version)
    assert "UnknownField: Thing 1.0 has no field 'b'" in violation(lock)


def test_check_when_reading_requires_a_context_passes() -> None:
    """Tacker's classes override the method, without a default."""

    def read(cls: Any, primitive: Any, context: Any) -> Any:
        thing: Any = super(cls, cls)
        return thing.obj_from_primitive(primitive, context)

    body = {'obj_from_primitive': classmethod(read)}
    lock = released_lock(ovo_class(body=body, a=fields.StringField()))
    check(lock)
    golden_checks.check(GOLDEN_THING, {'Thing': '1.0'})


def test_cases_when_ironic_cannot_read_a_type_omit_it() -> None:
    """Its conversion needs a copy, which needs the arguments of the class."""

    def init(self: Any, node: Any) -> None:
        raise AssertionError

    lock = released_lock(
        ironic_class(body={'__init__': init}, a=fields.StringField())
    )
    assert not list(invariants.cases(lock))


@pytest.mark.parametrize(
    ('error', 'accepted'), [(ValueError, True), (KeyError, False)]
)
def test_check_when_a_conversion_refuses_new_data_omits_it(
    error: type[Exception], accepted: bool
) -> None:
    def convert(self: Any, primitive: dict[str, Any], target: str) -> None:
        if below(target, (1, 1)) and (
            primitive.pop('b', None) or primitive['color'] == 'yellow'
        ):
            raise error

    def second(convert: Convert) -> Any:
        return ovo_class(
            version='1.1',
            body={'obj_make_compatible': convert},
            color=fields.EnumField(valid_values=['red', 'yellow']),
            b=fields.StringField(nullable=True),
        )

    first = ovo_class(color=fields.EnumField(valid_values=['red']))
    lock = released_lock(first)
    second(convert)
    if accepted:
        check(lock)
    else:
        assert 'obj_make_compatible raised KeyError' in violation(lock)


def test_check_when_a_service_extends_object_fields_nests_objects() -> None:
    class AnyObject(ovo_fields.Object):
        def coerce(self, obj: Any, attr: str, value: Any) -> Any:
            if not isinstance(value, ovo_base.VersionedObject):
                raise ValueError('not an object')
            return value

    nested = type(
        'Inner',
        (ovo_base.VersionedObject,),
        {'fields': {'id': fields.StringField()}},
    )
    ovo_base.VersionedObjectRegistry.register(nested)
    thing = ovo_class(inner=ovo_fields.Field(AnyObject('Inner')))
    lock = released_lock(nested, thing)
    check(lock)


def test_check_when_a_class_requires_an_exempt_field_stops() -> None:
    """Some classes cannot be converted unless a field is set."""

    def convert(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.obj_attr_is_set('a'):
            raise LookupError('a is not loaded')
        return ovo_base.VersionedObject.obj_to_primitive(self, *args, **kwargs)

    first = ovo_class(b=fields.StringField())
    lock = released_lock(first)
    ovo_class(
        body={'obj_to_primitive': convert},
        a=fields.StringField(),
        b=fields.StringField(),
    )
    (case,) = cases_of(lock)
    case.exempt = {'downgraded Thing.a': 'known'}
    case.check()
    case.exempt = {}
    with pytest.raises(invariants.InvariantViolated, match="has no field 'a'"):
        case.check()


def test_check_when_a_field_class_validates_does_not_invent_its_values() -> (
    None
):
    """The lock does not record which values such a class accepts."""

    class PortField(ovo_fields.IntegerField):
        def coerce(self, obj: Any, attr: str, value: Any) -> Any:
            if value != 40:
                raise ValueError('not 40')
            return value

    class Event(ovo_fields.String):
        def __init__(self, values: list[str]) -> None:
            self._values = values

        def coerce(self, obj: Any, attr: str, value: Any) -> str:
            if value not in self._values:
                raise ValueError(f'not in {self._values}')
            return str(value)

    inner = ovo_class(
        port=PortField(),
        a=fields.StringField(),
        event=ovo_fields.Field(Event(['ALL'])),
    )
    outer = type(
        'Outer',
        (ovo_base.VersionedObject,),
        {'fields': {'things': ovo_fields.ListOfObjectsField('Thing')}},
    )
    ovo_base.VersionedObjectRegistry.register(outer)
    check(released_lock(inner, outer))
