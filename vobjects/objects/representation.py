# SPDX-License-Identifier: Apache-2.0
"""Show objects for debugging: as a ``repr`` or as a plain dict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects import exceptions
from vobjects.sensitive import HIDDEN, is_sensitive

#: Length limit of a ``repr``, in characters; exceptions.MAX_VALUE_LENGTH
#: limits values.
LONGEST = 1000

#: Number of items of a list or a dict that are shown.
ITEMS = 3

#: The first of these fields that is set identifies a nested object.
IDENTITIES = ('id', 'uuid', 'name')


def as_dict(obj: ovo_base.VersionedObject) -> dict[str, Any]:
    """Return the fields that are set; see ``Object.as_dict``."""
    return {
        name: _plain(getattr(obj, name))
        for name in obj.fields
        if obj.obj_attr_is_set(name)
    }


def _plain(value: Any) -> Any:
    if isinstance(value, ovo_base.VersionedObject):
        return as_dict(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return set(value)
    return value


def represent(obj: ovo_base.VersionedObject) -> str:
    """Return type, version and the set fields, truncated."""
    shown = [_label(obj)]
    length = 0
    for name, field in obj.fields.items():
        held = obj.__dict__.get(f'_obj_{name}', represent)
        if held is represent:
            continue
        secret = held is not None and is_sensitive(field)
        shown.append(f'{name}={HIDDEN if secret else _cut(held)}')
        length += len(shown[-1]) + 1
        if length > LONGEST:
            shown.append('…')
            break
    return f'<{" ".join(shown)}>'


def _label(obj: ovo_base.VersionedObject) -> str:
    try:
        return f'{obj.obj_name()} {obj.VERSION}'
    except Exception:  # noqa: BLE001 - a log line must not fail for this
        return type(obj).__name__


def _cut(value: Any) -> str:
    try:
        text = _text(value)
    except Exception as error:  # noqa: BLE001 - as above
        return f'<{type(error).__name__} in repr>'
    limit = exceptions.MAX_VALUE_LENGTH
    return text if len(text) <= limit else text[: limit - 1] + '…'


def _text(value: Any) -> str:
    """Return a value as text, without visiting all of a large one."""
    if isinstance(value, ovo_base.VersionedObject):
        return _brief(value)
    if isinstance(value, (str, bytes)):
        return repr(value[: exceptions.MAX_VALUE_LENGTH])
    if isinstance(value, Mapping):
        pairs = (
            f'{_text(key)}: {_text(item)}'
            for key, item in _first(value.items())
        )
        return f'{{{_joined(pairs, len(value))}}}'
    if isinstance(value, (list, tuple)):
        # Slice, do not iterate: iterating makes all items of an unread list.
        return f'[{_joined(map(_text, value[:ITEMS]), len(value))}]'
    if isinstance(value, (set, frozenset)):
        return f'{{{_joined(map(_text, _first(value)), len(value))}}}'
    return repr(value)


def _first(items: Iterable[Any]) -> Iterable[Any]:
    for _, item in zip(range(ITEMS), items, strict=False):
        yield item


def _joined(texts: Iterable[str], size: int) -> str:
    more = [f'… {size} in all'] if size > ITEMS else []
    return ', '.join([*texts, *more])


def _brief(obj: ovo_base.VersionedObject) -> str:
    """Return the type, the version and the identity of an object."""
    for name in IDENTITIES:
        held = obj.__dict__.get(f'_obj_{name}')
        if held is not None and name in obj.fields:
            secret = is_sensitive(obj.fields[name])
            shown = HIDDEN if secret else _text(held)
            return f'<{_label(obj)} {name}={shown}>'
    return f'<{_label(obj)}>'
