# SPDX-License-Identifier: Apache-2.0
"""Objects inside the bodies of requests.

A field may hold an object, or a list or dict of objects. In a body, each is a
JSON object with the fields that its type has at the microversion of the
request, without the envelope of oslo.versionedobjects::

    {"name": "web", "disks": [{"size": 10}, {"size": 20}]}
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from oslo_versionedobjects import fields as ovo_fields

from vobjects import field_values

if TYPE_CHECKING:
    # Needed for annotations only: callers have imported the type themselves.
    from vobjects import objects

ObjectType: TypeAlias = 'type[objects.Object]'
Function = TypeVar('Function', bound=Callable[..., Any])


def cached(function: Function) -> Function:
    """Cache the results of a function of types, versions and names.

    mypy would not let ``functools.lru_cache`` pass types of objects: it checks
    whether the objects are hashable.
    """
    return cast(Function, functools.lru_cache(maxsize=4096)(function))


@cached
def object_fields(cls: ObjectType, object_version: str) -> Mapping[str, Any]:
    """Return name -> type of the fields that hold objects at a version."""
    return {
        name: field._type
        for name, field in cls.fields_at(object_version).items()
        if field_values.holds_objects(field._type)
    }


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
        schema = object_schema(class_of(field_type))
    else:
        inner = map_schema(field_type._element_type, object_schema)
        if inner is None:
            schema = None
        elif isinstance(field_type, ovo_fields.Dict):
            schema = {'type': 'object', 'additionalProperties': inner}
        else:
            schema = {'type': 'array', 'items': inner}
    if not schema or not field.nullable:
        return schema
    if 'title' in schema:  # a titled type stays whole: it becomes a component
        return {'anyOf': [schema, {'type': 'null'}]}
    return {**schema, 'type': [schema['type'], 'null']}


def set_defaults(target: objects.Object) -> None:
    """Set the defaults of an object and of all objects inside it."""
    target.obj_set_defaults()
    set_inner_defaults(target)


def set_inner_defaults(target: objects.Object) -> None:
    """Set the defaults of all objects inside an object."""
    own_fields = object_fields(type(target), target.VERSION)
    for name, field_type in own_fields.items():
        if target.obj_attr_is_set(name):
            for child in field_values.objects_in(
                field_type, getattr(target, name)
            ):
                set_defaults(child)


def map_fields(
    types: Mapping[str, Any],
    values: Mapping[str, Any],
    function: Callable[[Any, Any, field_values.Path], Any],
) -> dict[str, Any]:
    """Return the fields that hold objects, with a function's results.

    :param types: name -> type of the fields that hold objects
    :param values: field name -> JSON value, also of other fields
    :param function: see :func:`vobjects.field_values.map_objects`
    """
    return {
        name: field_values.map_objects(
            field_type, values[name], function, (name,)
        )
        for name, field_type in types.items()
        if name in values
    }


def class_of(field_type: Any) -> ObjectType:
    """Return the registered class of a field type that holds an object."""
    # The module loads oslo.messaging, which a client of the schemas need not.
    from vobjects.objects import registration

    return registration.registered_type(field_type._obj_name)
