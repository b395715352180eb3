# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of request types by version.

The schema of a type follows from its fields at an object version. It is
compiled once for each (type, object version, names).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import field_values, fields, phrases, unregistered
from vobjects.field_schemas import field_schema as field_schema
from vobjects.microversions import (
    errors,
    fault_search,
    nested_objects,
    schema_bounds,
    version_ranges,
)
from vobjects.microversions.nested_objects import ObjectType, cached
from vobjects.sensitive import is_sensitive
from vobjects.versions import NULL, Version

if TYPE_CHECKING:
    # Needed for annotations only: callers have imported the type themselves.
    from vobjects import objects

DIALECT = 'http://json-schema.org/draft-04/schema#'


def body_schema(
    cls: ObjectType,
    microversion: Version,
    names: Iterable[str],
    *,
    early: bool = False,
    outer: tuple[ObjectType, ...] = (),
) -> dict[str, Any] | None:
    """Return the schema (draft 4) of a part of a request.

    :param cls: the request type
    :param microversion: version of the request
    :param names: fields of the part; fields that the version lacks are omitted
    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :param outer: the types around ``cls``; the schema does not contain theirs
        again, because it cannot be infinite
    :returns: None if the microversion lacks the type
    """
    object_version = cls.version_at(microversion, early=early)
    if object_version is None:
        return None
    if cls in outer:
        return {'type': 'object'}
    return _body_schema(
        cls,
        object_version,
        names,
        lambda inner: body_schema(
            inner,
            microversion,
            all_field_names(inner),
            early=early,
            outer=(*outer, cls),
        ),
    )


def _body_schema(
    cls: ObjectType,
    object_version: str,
    names: Iterable[str],
    object_schema: Callable[[ObjectType], dict[str, Any] | None],
) -> dict[str, Any]:
    """Return the schema (draft 4) of a part of a request.

    :param object_schema: returns the schema of the objects of a type inside
        the part; None: the part lacks their fields
    """
    known = cls.fields_at(object_version)
    properties = {}
    for name in names:
        if name in known:
            with unregistered.named(f'{cls.obj_name()}.{name}'):
                part = _part_field(known[name], object_schema, cls.BOUNDS)
            if part is not None:
                properties[name] = part
    schema: dict[str, Any] = {
        '$schema': DIALECT,
        'type': 'object',
        'properties': properties,
        'additionalProperties': False,
    }
    required = [name for name in properties if fields.is_required(known[name])]
    if required:  # draft 4 does not allow an empty list
        schema['required'] = required
    return schema


def _part_field(
    field: ovo_fields.Field[Any],
    object_schema: Callable[[ObjectType], dict[str, Any] | None],
    bounds: Mapping[str, int],
) -> dict[str, Any] | None:
    schema = (
        nested_objects.map_schema(field, object_schema)
        if field_values.holds_objects(field._type)
        else field_schema(field)
    )
    return schema and schema_bounds.with_bounds(schema, field, bounds)


@cached
def all_field_names(cls: ObjectType) -> tuple[str, ...]:
    """Return the fields that a type has at any of its microversions."""
    versions = [cls.OLDEST_VERSION, *cls.VERSION_MAP.values()]
    return tuple(
        dict.fromkeys(
            name for version in versions for name in cls.fields_at(version)
        )
    )


@dataclasses.dataclass(frozen=True, slots=True)
class RequestSchema:
    """A compiled schema of a part of a request.

    :ivar cls: the request type
    :ivar names: every field that the part had at any version
    :ivar properties: field name -> schema
    :ivar required: names of the required fields
    :ivar validator: validates the JSON values
    :ivar not_built: names of the fields that building an object does not
        check, because its newest version has others
    :ivar object_fields: name -> type of the fields that hold objects
    :ivar fields: field name -> field
    :ivar secrets: names of the fields that are sensitive, or hold objects with
        such fields, now or in the newest version
    :ivar owner: object passed to the fields when they check a value
    """

    cls: ObjectType
    names: tuple[str, ...]
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    validator: fault_search.Validator
    not_built: tuple[str, ...]
    object_fields: Mapping[str, Any]
    fields: Mapping[str, ovo_fields.Field[Any]]
    secrets: frozenset[str]
    owner: objects.Object

    def at(self, object_version: str) -> RequestSchema:
        """Return the schema of the part at another object version."""
        return compiled(self.cls, object_version, self.names)

    def check_value(self, name: str, value: Any, where: str) -> None:
        """Reject values that only the field can check, such as dates.

        :raises vobjects.microversions.errors.ValidationError: the field
            rejects the value
        """
        field = self.fields[name]
        try:
            read = field.from_primitive(self.owner, name, value)
            field.coerce(self.owner, name, read)
        except (ArithmeticError, TypeError, ValueError) as error:
            path = phrases.format_path(where, [name])
            if name in self.secrets:
                kind = type(field._type).__name__
                raise errors.ValidationError(
                    path, f'must be a valid {kind}'
                ) from None
            raise errors.ValidationError(
                path,
                phrases.shorten(str(error), value).rstrip('.'),
                errors.FieldFault('value', (name,), field, value, value),
            ) from None


@cached
def request_schema_at(
    cls: ObjectType,
    microversion: Version,
    names: tuple[str, ...],
    early: bool = False,
) -> RequestSchema:
    """Return the compiled schema of a part at an API version.

    :param cls: the request type
    :param microversion: version of the request
    :param names: every field that the part had at any version
    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    object_version = cls.version_at(microversion, early=early)
    if object_version is None:
        introduced = version_ranges.VersionRange(cls.introduced() or NULL)
        raise errors.MethodNotAtVersion(
            cls.obj_name(), microversion, (introduced,)
        )
    return compiled(cls, object_version, names)


@cached
def compiled(
    cls: ObjectType, object_version: str, names: tuple[str, ...]
) -> RequestSchema:
    """Return the compiled schema of a part at an object version.

    :param names: every field that the part had at any version
    """
    # Objects inside are checked by the schemas of their own types.
    validator = fault_search.Validator(
        _body_schema(cls, object_version, names, lambda _: {'type': 'object'})
    )
    properties = validator.schema['properties']
    known = cls.fields_at(object_version)
    object_fields = nested_objects.object_fields(cls, object_version)
    return RequestSchema(
        cls=cls,
        names=names,
        properties=properties,
        required=tuple(validator.schema.get('required', ())),
        validator=validator,
        not_built=tuple(
            name
            for name in properties
            if known[name] is not cls.fields.get(name)
            or name in cls.EARLY_IGNORED
        ),
        object_fields={
            name: field_type
            for name, field_type in object_fields.items()
            if name in properties
        },
        fields=known,
        secrets=frozenset(
            name
            for name in properties
            if _has_secrets(known[name])
            or any(
                _has_secrets(field) and name in cls.names_of(newest)
                for newest, field in cls.fields.items()
            )
        ),
        owner=cls(),
    )


def _has_secrets(
    field: ovo_fields.Field[Any], outer: tuple[str, ...] = ()
) -> bool:
    """Tell whether values of a field, or of objects in them, are sensitive.

    :param outer: names of the types around the field
    """
    kind = field_values.object_type(field._type)
    if kind is None or kind._obj_name in outer:
        return is_sensitive(field)
    inside = nested_objects.class_of(kind).fields.values()
    outer = (*outer, kind._obj_name)
    return is_sensitive(field) or any(_has_secrets(f, outer) for f in inside)
