# SPDX-License-Identifier: Apache-2.0
"""The laws, broken in the ways that people break them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from oslo_utils import versionutils
from oslo_versionedobjects import base as ovo_base

from tests.unit.vobjects.lock.factories import (
    TODAY,
    ironic_class,
    ovo_class,
    released_lock,
    vobjects_type,
)
from vobjects import fields, objects
from vobjects.lock import edit, snapshot
from vobjects.lock.model import Lock
from vobjects.objects.history import added, changed, removed, renamed
from vobjects.testing import invariants

pytestmark = pytest.mark.usefixtures('registry')

Convert = Callable[[Any, dict[str, Any], str], None]


def below(target_version: str, version: tuple[int, int]) -> bool:
    found: tuple[int, ...] = versionutils.convert_version_to_tuple(
        target_version
    )
    return found < version


def versions(*classes: Any) -> Lock:
    """Return a lock with a release for each class, one after the other."""
    lock = released_lock(classes[0])
    for number, cls in enumerate(classes[1:], 2):
        code = snapshot.of_classes([cls], known=lock)
        lock = edit.update(lock, code, TODAY)
        lock = edit.release(lock, str(number), code)
    return lock


def cases(lock: Lock) -> Iterator[invariants.Case]:
    found = list(invariants.cases(lock))
    assert found
    yield from found


def check(lock: Lock) -> None:
    for case in cases(lock):
        case.check()


def broken(lock: Lock) -> str:
    """Return what is said of the first law that is broken."""
    with pytest.raises(invariants.InvariantViolated) as caught:
        check(lock)
    return str(caught.value)


def by_hand(convert: Convert) -> Lock:
    """Return the lock of a plain class that got a field and a conversion."""
    first = ovo_class(a=fields.StringField())
    second = ovo_class(
        version='1.1',
        body={'obj_make_compatible': convert},
        a=fields.StringField(),
        b=fields.StringField(nullable=True),
    )
    return versions(first, second)


def right(self: Any, primitive: dict[str, Any], target: str) -> None:
    ovo_base.VersionedObject.obj_make_compatible(self, primitive, target)
    if below(target, (1, 1)):
        primitive.pop('b', None)


def wrong_super(self: Any, primitive: dict[str, Any], target: str) -> None:
    super(objects.Request, self).obj_make_compatible(primitive, target)


def wrong_version(self: Any, primitive: dict[str, Any], target: str) -> None:
    """Compares with 1.0, which the field came after."""
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
    ('convert', 'said'),
    [
        (wrong_super, 'downgraded: Thing 1.0: obj_make_compatible raised'),
        (wrong_version, "UnknownField: Thing 1.0 has no field 'b'"),
        (envelope, "obj_make_compatible raised KeyError: 'versioned_object"),
        (forgotten, "UnknownField: Thing 1.0 has no field 'b'"),
        (too_much, "downgraded: Thing 1.0: the primitive has no field 'a'"),
    ],
)
def test_conversion_by_hand_that_is_wrong_is_named(
    convert: Convert, said: str
) -> None:
    assert said in broken(by_hand(convert))


@pytest.mark.parametrize('forgets', [False, True])
def test_conversion_of_ironic_is_tried_as_ironic_calls_it(
    forgets: bool,
) -> None:
    def convert(self: Any, target: str) -> None:
        said = self.obj_attr_is_set('b')
        if said and below(target, (1, 1)) and not forgets:
            delattr(self, 'b')

    lock = versions(
        ironic_class(a=fields.StringField()),
        ironic_class(
            version='1.1',
            body={
                '_convert_to_version': convert,
                'obj_make_compatible': right,
            },
            a=fields.StringField(),
            b=fields.StringField(nullable=True),
        ),
    )
    if forgets:
        assert "UnknownField: Thing 1.0 has no field 'b'" in broken(lock)
    else:
        check(lock)


@pytest.mark.parametrize(
    ('is_older', 'leaks'),
    [
        (lambda target: below(target, (1, 10)), False),
        # As text, 1.9 comes after 1.10.
        (lambda target: target < '1.10', True),
        # Of the version it is sent from, as if that was the receiver's.
        (lambda target: below('1.10', (1, 10)), True),
    ],
)
def test_versions_that_are_not_compared_as_numbers_are_named(
    is_older: Callable[[str], bool], leaks: bool
) -> None:
    def convert(self: Any, primitive: dict[str, Any], target: str) -> None:
        if is_older(target):
            primitive.pop('b', None)

    lock = versions(
        ovo_class(version='1.9', a=fields.StringField()),
        ovo_class(
            version='1.10',
            body={'obj_make_compatible': convert},
            a=fields.StringField(),
            b=fields.StringField(nullable=True),
        ),
    )
    if leaks:
        assert "UnknownField: Thing 1.9 has no field 'b'" in broken(lock)
    else:
        check(lock)


def test_conversion_by_hand_that_is_right_passes() -> None:
    check(by_hand(right))


def test_conversion_that_is_missing_is_named() -> None:
    first = ovo_class(a=fields.StringField())
    second = ovo_class(
        version='1.1',
        a=fields.StringField(),
        b=fields.StringField(nullable=True),
    )
    code = snapshot.of_classes([second])
    lock = released_lock(first)
    lock = dataclasses.replace(lock, schemas=lock.schemas + code.schemas)
    assert "has no field 'b'" in broken(lock)


def test_conversion_that_does_nothing_is_not_exercised() -> None:
    def nothing(self: Any, primitive: dict[str, Any], target: str) -> None:
        """Converts nothing."""

    first = ovo_class(a=fields.StringField())
    second = ovo_class(
        version='1.1',
        body={'obj_make_compatible': nothing},
        a=fields.StringField(),
    )
    said = broken(versions(first, second))
    assert said.startswith(
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
def test_declared_changes_all_happen(parent: type[objects.Object]) -> None:
    def whole(number: int) -> str:
        if not 0 <= number < 1000:
            raise ValueError('too much')
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
        f=removed('1.2', fields.StringField(default='')),
    )
    (oldest, *_rest) = list(cases(versions(good)))
    oldest.check()
    assert {str(one) for one in oldest.exercised} == {
        'added b',
        'renamed c to d',
        'changed e',
        'removed f',
    }


def test_conversion_that_loses_is_named() -> None:
    said = broken(versions(declared(objects.Request)))
    assert said.startswith("returned: Thing 1.0: 'e' was ")


def test_nested_types_are_said_at_the_version_of_the_release() -> None:
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


def test_golden_primitive_that_comes_back_otherwise_is_named() -> None:
    cls = vobjects_type(a=fields.StringField())
    primitive = cls(a='x').obj_to_primitive()
    invariants.check_golden(primitive, {'Thing': '1.0'})

    class Shouting(fields.String):
        def coerce(self, obj: Any, attr: str, value: Any) -> str:
            return str(value).upper()

    ovo_base.VersionedObjectRegistry()._obj_classes.clear()
    vobjects_type(a=fields.Field(Shouting()))
    with pytest.raises(AssertionError, match=r"changed \['a'\]"):
        invariants.check_golden(primitive, {'Thing': '1.0'})
