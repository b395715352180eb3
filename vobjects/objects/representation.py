# SPDX-License-Identifier: Apache-2.0
"""Show objects for debugging: as a ``repr`` or as a plain dict."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects import exceptions
from vobjects.sensitive import HIDDEN, is_sensitive

#: Length limit of a ``repr``, in characters; exceptions.MAX_VALUE_LENGTH
#: limits values.
MAX_LENGTH = 1000

#: Number of items of a list or a dict that are shown.
MAX_ITEMS = 3

#: The first of these fields that is set identifies a nested object.
IDENTITY_FIELDS = ('id', 'uuid', 'name')


def as_dict(obj: ovo_base.VersionedObject) -> dict[str, Any]:
    """Return the fields that are set; see ``Object.as_dict``."""
    return {
        name: _to_builtin(getattr(obj, name))
        for name in obj.fields
        if obj.obj_attr_is_set(name)
    }


def _to_builtin(value: Any) -> Any:
    if isinstance(value, ovo_base.VersionedObject):
        return as_dict(value)
    if isinstance(value, Mapping):
        return {key: _to_builtin(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_builtin(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return set(value)
    return value


def object_repr(obj: ovo_base.VersionedObject) -> str:
    """Return type, version and the set fields, truncated."""
    parts = [_type_label(obj)]
    length = 0
    for name, field in obj.fields.items():
        value = obj.__dict__.get(f'_obj_{name}', object_repr)
        if value is object_repr:
            continue
        secret = value is not None and is_sensitive(field)
        parts.append(f'{name}={HIDDEN if secret else _short_repr(value)}')
        length += len(parts[-1]) + 1
        if length > MAX_LENGTH:
            parts.append('…')
            break
    return f'<{" ".join(parts)}>'


def _type_label(obj: ovo_base.VersionedObject) -> str:
    try:
        return f'{obj.obj_name()} {obj.VERSION}'
    except Exception:  # noqa: BLE001 - a log line must not fail for this
        return type(obj).__name__


def _short_repr(value: Any) -> str:
    try:
        text = _value_repr(value)
    except Exception as error:  # noqa: BLE001 - as above
        return f'<{type(error).__name__} in repr>'
    return exceptions.cut_text(text)


def _value_repr(value: Any) -> str:
    """Return a value as text, without visiting all of a large one."""
    if isinstance(value, ovo_base.VersionedObject):
        return _identity_repr(value)
    if isinstance(value, (str, bytes)):
        return repr(value[: exceptions.MAX_VALUE_LENGTH])
    if isinstance(value, Mapping):
        pairs = (
            f'{_value_repr(key)}: {_value_repr(item)}'
            for key, item in itertools.islice(value.items(), MAX_ITEMS)
        )
        return f'{{{_joined(pairs, len(value))}}}'
    if isinstance(value, (list, tuple)):
        # Slice, do not iterate: iterating creates all pending objects.
        return f'[{_joined(map(_value_repr, value[:MAX_ITEMS]), len(value))}]'
    if isinstance(value, (set, frozenset)):
        items = itertools.islice(value, MAX_ITEMS)
        return f'{{{_joined(map(_value_repr, items), len(value))}}}'
    return repr(value)


def _joined(texts: Iterable[str], size: int) -> str:
    more = [f'… {size} in all'] if size > MAX_ITEMS else []
    return ', '.join([*texts, *more])


def _identity_repr(obj: ovo_base.VersionedObject) -> str:
    """Return the type, the version and the identity of an object."""
    for name in IDENTITY_FIELDS:
        value = obj.__dict__.get(f'_obj_{name}')
        if value is not None and name in obj.fields:
            secret = is_sensitive(obj.fields[name])
            text = HIDDEN if secret else _value_repr(value)
            return f'<{_type_label(obj)} {name}={text}>'
    return f'<{_type_label(obj)}>'
