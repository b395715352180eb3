# SPDX-License-Identifier: Apache-2.0
"""Write the schema of a field, and values of its type, as Python code."""

from __future__ import annotations

import ast
import dataclasses
import functools
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import field_values, fields
from vobjects.lock import field_schemas
from vobjects.lock.model import FieldSchema, FieldType

#: Field type -> a value of it, as Python code.
_VALUES = {
    'String': "''",
    'Integer': '0',
    'Float': '0.0',
    'Boolean': 'False',
    'List': '[]',
    'Set': '[]',
    'Dict': '{}',
    'UUID': "'00000000-0000-0000-0000-000000000000'",
    'DateTime': "'1970-01-01T00:00:00Z'",
}


def sample(field_type: FieldType) -> str:
    """Return a value of a field type, as Python code."""
    if field_type.enum_values:
        return python(field_type.enum_values[0])
    minimum = json.loads(dict(field_type.options).get('minimum', 'null'))
    if field_type.name == 'Name':
        return repr('x' * minimum)
    if field_type.name == 'Capacity':
        return repr(minimum)
    return _VALUES.get(field_type.name, f'{field_type.name.upper()}_VALUE')


def field_source(field: FieldSchema, cls: Any = None) -> str:
    """Return a field as Python code.

    :param cls: the class of the type, whose module may define field classes
    """
    name, arguments = _constructor(_in_declared_order(field.type, cls))
    if field.nullable:
        arguments.append('nullable=True')
    if field.default:
        arguments.append(f'default={python(field.default)}')
    module = sys.modules.get(getattr(cls, '__module__', ''))
    own = not hasattr(fields, name) and hasattr(module, name)
    return f'{"" if own else "fields."}{name}({", ".join(arguments)})'


def _in_declared_order(field_type: FieldType, cls: Any) -> FieldType:
    """Order the values of an enum as a class does, for the fingerprint."""
    inner = field_type.inner_type
    args = (_in_declared_order(inner, cls),) if inner else field_type.args
    for field in getattr(cls, 'fields', {}).values():
        *_, declared = field_values.types_in(field._type)
        if isinstance(declared, ovo_fields.Enum) and not inner:
            values = field_schemas.enum_values(declared)
            if set(args) <= set(values):
                args = tuple(value for value in values if value in args)
    return dataclasses.replace(field_type, args=args)


def nullable(code: str) -> str:
    """Return the code of a field with ``nullable=True``."""
    node = ast.parse(code, mode='eval').body
    if isinstance(node, ast.Call):
        node.keywords = [k for k in node.keywords if k.arg != 'nullable']
        node.keywords.append(ast.keyword('nullable', ast.Constant(True)))
    return ast.unparse(node)


@functools.cache
def _classes() -> Mapping[FieldType, str]:
    """Return field type -> field class whose type has no parameters."""
    return {
        field_schemas.field_type_of(cls.AUTO_TYPE): name
        for name, cls in sorted(vars(fields).items(), reverse=True)
        if getattr(cls, 'AUTO_TYPE', None) is not None
    }


def _constructor(field_type: FieldType) -> tuple[str, list[str]]:
    """Return the field class of a type, and its arguments."""
    name, inner = field_type.name, field_type.inner_type
    if known := _classes().get(field_type):
        return known, []
    if name == 'Object' and inner:
        return 'ObjectField', [repr(inner.name), *_options_of(field_type)]
    if name == 'List' and inner and inner.enum_values:
        return 'ListOfEnumField', [*_values(inner)]
    if name in ('List', 'Dict') and inner and inner.name == 'Object':
        _, arguments = _constructor(inner)
        return f'{name}OfObjectsField', arguments
    if inner:
        return 'Field', [_type_source(field_type)]
    return f'{name}Field', [*_values(field_type), *_options_of(field_type)]


def _type_source(field_type: FieldType) -> str:
    """Return a field type as Python code."""
    name, inner = field_type.name, field_type.inner_type
    arguments = [*_values(field_type), *_options_of(field_type)]
    if inner:
        of_class = repr(inner.name) if name == 'Object' else ''
        arguments.insert(0, of_class or _type_source(inner))
    return f'fields.{name}({", ".join(arguments)})'


def _values(field_type: FieldType) -> Iterator[str]:
    if field_type.enum_values:
        values = ', '.join(map(python, field_type.enum_values))
        yield f'valid_values=[{values}]'


def _options_of(field_type: FieldType) -> Iterator[str]:
    for name, value in field_type.options:
        if (name, value) != ('tzinfo_aware', 'true'):
            yield f'{name}={python(value)}'


def python(text: str) -> str:
    """Return a JSON value as Python code."""
    return repr(json.loads(text))
