# SPDX-License-Identifier: Apache-2.0
"""Objects inside the bodies of requests.

A field may hold an object, or a list or dict of objects. In a body, each is a
JSON object with the fields that its type has at the microversion of the
request, without the envelope of oslo.versionedobjects::

    {"name": "web", "disks": [{"size": 10}, {"size": 20}]}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from oslo_versionedobjects import fields as ovo_fields

if TYPE_CHECKING:
    # Needed for annotations only: callers have imported the type themselves.
    from vobjects import objects

ObjectType: TypeAlias = 'type[objects.Object]'

#: Path of a value: names of fields, indices of lists and keys of dicts.
Path = tuple[str | int, ...]


def holds_objects(field_type: Any) -> bool:
    """Tell whether values of a field type contain objects."""
    if isinstance(field_type, ovo_fields.Object):
        return True
    element = getattr(field_type, '_element_type', None)
    return element is not None and holds_objects(element._type)


def map_objects(
    field_type: Any,
    value: Any,
    visit: Callable[[ObjectType, Any, Path], Any],
    path: Path = (),
) -> Any:
    """Return a value with the result of a function for each object in it.

    :param field_type: type of a field that holds objects
    :param value: JSON value that has the form of the field
    :param visit: called with the registered type, the JSON value and the path
        of each object
    :param path: path of ``value``
    """
    if value is None:
        return None
    if isinstance(field_type, ovo_fields.Object):
        return visit(_class_of(field_type), value, path)
    inner = field_type._element_type._type
    if isinstance(field_type, ovo_fields.Dict):
        return {
            key: map_objects(inner, item, visit, (*path, key))
            for key, item in value.items()
        }
    return [
        map_objects(inner, item, visit, (*path, index))
        for index, item in enumerate(value)
    ]


def map_schema(
    field: ovo_fields.Field[Any],
    object_schema: Callable[[ObjectType], dict[str, Any] | None],
) -> dict[str, Any] | None:
    """Return the schema (draft 4) of a field that holds objects.

    :param object_schema: returns the schema of the objects of a type; None if
        they do not exist, and neither does the field
    """
    field_type: Any = field._type
    if isinstance(field_type, ovo_fields.Object):
        schema = object_schema(_class_of(field_type))
    else:
        inner = map_schema(field_type._element_type, object_schema)
        if inner is None:
            schema = None
        elif isinstance(field_type, ovo_fields.Dict):
            schema = {'type': 'object', 'additionalProperties': inner}
        else:
            schema = {'type': 'array', 'items': inner}
    if schema is None or not field.nullable:
        return schema
    return {**schema, 'type': [schema['type'], 'null']}


def set_defaults(target: objects.Object) -> None:
    """Set the defaults of an object and of all objects inside it."""
    target.obj_set_defaults()
    for name, field in target.fields.items():
        if holds_objects(field._type) and target.obj_attr_is_set(name):
            for item in _objects_in(field._type, getattr(target, name)):
                set_defaults(item)


def _objects_in(field_type: Any, value: Any) -> list[objects.Object]:
    if value is None:
        return []
    if isinstance(field_type, ovo_fields.Object):
        return [value]
    inner = field_type._element_type._type
    items = value.values() if isinstance(value, dict) else value
    return [child for item in items for child in _objects_in(inner, item)]


def _class_of(field_type: Any) -> ObjectType:
    # The module loads oslo.messaging, which a client of the schemas need not.
    from vobjects.objects import registration

    return registration.registered_type(field_type._obj_name)
