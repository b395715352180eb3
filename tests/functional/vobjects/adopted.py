# SPDX-License-Identifier: Apache-2.0
"""Adopt the object tree of an existing service and compare (a script).

    python -m venv nova && nova/bin/pip install nova orjson
    nova/bin/pip install --no-deps --editable .
    nova/bin/python -m tests.functional.vobjects.adopted nova

An environment of its own, because services pin what others cannot use.
Every registered type is filled with values, then carried to primitives at
each of its versions, read again, cloned and asked for changes: first as the
service has it, then adopted. The results must be equal, and so must the
fingerprints be, also to those that the service's own tests recorded, where
its package ships them. Exit status 1 when anything differs.
"""

from __future__ import annotations

import datetime
import importlib
import json
import random
import statistics
import sys
import timeit
import uuid
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from vobjects.adopt import adopt
from vobjects.codec.compiled import compiled

from oslo_versionedobjects import base as ovo_base  # isort: skip - after ours
from oslo_versionedobjects import fields as ovo
from oslo_versionedobjects import fixture


class Service(NamedTuple):
    """Where a service has its objects.

    :ivar load: imports and registers all of them
    :ivar recorded: module and name of the fingerprints its tests recorded
    """

    load: Callable[[], Any]
    recorded: tuple[str, str] | None = None


def _nova() -> Any:
    from nova import objects

    objects.register_all()


def _ironic() -> Any:
    from ironic import objects

    objects.register_all()


def _cinder() -> Any:
    from cinder import objects

    objects.register_all()


def _magnum() -> Any:
    importlib.import_module('magnum.objects')


SERVICES = {
    'nova': Service(
        _nova, ('nova.tests.unit.objects.test_objects', 'object_data')
    ),
    'ironic': Service(
        _ironic,
        (
            'ironic.tests.unit.objects.test_objects',
            'expected_object_fingerprints',
        ),
    ),
    'cinder': Service(
        _cinder, ('cinder.tests.unit.objects.test_objects', 'object_data')
    ),
    'magnum': Service(
        _magnum, ('magnum.tests.unit.objects.test_objects', 'object_data')
    ),
}

NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)

#: Tried in turn until the field takes one.
CANDIDATES: tuple[Callable[[random.Random], Any], ...] = (
    lambda rng: str(uuid.UUID(int=rng.getrandbits(128))),
    lambda rng: rng.randrange(1, 1000),
    lambda rng: NOW,
    lambda rng: '10.0.0.1',
    lambda rng: 'fe80::1',
    lambda rng: '10.0.0.0/24',
    lambda rng: 'fe80::/64',
    lambda rng: '00:11:22:33:44:55',
    lambda rng: '0000:02:00.0',
    lambda rng: '>=1.0',
    lambda rng: {'key': str(rng.random())},
    lambda rng: {'key': rng.randrange(9)},
    lambda rng: ['one', 'two'],
    lambda rng: [1, 2],
    lambda rng: {1, 2},
    lambda rng: {'a', 'b'},
    lambda rng: {'key': ['a']},
    lambda rng: [{'a': 'b'}],
    lambda rng: [['a']],
    lambda rng: [{1}],
    lambda rng: {},
    lambda rng: [],
    lambda rng: set(),
)


def value_of(
    field: ovo.Field, name: str, rng: random.Random, depth: int
) -> Any:
    """Return a value that a field takes; None: none was found."""
    kind: Any = field._type
    if isinstance(kind, ovo.Object):
        return instance(kind._obj_name, rng, depth - 1)
    if isinstance(kind, ovo.List) and isinstance(
        kind._element_type._type, ovo.Object
    ):
        inner = kind._element_type._type._obj_name
        items = [instance(inner, rng, depth - 1) for _ in range(2)]
        return None if None in items else items
    if isinstance(kind, ovo.Enum):
        return rng.choice(sorted(kind.valid_values, key=str))
    if isinstance(kind, ovo.Boolean):
        return rng.random() < 0.5
    for make in CANDIDATES:
        value = make(rng)
        try:
            field.coerce(None, name, value)
        except Exception:  # noqa: BLE001 - whatever a service raises
            continue
        return value
    return None


def instance(name: str, rng: random.Random, depth: int) -> Any:
    """Return a filled object of a type; None where that is too deep."""
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    if depth < 0 or not classes.get(name):
        return None
    obj = classes[name][0]()
    for key, field in obj.fields.items():
        if rng.random() < 0.15:
            continue
        value = value_of(field, key, rng, depth)
        if value is None and not field.nullable:
            continue
        try:
            setattr(obj, key, value)
        except Exception:  # noqa: BLE001 - compared by what is left
            continue
    if rng.random() < 0.3:
        obj.obj_reset_changes()
    return obj


def versions_of(cls: Any) -> Iterator[str]:
    major, minor = cls.VERSION.split('.')[:2]
    for number in range(int(minor) + 1):
        yield f'{major}.{number}'


def attempt(call: Callable[[], Any]) -> Any:
    try:
        return normal(call())
    except Exception as error:  # noqa: BLE001 - errors are compared too
        return f'{type(error).__name__}: {error}'


def normal(value: Any) -> Any:
    """Return JSON data; what has an order by chance is sorted."""
    if isinstance(value, ovo_base.VersionedObject):
        return [
            type(value).__name__,
            value.VERSION,
            sorted(value._changed_fields),
            normal(value.obj_to_primitive()),
        ]
    if isinstance(value, dict):
        return {
            str(key): sorted(item)
            if str(key).endswith('.changes')
            else normal(item)
            for key, item in value.items()
        }
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(map(normal, value), key=repr)
    if isinstance(value, list):
        return list(map(normal, value))
    return value if isinstance(value, (int, float, type(None))) else str(value)


def observe(seeds: int) -> dict[str, Any]:
    """Return what every type does, with the same values at each call."""
    seen: dict[str, Any] = {}
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    for name in sorted(classes):
        for seed in range(seeds):
            obj = instance(name, random.Random(f'{name} {seed}'), depth=2)
            cls = type(obj)
            key = f'{name} {seed}'
            seen[key] = {
                'itself': attempt(lambda obj=obj: obj),
                'changed': attempt(obj.obj_what_changed),
                'clone': attempt(obj.obj_clone),
                'repr': attempt(lambda obj=obj: repr(obj)),
            }
            manifest = dict(ovo_base.obj_tree_get_versions(name))
            for version in versions_of(cls):
                for how in (None, manifest):
                    seen[key][f'{version} {how is None}'] = attempt(
                        lambda obj=obj, version=version, how=how: (
                            obj.obj_to_primitive(version, how)
                        )
                    )
            seen[key]['again'] = attempt(
                lambda obj=obj, cls=cls: cls.obj_from_primitive(
                    json.loads(json.dumps(obj.obj_to_primitive()))
                )
            )
    return seen


def fingerprints() -> dict[str, str]:
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    found: dict[str, str] = fixture.ObjectVersionChecker(classes).get_hashes()
    return found


def times() -> dict[str, dict[str, float]]:
    """Return microseconds of each operation on each type."""
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    found: dict[str, dict[str, float]] = {}
    for name in sorted(classes):
        obj = instance(name, random.Random(name), depth=2)
        try:
            primitive = obj.obj_to_primitive()
            type(obj).obj_from_primitive(primitive)
        except Exception:  # noqa: BLE001 - nothing to time
            continue
        calls: dict[str, Callable[[], Any]] = {
            'to_primitive': obj.obj_to_primitive,
            'from_primitive': lambda obj=obj, primitive=primitive: type(
                obj
            ).obj_from_primitive(primitive),
            'clone': obj.obj_clone,
            'what_changed': obj.obj_what_changed,
        }
        found[name] = {
            what: min(timeit.repeat(call, number=10, repeat=5)) / 10 * 1e6
            for what, call in calls.items()
        }
    return found


def path_to(one: Any, other: Any) -> str:
    """Return where two results differ first, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return f' keys {sorted(one.keys() ^ other.keys())}'
        pairs: Any = [(key, one[key], other[key]) for key in one]
    elif (
        isinstance(one, list)
        and isinstance(other, list)
        and len(one) == len(other)
    ):
        pairs = [
            (n, a, b) for n, (a, b) in enumerate(zip(one, other, strict=True))
        ]
    else:
        return f' {str(one)[:300]} | {str(other)[:300]}'
    for key, a, b in pairs:
        if a != b:
            return f'/{key}{path_to(a, b)}'
    return ''


def recorded(service: Service) -> dict[str, str] | None:
    """Return the fingerprints of the service's own tests, if shipped."""
    if service.recorded is None:
        return None
    module, name = service.recorded
    try:
        found: dict[str, str] = getattr(importlib.import_module(module), name)
    except Exception as error:  # noqa: BLE001 - its tests may need anything
        sys.stdout.write(f'recorded fingerprints: not here ({error})\n')
        return None
    return found


def main() -> int:
    """Compare and print."""
    warnings.simplefilter('ignore')
    service = SERVICES[sys.argv[1]]
    service.load()
    said = sys.stdout.write
    before, prints, took = observe(4), fingerprints(), times()
    adopted = adopt(ovo_base.VersionedObjectRegistry)
    after, prints_after, took_after = observe(4), fingerprints(), times()
    wrong = [key for key in before if before[key] != after[key]]
    for key in wrong[:10]:
        for what, value in before[key].items():
            if after[key][what] != value:
                said(f'{key}, {what}: {path_to(value, after[key][what])}\n')
    outcomes = [value for seen in before.values() for value in seen.values()]
    errors = sum(
        isinstance(value, str) and ': ' in value for value in outcomes
    )
    said(
        f'{len(adopted)} classes, {len(before)} objects, {len(outcomes)}'
        f' outcomes compared ({errors} of them errors), {len(wrong)} objects'
        ' differ\n'
    )
    full = sum(compiled(cls).may_nest() for cls in adopted)
    said(f'{full} of the classes are compiled in full\n')
    same = prints == prints_after
    said(f'fingerprints: {"the same" if same else "DIFFERENT"}\n')
    known = recorded(service)
    if known is not None:
        others = {k: v for k, v in prints_after.items() if known.get(k) != v}
        said(f'differ from the recorded ones: {others or "none"}\n')
        same = same and not others
    for what in ('to_primitive', 'from_primitive', 'clone', 'what_changed'):
        ratios = [took[n][what] / took_after[n][what] for n in took_after]
        said(
            f'{what:<15} median {statistics.median(ratios):5.1f}x, least'
            f' {min(ratios):4.1f}x, of {len(ratios)} types\n'
        )
    return 0 if same and not wrong else 1


if __name__ == '__main__':
    sys.exit(main())
