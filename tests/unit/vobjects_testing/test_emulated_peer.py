# SPDX-License-Identifier: Apache-2.0
"""Peers that are built from a lock with few types."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

import vobjects_testing
from tests.unit.vobjects.lock.factories import (
    TODAY,
    ovo_class,
    released_lock,
    vobjects_type,
)
from vobjects import exceptions, fields, objects
from vobjects.lock import edit, snapshot, text
from vobjects.lock.model import Lock
from vobjects.objects import manifest
from vobjects.objects.history import added, changed, removed, renamed
from vobjects_testing import emulate
from vobjects_testing.emulated_peer import EmulatedPeer

pytestmark = pytest.mark.usefixtures('registry')


def thing_with_history(
    parent: type[objects.Object] = objects.Object,
) -> type[objects.Object]:
    """Return a type that has renamed, added, changed and dropped fields."""
    return vobjects_type(
        version='1.4',
        parent=parent,
        version_map={f'1.{minor + 1}': f'1.{minor}' for minor in range(1, 5)},
        size_gb=renamed('1.1', 'size', fields.IntegerField()),
        kind=added('1.2', fields.StringField(default='disk')),
        speed=changed(
            '1.3',
            fields.StringField(nullable=True),
            fields.IntegerField(nullable=True),
            up=int,
            down=str,
        ),
        legacy=removed(
            '1.4', fields.StringField(nullable=True), dropped='1.4'
        ),
    )


def primitive_of(version: str, **data: Any) -> dict[str, Any]:
    return {
        'versioned_object.name': 'Thing',
        'versioned_object.namespace': 'versionedobjects',
        'versioned_object.version': version,
        'versioned_object.data': data,
    }


@pytest.mark.parametrize(
    ('version', 'data', 'kind'),
    [
        ('1.0', {'size': 7, 'speed': '3'}, 'disk'),
        ('1.1', {'size_gb': 7, 'speed': '3'}, 'disk'),
        ('1.3', {'size_gb': 7, 'speed': 3, 'kind': 'tape'}, 'tape'),
        ('1.4', {'size_gb': 7, 'speed': 3, 'kind': 'tape'}, 'tape'),
    ],
)
def test_older_version_is_read_by_the_declared_history(
    version: str, data: dict[str, Any], kind: str
) -> None:
    peer = EmulatedPeer(released_lock(thing_with_history()))

    thing: Any = peer.read(primitive_of(version, **data))

    assert thing.VERSION == '1.4'
    assert (thing.size_gb, thing.speed) == (7, 3)
    assert 'legacy' not in thing.fields
    assert thing.kind == kind


@pytest.mark.parametrize(
    ('version', 'data', 'field'),
    [
        ('1.0', {'size_gb': 7}, 'size_gb'),
        ('1.1', {'size': 7}, 'size'),
        ('1.1', {'size_gb': 7, 'kind': 'disk'}, 'kind'),
        ('1.4', {'size_gb': 7, 'legacy': 'x'}, 'legacy'),
    ],
)
def test_field_that_the_stated_version_lacks_is_rejected(
    version: str, data: dict[str, Any], field: str
) -> None:
    peer = EmulatedPeer(released_lock(thing_with_history()))

    with pytest.raises(exceptions.UnknownField) as caught:
        peer.read(primitive_of(version, **data))

    assert (caught.value.field, caught.value.version) == (field, version)


def test_value_of_an_older_version_that_the_type_dropped_is_rejected() -> None:
    peer = EmulatedPeer(released_lock(thing_with_history()))

    with pytest.raises(exceptions.LossyDowngrade) as caught:
        peer.read(primitive_of('1.3', size_gb=7, legacy='x'))

    assert caught.value.field == 'legacy'
    resource = thing_with_history(objects.Resource)
    lenient = EmulatedPeer(released_lock(resource))
    thing: Any = lenient.read(primitive_of('1.3', size_gb=7, legacy='x'))
    assert thing.size_gb == 7


def test_older_version_when_the_process_lacks_the_type_keeps_its_version() -> (
    None
):
    peer = EmulatedPeer(released_lock(thing_with_history()))
    ovo_base.VersionedObjectRegistry()._obj_classes.clear()

    thing: Any = peer.read(primitive_of('1.0', size=7))

    assert (thing.VERSION, thing.size) == ('1.0', 7)


def test_older_version_of_a_type_without_history_has_the_newest_fields() -> (
    None
):
    first = ovo_class(a=fields.StringField())
    lock = released_lock(first)

    def convert(self: Any, primitive: dict[str, Any], target: str) -> None:
        if target == '1.0':
            primitive.pop('b', None)

    second = ovo_class(
        '1.1',
        {'obj_make_compatible': convert},
        a=fields.StringField(),
        b=fields.StringField(nullable=True),
    )
    code = snapshot.of_classes([second], known=lock)
    lock = edit.release(edit.update(lock, code, TODAY), '2', code)

    thing: Any = EmulatedPeer(lock).read(primitive_of('1.0', a='x'))

    assert (thing.VERSION, thing.a) == ('1.1', 'x')


# Types of other packages


def lock_with_imports(*imports: str) -> Lock:
    return dataclasses.replace(
        released_lock(ovo_class(a=fields.StringField())), imports=imports
    )


def foreign_class(module: str) -> type[ovo_base.VersionedObject]:
    """Register a type that is not in the lock."""
    body = {
        'fields': {'mac': ovo_fields.StringField()},
        '__module__': module,
    }
    cls = type('Interface', (ovo_base.VersionedObject,), body)
    ovo_base.VersionedObjectRegistry.register(cls)
    return cls


def test_type_of_another_package_is_the_installed_one() -> None:
    peer = EmulatedPeer(lock_with_imports('shop.objects:register_all'))
    cls = foreign_class('os_vif.objects')

    assert peer.class_of('Interface') is cls
    assert peer.find('Interface') is cls
    read: Any = peer.read(cls(mac='m').obj_to_primitive())
    assert (type(read), read.mac) == (cls, 'm')


@pytest.mark.parametrize(
    ('imports', 'module'),
    [
        ((), 'os_vif.objects'),
        (('shop.objects',), 'shop.objects.late'),
        (('shop.objects',), '__main__'),
    ],
)
def test_type_that_the_release_lacks_is_unsupported(
    imports: tuple[str, ...], module: str
) -> None:
    peer = EmulatedPeer(lock_with_imports(*imports))
    cls = foreign_class(module)

    assert peer.find('Interface') is None
    with pytest.raises(ovo_exception.UnsupportedObjectError):
        peer.read(cls(mac='m').obj_to_primitive())


def test_type_in_the_lock_is_never_the_installed_one() -> None:
    lock = lock_with_imports('shop.objects')
    peer = EmulatedPeer(lock)

    assert peer.class_of('Thing') is peer.find('Thing')
    assert peer.class_of('Thing').__module__.endswith('emulated_peer')


def test_field_type_of_the_service_restricts_values_first() -> None:
    """Services have types of their own with the names of ours."""

    class Capacity(ovo_fields.Integer):
        def coerce(self, obj: Any, attr: str, value: Any) -> Any:
            if value > 9:
                raise ValueError(f'{attr} must be at most 9')
            return value

    cls = ovo_class(count=ovo_fields.Field(Capacity()))
    assert fields.Capacity is not Capacity
    peer = EmulatedPeer(released_lock(cls))

    with pytest.raises(ValueError, match='at most 9'):
        peer.read(primitive_of('1.0', count=10))


# emulate


@pytest.mark.parametrize('given', ['lock', 'path', 'default'])
def test_emulate_takes_a_lock_a_path_or_the_default(
    given: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = released_lock(thing_with_history(), release='3.0')
    file = tmp_path / 'vobjects.lock'
    file.write_text(text.dump(lock))
    monkeypatch.setattr(vobjects_testing, 'default_lock', file)
    argument = {'lock': lock, 'path': file, 'default': None}[given]

    with emulate('3.0', argument) as peer:
        assert peer.lock.releases == ('3.0',)
        assert manifest.local()['Thing'] == '1.4'


def test_emulate_restores_the_versions_after_an_error() -> None:
    lock = released_lock(thing_with_history(), release='3.0')
    before = manifest.local()

    with pytest.raises(ZeroDivisionError), emulate('3.0', lock):
        raise ZeroDivisionError

    assert manifest.local() == before
