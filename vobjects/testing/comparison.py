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
    differing = {}
    for name in sorted(obj.fields):
        if name in ignore:
            continue
        pair = (_value(obj, name), _value(expected, name))
        if not _equal(*pair):
            differing[name] = pair
    return differing


def _value(
    source: Mapping[str, Any] | ovo_base.VersionedObject, name: str
) -> Any:
    if isinstance(source, Mapping):
        return source.get(name, UNSET)
    return getattr(source, name) if name in source else UNSET


def _equal(actual: Any, expected: Any) -> bool:
    if isinstance(actual, ovo_base.VersionedObject):
        return isinstance(
            expected, (Mapping, ovo_base.VersionedObject)
        ) and not differences(actual, expected)
    if isinstance(actual, datetime.datetime) and isinstance(
        expected, datetime.datetime
    ):
        return _in_utc(actual) == _in_utc(expected)
    if isinstance(actual, list) and isinstance(expected, (list, tuple)):
        return len(actual) == len(expected) and all(
            map(_equal, actual, expected)
        )
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(
            _equal(actual[key], expected[key]) for key in actual
        )
    return bool(actual == expected)


def _in_utc(at: datetime.datetime) -> datetime.datetime:
    if at.tzinfo is None:
        return at.replace(tzinfo=datetime.UTC)
    return at.astimezone(datetime.UTC)
