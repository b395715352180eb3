# SPDX-License-Identifier: Apache-2.0
"""What types do, as data that can be compared."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fixture

from tests.adoption.random_objects import instance
from vobjects.lock import registries


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
    classes = registries.registered()
    manifest = {
        name: versions[0].VERSION
        for name, versions in classes.items()
        if versions
    }
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
    classes = registries.registered()
    found: dict[str, str] = fixture.ObjectVersionChecker(classes).get_hashes()
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
