# SPDX-License-Identifier: Apache-2.0
"""Check at registration that fields can do what their type needs.

Without these checks, a field would fail at each request.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import (
    exceptions,
    field_schemas,
    field_values,
    fields,
    unregistered,
)
from vobjects.objects.codec.override_detection import newest_class
from vobjects.objects.field_changes import changes_of
from vobjects.objects.kinds import Request
from vobjects.objects.object import AnyField, Object

#: Name of a type inside requests -> name of a type that has it in a field.
#: The inner type may be registered later.
_in_requests: dict[str, str] = {}

#: Names that a field would hide from the library and oslo.versionedobjects.
_ATTRIBUTES = frozenset(dir(Request))

#: The keywords of ``Object.BOUNDS``.
_BOUNDS = ('maxItems', 'maxLength', 'maxProperties')


def check_fields(
    cls: type[Object], declared: Mapping[str, AnyField], *, in_api: bool
) -> None:
    """Check the fields of all versions of a type, before it is registered.

    :param declared: the fields of all versions, by their newest names
    :param in_api: whether microversions show the type
    :raises vobjects.exceptions.DeclarationError: the message names the type,
        the field and the fix
    """
    name = cls.obj_name()
    for keyword, bound in cls.BOUNDS.items():
        if keyword not in _BOUNDS or type(bound) is not int or bound < 0:
            raise exceptions.DeclarationError(
                f'{name}.BOUNDS: {keyword!r}: {bound!r} is no bound; write a'
                f' number from 0 on for one of {", ".join(_BOUNDS)}'
            )
    for key in declared.keys() & {'context', 'self'}:
        raise exceptions.DeclarationError(
            f'{name}.{key}: the constructor has a parameter {key!r}, so that'
            ' it cannot set the field; give it another name'
        )
    for key in declared.keys() & _ATTRIBUTES:
        raise exceptions.DeclarationError(
            f'{name}.{key}: each type has an attribute {key!r}; give the field'
            ' another name, or write ClassVar[...] as its annotation'
        )
    for key, field in _all_forms(declared):
        for field_type in field_values.types_in(field._type):
            _check_type(f'{name}.{key}', field_type)
            if in_api and isinstance(field_type, ovo_fields.Object):
                _check_object(f'{name}.{key}', field_type)
        _check_default(f'{name}.{key}', key, field)
    outer = _in_requests.get(name)
    if issubclass(cls, Request) or (outer and newest_class(outer)):
        _check_schemas(name, declared)


def _all_forms(
    declared: Mapping[str, AnyField],
) -> Iterator[tuple[str, AnyField]]:
    """Yield all fields, also in their older types."""
    for key, field in declared.items():
        yield key, field
        for change in changes_of(field):
            if change.old_field is not None:
                yield key, change.old_field


def _check_type(where: str, field_type: Any) -> None:
    if isinstance(field_type, ovo_fields.Enum):
        if not isinstance(field_type._valid_values, Collection):
            raise exceptions.DeclarationError(
                f'{where}: the values of an enum are read more than once;'
                ' write them as a list'
            )
        for value in field_type._valid_values:
            if not isinstance(value, str):
                raise exceptions.DeclarationError(
                    f'{where}: an enum stores its values as text, so that'
                    f' {value!r} could not be read back; write {str(value)!r}'
                )
    if isinstance(field_type, ovo_fields.Set):
        item = field_type._element_type._type
        if isinstance(
            item,
            (ovo_fields.CompoundFieldType, fields.Json, fields.IdentityList),
        ):
            raise exceptions.DeclarationError(
                f'{where}: a set cannot contain values of'
                f' {type(item).__name__}, which are not hashable; use a List'
            )


def _check_object(where: str, field_type: Any) -> None:
    """Check that the API can show objects, if their type is registered."""
    name = field_type._obj_name
    cls = newest_class(name)
    if cls is not None and not issubclass(cls, Object):
        raise exceptions.DeclarationError(
            f'{where}: {unregistered.problem(name)}'
        )


def _check_default(where: str, name: str, field: AnyField) -> None:
    if field.default is ovo_fields.UnspecifiedDefault:
        return
    if callable(field.default):
        raise exceptions.DeclarationError(
            f'{where}: the default {exceptions.cut(field.default)} would be'
            ' the function itself, not its result; write a value: each object'
            ' gets its own copy'
        )
    try:
        primitive = field_values.default_primitive(name, field)
        if not field_values.holds_objects(field._type):
            json.dumps(primitive, allow_nan=False)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise exceptions.DeclarationError(
            f'{where}: the default {exceptions.cut(field.default)} is invalid'
            f' ({exceptions.cut_text(str(error))}); write a value that'
            f' {type(field._type).__name__} accepts and JSON can represent'
        ) from error


def _check_schemas(name: str, declared: Mapping[str, AnyField]) -> None:
    """Check the JSON schemas of a type in requests, and of those inside it."""
    for key, field in _all_forms(declared):
        if not field_values.holds_objects(field._type):
            _check_schema(f'{name}.{key}', field)
            continue
        *_, innermost = field_values.types_in(field._type)
        inner_name = innermost._obj_name
        outer = _in_requests.get(inner_name)
        if outer is None or newest_class(outer) is None:
            _in_requests[inner_name] = name
            inner = newest_class(inner_name)
            if inner is not None and issubclass(inner, Object):
                _check_schemas(inner_name, {**inner._removed, **inner.fields})


def _check_schema(where: str, field: AnyField) -> None:
    try:
        schema = field_schemas.field_schema(field)
        if _has_own_schema(field):
            _check_draft_4(field, schema)
    except exceptions.DeclarationError as error:
        raise exceptions.DeclarationError(f'{where}: {error}') from error


def _has_own_schema(field: AnyField) -> bool:
    """Tell whether a service implements the schema of a field."""
    for owner in (type(field), *map(type, field_values.types_in(field._type))):
        implementer = next(
            cls for cls in owner.__mro__ if 'get_schema' in vars(cls)
        )
        package = implementer.__module__.partition('.')[0]
        if package not in ('oslo_versionedobjects', 'vobjects'):
            return True
    return False


def _check_draft_4(field: AnyField, schema: Any) -> None:
    # Engines whose types have no such schema start faster without it.
    import jsonschema

    validator = jsonschema.Draft4Validator
    try:
        validator.check_schema(schema, format_checker=validator.FORMAT_CHECKER)
    except jsonschema.SchemaError as error:
        raise field_schemas.no_schema_error(field, error) from error
