# SPDX-License-Identifier: Apache-2.0
"""Behaviour of types, as comparable data."""

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
        return comparable(call())
    except Exception as error:  # noqa: BLE001 - errors are compared too
        return f'{type(error).__name__}: {error}'


def comparable(value: Any) -> Any:
    """Return JSON data with unordered items sorted."""
    if isinstance(value, ovo_base.VersionedObject):
        return [
            type(value).__name__,
            value.VERSION,
            sorted(value._changed_fields),
            comparable(value.obj_to_primitive()),
        ]
    if isinstance(value, dict):
        return {
            str(key): sorted(item)
            if str(key).endswith('.changes')
            else comparable(item)
            for key, item in value.items()
        }
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(map(comparable, value), key=repr)
    if isinstance(value, list):
        return list(map(comparable, value))
    return value if isinstance(value, (int, float, type(None))) else str(value)


def observe(seeds: int) -> dict[str, Any]:
    """Return the results of every type, with the same values at each call."""
    results: dict[str, Any] = {}
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
            results[key] = {
                'itself': attempt(lambda obj=obj: obj),
                'changed': attempt(obj.obj_what_changed),
                'clone': attempt(obj.obj_clone),
                'repr': attempt(lambda obj=obj: repr(obj)),
            }
            for version in versions_of(cls):
                for versions in (None, manifest):
                    results[key][f'{version} {versions is None}'] = attempt(
                        lambda obj=obj, version=version, versions=versions: (
                            obj.obj_to_primitive(version, versions)
                        )
                    )
            results[key]['again'] = attempt(
                lambda obj=obj, cls=cls: cls.obj_from_primitive(
                    json.loads(json.dumps(obj.obj_to_primitive()))
                )
            )
    return results


def fingerprints() -> dict[str, str]:
    classes = registries.registered()
    hashes: dict[str, str] = fixture.ObjectVersionChecker(classes).get_hashes()
    return hashes


def path_to(left: Any, right: Any) -> str:
    """Return the path and the values of the first difference."""
    if isinstance(left, dict) and isinstance(right, dict):
        if left.keys() != right.keys():
            return f' keys {sorted(left.keys() ^ right.keys())}'
        pairs: Any = [(key, left[key], right[key]) for key in left]
    elif (
        isinstance(left, list)
        and isinstance(right, list)
        and len(left) == len(right)
    ):
        pairs = [
            (n, a, b) for n, (a, b) in enumerate(zip(left, right, strict=True))
        ]
    else:
        return f' {str(left)[:300]} | {str(right)[:300]}'
    for key, a, b in pairs:
        if a != b:
            return f'/{key}{path_to(a, b)}'
    return ''
