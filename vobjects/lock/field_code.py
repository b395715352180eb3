# SPDX-License-Identifier: Apache-2.0
"""Write fields as Python code: a schema of the lock, or its history.

:class:`Source` reads the declarations of a class, and :func:`recorded` writes
the declaration that a lock describes.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from vobjects import fields
from vobjects.lock import field_schemas
from vobjects.lock.model import (
    Conversion,
    FieldSchema,
    FieldType,
    TypeSchema,
    version_key,
)
from vobjects.versions import Version

#: Function that declares a change -> positions of the older and newer field.
_FIELDS = {
    'added': (1, 1),
    'removed': (1, 1),
    'renamed': (2, 2),
    'changed': (1, 2),
}

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

#: Old and new type -> builtins that convert without loss, or raise ValueError.
_CONVERTERS = {
    ('String', 'Integer'): (int, str),
    ('Integer', 'String'): (str, int),
}


class Source:
    """The declarations of a class in its source, as far as it has any.

    :param cls: a registered class; None: it has no source
    :ivar fields: name -> expression in the dictionary ``fields``
    """

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.fields: dict[str, ast.expr] = {}
        for parent in getattr(cls, '__mro__', ()):
            for key, declared in _declared_fields(parent):
                self.fields.setdefault(key, declared)

    def changes(self, name: str) -> dict[tuple[str, str], ast.Call]:
        """Return (function, version) -> its call, outermost first."""
        calls = {}
        node: ast.expr | None = self.fields.get(name)
        while node is not None and (function := _changing(node)):
            assert isinstance(node, ast.Call)
            version = node.args[0]
            if isinstance(version, ast.Constant):
                calls[function, str(version.value)] = node
            node = node.args[_FIELDS[function][0]]
        return calls

    def field(self, name: str, version: str, schema: FieldSchema) -> str:
        """Return a field as the class declares it, if that is its schema.

        :param name: the newest name of the field
        :param schema: the field at ``version``
        """
        node = self.fields.get(name)
        while node is not None and (function := _changing(node)):
            assert isinstance(node, ast.Call)
            since = ast.literal_eval(node.args[0])
            newer = version_key(version) >= version_key(since)
            node = node.args[_FIELDS[function][newer]]
        if node is None or self._schema(version, schema.name) != schema:
            return field_source(schema, self.cls)
        return ast.unparse(node)

    def _schema(self, version: str, name: str) -> FieldSchema | None:
        declared = self.cls.fields
        if hasattr(self.cls, '_history'):
            wanted = Version.parse(version)
            declared = self.cls._history.wire_fields_at(wanted)
        field = declared.get(name)
        return field and field_schemas.field_schema(name, field)

    def imports(self, code: str) -> Iterator[str]:
        """Yield the import of the names of vobjects that a module lacks.

        :param code: an expression that the class shall contain
        """
        module = sys.modules.get(getattr(self.cls, '__module__', ''))
        if module is None:
            return
        known = {*vars(module), *_bound(module)}
        lacking = {
            node.id
            for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.Name)
            and node.id in {*_FIELDS, 'fields'} - known
        }
        if lacking:
            yield f'from vobjects import {", ".join(sorted(lacking))}'


@functools.lru_cache(maxsize=1024)
def _declared_fields(cls: Hashable) -> Sequence[tuple[str, ast.expr]]:
    """Return the items of the dictionary ``fields`` in a class's source."""
    assert isinstance(cls, type)
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return ()
    items: list[tuple[str, ast.expr]] = []
    for statement in tree.body if isinstance(tree, ast.ClassDef) else ():
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id='fields')], value=value)
                | ast.AnnAssign(
                    target=ast.Name(id='fields'), value=ast.expr() as value
                )
            ):
                items += _items(value)
    return items


def _items(value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match value:
        case ast.Dict(keys=keys, values=values):
            for key, declared in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant):
                    yield str(key.value), declared
        case ast.BinOp(left=left, right=right):
            yield from _items(right)
            yield from _items(left)


def _changing(node: ast.expr) -> str:
    """Return the function of a call that declares a change, or ``''``."""
    if not isinstance(node, ast.Call):
        return ''
    name = ast.unparse(node.func).rpartition('.')[2]
    positions = _FIELDS.get(name)
    return name if positions and len(node.args) > positions[1] else ''


def _bound(module: Any) -> Iterator[str]:
    """Yield the names that a module imports anywhere, also in functions."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name


def current_name(
    name: str, version: str, schemas: Sequence[TypeSchema]
) -> str:
    """Return the newest name of a field that had a name at a version."""
    for schema in schemas:
        if version_key(schema.version) > version_key(version):
            for conversion in schema.conversions:
                if conversion.old_name == name:
                    name = conversion.field
    return name


def recorded(
    schemas: Sequence[TypeSchema], name: str, source: Source, key: str
) -> str:
    """Return the declaration of a field that released versions have.

    :param schemas: the released versions of the type, oldest first
    :param name: the name of the field in the newest of them that has it
    :param key: its name in the source
    :returns: Python code; empty: no version has the field
    """
    steps: list[tuple[TypeSchema, Conversion]] = []
    oldest, since = name, '0.0'
    for schema in reversed(schemas):
        for conversion in schema.conversions:
            if conversion.field == oldest:
                steps.insert(0, (schema, conversion))
                oldest = conversion.old_name or oldest
                break
        else:
            continue
        if conversion.operation == 'added':
            since = schema.version
            break
    first = next(
        (
            (schema.version, field)
            for schema in schemas
            if version_key(schema.version) >= version_key(since)
            and (field := schema.field(oldest))
        ),
        None,
    )
    if first is None:
        return ''
    version, field = first
    code = source.field(key, version, field)
    removal = ''
    for schema, conversion in steps:
        if conversion.operation == 'removed':
            removal = removal or schema.version
            continue
        code = _step(schema, conversion, field, code, source, key)
        field = schema.field(conversion.field) or field
    if not removal:
        return code
    schema, conversion = next(
        step for step in reversed(steps) if step[1].operation == 'removed'
    )
    options = _options(source, key, conversion, removal)
    dropped = '' if schema.field(field.name) else schema.version
    return removed(removal, code, field, schema.kind, dropped, options)


def _step(
    schema: TypeSchema,
    conversion: Conversion,
    before: FieldSchema,
    code: str,
    source: Source,
    key: str,
) -> str:
    """Return a declaration with one more change, as the lock has it."""
    version = schema.version
    if conversion.operation == 'renamed':
        return f'renamed({version!r}, {conversion.old_name!r}, {code})'
    options = _options(source, key, conversion, version)
    if conversion.operation == 'added':
        return f'added({version!r}, {code}{options})'
    after = schema.field(conversion.field) or before
    new = source.field(key, version, after)
    if 'up=' not in options:
        options = f', {converters(key, version, before, after)}{options}'
    return f'changed({version!r}, {code}, {new}{options})'


def removed(
    version: str,
    code: str,
    field: FieldSchema,
    kind: str,
    dropped: str | None = None,
    options: str = '',
) -> str:
    """Return a declaration with the removal of the field.

    :param kind: of the type
    :param dropped: the version without the field; empty: the type keeps it;
        None: the earliest that is possible for a required field
    :param options: keywords, starting with a comma
    """
    needs_value = not field.optional
    if dropped is None:
        needs_value &= kind != 'resource'
        dropped = version if needs_value else ''
    if dropped and 'dropped=' not in options:
        options += f', dropped={dropped!r}'
    if dropped and needs_value and 'instead=' not in options:
        options += f', instead={sample(field.type)}'
    return f'removed({version!r}, {code}{options})'


def versions_in(code: str) -> set[str]:
    """Return the versions that a declaration names."""
    return {
        str(node.args[0].value)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call)
        and _changing(node)
        and isinstance(node.args[0], ast.Constant)
    }


def _options(
    source: Source, key: str, conversion: Conversion, version: str
) -> str:
    """Return the keywords of a declared change, starting with a comma.

    They are those in the source; the lock decides about ``on_drop``.
    """
    call = source.changes(key).get((conversion.operation, version))
    keywords = [
        ast.unparse(keyword)
        for keyword in (call.keywords if call else ())
        if keyword.arg != 'on_drop'
    ]
    if conversion.ignore:
        keywords.append("on_drop='ignore'")
    return ''.join(f', {keyword}' for keyword in keywords)


def wrapped(code: str, calls: Sequence[ast.Call]) -> str:
    """Return a declaration inside declared changes.

    :param calls: innermost first
    """
    for call in calls:
        arguments = [*map(ast.unparse, call.args)]
        arguments[_FIELDS[_changing(call)][0]] = code
        arguments += map(ast.unparse, call.keywords)
        code = f'{ast.unparse(call.func)}({", ".join(arguments)})'
    return code


def converters(
    name: str, version: str, before: FieldSchema, after: FieldSchema
) -> str:
    """Return the keywords ``up`` and ``down`` of a change.

    :param name: the newest name of the field
    """
    rejects_default = before.default and (
        before.default not in (after.type.enum_values or (before.default,))
    )
    if (
        before.type.without_limits() == after.type.without_limits()
        and not rejects_default
    ):
        return 'up=lambda value: value, down=lambda value: value'
    pair = _CONVERTERS.get((before.type.name, after.type.name))
    if pair and _converts(pair, before.default):
        return f'up={pair[0].__name__}, down={pair[1].__name__}'
    suffix = version.replace('.', '_')
    return f'up={name}_to_{suffix}, down={name}_from_{suffix}'


def missing_converters(name: str, code: str) -> Iterator[str]:
    """Yield a comment for each pair of functions that you must write.

    :param name: the newest name of the field
    :param code: its declaration
    """
    for up, down in re.findall(
        rf'up=({name}_to_\w+), down=({name}_from_\w+)', code
    ):
        yield (
            f'# above the class, define {up}(value), which returns the JSON'
            f' value of the new field for one of the old field, and'
            f' {down}(value), which does the reverse; both raise ValueError'
            ' for other values'
        )


def _converts(pair: tuple[Any, Any], default: str) -> bool:
    try:
        value = json.loads(default) if default else None
        return value is None or bool(pair[1](pair[0](value)) == value)
    except ValueError:
        return False


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
    name, arguments = _constructor(field.type)
    if field.nullable:
        arguments.append('nullable=True')
    if field.default:
        arguments.append(f'default={python(field.default)}')
    module = sys.modules.get(getattr(cls, '__module__', ''))
    own = not hasattr(fields, name) and hasattr(module, name)
    return f'{"" if own else "fields."}{name}({", ".join(arguments)})'


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
        arguments = [*map(repr, _names(inner)), *_options_of(inner)]
        return f'{name}OfObjectsField', arguments
    if inner:
        return 'Field', [_type_source(field_type)]
    return f'{name}Field', [*_values(field_type), *_options_of(field_type)]


def _names(field_type: FieldType) -> Iterator[str]:
    if field_type.inner_type:
        yield field_type.inner_type.name


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
