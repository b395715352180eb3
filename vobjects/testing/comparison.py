# SPDX-License-Identifier: Apache-2.0
"""Compare an object with expected values.

``compare_obj`` of oslo.versionedobjects considers any two times equal.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from typing import Any

from vobjects import _threading  # isort: skip  # noqa: F401 - goes first
from oslo_versionedobjects import base as ovo_base

#: The value of a field that is not set.
UNSET = '<unset>'


def differences(
    obj: ovo_base.VersionedObject,
    expected: Mapping[str, Any] | ovo_base.VersionedObject,
    ignore: Collection[str] = (),
) -> dict[str, tuple[Any, Any]]:
    """Return the fields that differ, with their actual and expected values.

    :param obj: the object to compare
    :param expected: another object, or field name -> value; fields that it
        does not name must not be set
    :param ignore: names of fields that may differ
    :returns: field name -> (actual, expected); empty if all are equal. Times
        without a time zone are UTC
    """
    found = {}
    for name in sorted(obj.fields):
        if name in ignore:
            continue
        pair = (_value(obj, name), _value(expected, name))
        if not _same(*pair):
            found[name] = pair
    return found


def _value(
    source: Mapping[str, Any] | ovo_base.VersionedObject, name: str
) -> Any:
    if isinstance(source, Mapping):
        return source.get(name, UNSET)
    return getattr(source, name) if name in source else UNSET


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, ovo_base.VersionedObject):
        return isinstance(
            other, (Mapping, ovo_base.VersionedObject)
        ) and not differences(one, other)
    if isinstance(one, datetime.datetime) and isinstance(
        other, datetime.datetime
    ):
        return _in_utc(one) == _in_utc(other)
    if isinstance(one, list) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _same(one[key], other[key]) for key in one
        )
    return bool(one == other)


def _in_utc(at: datetime.datetime) -> datetime.datetime:
    if at.tzinfo is None:
        return at.replace(tzinfo=datetime.UTC)
    return at.astimezone(datetime.UTC)
