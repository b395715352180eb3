# SPDX-License-Identifier: Apache-2.0
"""Values of fields: their defaults, and the objects in them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from oslo_versionedobjects import fields as _ovo
from oslo_versionedobjects.fields import UnspecifiedDefault

from vobjects import field_corrections


def default_primitive(name: str, field: _ovo.Field[Any]) -> Any:
    """Return a field's default as a primitive.

    :returns: ``UnspecifiedDefault`` of oslo.versionedobjects if there is none
    :raises ValueError: the field rejects its default; field types may raise
        other errors
    """
    if field.default is UnspecifiedDefault:
        return UnspecifiedDefault
    if field.default is None and field.nullable:
        return None
    # Neither call uses the object for the field types that can have a
    # default, but only coerce() is annotated to accept None.
    owner: Any = None
    value = field.coerce(owner, name, copy.deepcopy(field.default))
    return field.to_primitive(owner, name, value)


def equal_primitives(value: Any, other: Any) -> bool:
    """Compare primitives; unlike in Python, ``True`` is not equal to ``1``.

    The primitive of a set is a tuple, and a list after JSON.
    """
    containers = (dict, list, tuple)
    if isinstance(value, containers) and isinstance(other, containers):
        order_key = field_corrections.order_key
        return order_key(value) == order_key(other)
    return type(value) is type(other) and bool(value == other)


def types_in(field_type: Any) -> Iterator[Any]:
    """Yield a field type and the types of its items, at any depth."""
    while field_type is not None:
        yield field_type
        element = getattr(field_type, '_element_type', None)
        field_type = getattr(element, '_type', None)


def holds_objects(field_type: Any) -> bool:
    """Tell whether values of a field type contain objects."""
    return object_type(field_type) is not None


def object_type(field_type: Any) -> Any:
    """Return the type of the objects in values of a field type, if any."""
    return next(
        (t for t in types_in(field_type) if isinstance(t, _ovo.Object)), None
    )


def objects_in(field_type: Any, value: Any) -> Iterator[Any]:
    """Yield the objects in a value of a field, in any container.

    :param value: as an attribute or as a primitive
    """
    if value is None:
        return
    if isinstance(field_type, _ovo.Object):
        yield value
    elif isinstance(field_type, _ovo.Dict):
        for item in value.values():
            yield from objects_in(field_type._element_type._type, item)
    elif isinstance(field_type, (_ovo.List, _ovo.Set)):
        for item in in_order_of_primitives(value):
            yield from objects_in(field_type._element_type._type, item)


def in_order_of_primitives(items: Iterable[Any]) -> Iterable[Any]:
    """Return the items of a list or set in the order of their primitives."""
    if not isinstance(items, (set, frozenset)):
        return items
    return sorted(
        items,
        key=lambda item: field_corrections.order_key(
            item.obj_to_primitive()
            if hasattr(item, 'obj_to_primitive')
            else item
        ),
    )


#: Path of a value: names of fields, indices of lists and keys of dicts.
Path = tuple[str | int, ...]


def map_objects(
    field_type: Any,
    value: Any,
    function: Callable[[Any, Any, Path], Any],
    path: Path = (),
) -> Any:
    """Return a value with the result of a function for each object in it.

    Sets become lists.

    :param value: as a primitive or as JSON data
    :param function: called with the field type, the value and the path of
        each object
    :param path: path of ``value``
    """
    if value is None:
        return None
    if isinstance(field_type, _ovo.Object):
        return function(field_type, value, path)
    if isinstance(field_type, _ovo.Dict):
        inner = field_type._element_type._type
        return {
            key: map_objects(inner, item, function, (*path, key))
            for key, item in value.items()
        }
    if isinstance(field_type, (_ovo.List, _ovo.Set)):
        inner = field_type._element_type._type
        return [
            map_objects(inner, item, function, (*path, index))
            for index, item in enumerate(value)
        ]
    return value
