# SPDX-License-Identifier: Apache-2.0
"""Write the history of fields as Python code.

:class:`Source` reads the declarations of a class, and :func:`recorded` writes
the declaration that a lock describes.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from vobjects.lock import annotation_code, field_schemas
from vobjects.lock.model import (
    Conversion,
    FieldSchema,
    TypeSchema,
    version_key,
)
from vobjects.lock.schema_code import field_source, sample
from vobjects.lock.source_code import FIELDS, function_of
from vobjects.versions import Version


class Source:
    """The declarations of a class in its source, as far as it has any.

    :param cls: a registered class; None: it has no source
    :ivar fields: name -> expression for the dictionary ``fields``, also of
        a field that the source declares by an annotation
    """

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.fields: dict[str, ast.expr] = {}
        self._annotated: dict[str, tuple[str, str]] = {}
        for parent in getattr(cls, '__mro__', ()):
            for key, declared, written in _declarations(parent):
                if key not in self.fields:
                    self.fields[key] = declared
                    if written:
                        self._annotated[key] = written

    def declaration(self, name: str, code: str) -> str:
        """Return the line that declares a field, as the class does it.

        :param code: of the field with its history
        """
        if name in self._annotated or (
            name not in self.fields
            and self._annotated
            and self._annotated.keys() == self.fields.keys()
        ):
            module = sys.modules.get(self.cls.__module__)
            written = self._annotated.get(name, ('', ''))
            return annotation_code.as_annotation(name, code, module, written)
        return f'{name!r}: {code},'

    def changes(self, name: str) -> dict[tuple[str, str], ast.Call]:
        """Return (function, version) -> its call, outermost first."""
        calls = {}
        node: ast.expr | None = self.fields.get(name)
        while node is not None and (function := _changing(node)):
            assert isinstance(node, ast.Call)
            version = node.args[0]
            if isinstance(version, ast.Constant):
                calls[function, str(version.value)] = node
            node = node.args[FIELDS[function][0]]
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
            node = node.args[FIELDS[function][newer]]
        declared = getattr(self.cls, 'fields', {})
        if hasattr(self.cls, '_history'):
            wanted = Version.parse(version)
            declared = self.cls._history.wire_fields_at(wanted)
        field = declared.get(schema.name)
        if (
            node is None
            or field is None
            or schema != (field_schemas.field_schema(schema.name, field))
        ):
            return field_source(schema, self.cls)
        return ast.unparse(node)

    def imports(self, *declarations: str) -> Iterator[str]:
        """Yield the imports of the names that a module lacks.

        :param declarations: expressions, or lines of :meth:`declaration`
        """
        module = sys.modules.get(getattr(self.cls, '__module__', ''))
        if module is None:
            return
        used = {
            node.id
            for code in declarations
            for node in ast.walk(
                ast.parse(f'{{{code}}}' if code[0] in '\'"' else code)
            )
            if isinstance(node, ast.Name)
        }
        for package, names in (
            ('typing', {'Annotated', 'Any'}),
            ('vobjects', {*FIELDS, 'UNSET', 'fields'}),
        ):
            if lacking := used & names - vars(module).keys():
                yield f'from {package} import {", ".join(sorted(lacking))}'


@functools.lru_cache(maxsize=1024)
def _declarations(
    cls: Hashable,
) -> Sequence[tuple[str, ast.expr, tuple[str, str] | None]]:
    """Return the fields in a class's source; none without source.

    :returns: name, expression for the dictionary ``fields``, and, for an
        annotated field, the code of the field and its annotation
    """
    assert isinstance(cls, type)
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return ()
    known = {**getattr(cls, 'fields', {}), **getattr(cls, '_removed', {})}
    found: list[tuple[str, ast.expr, tuple[str, str] | None]] = []
    for statement in tree.body if isinstance(tree, ast.ClassDef) else ():
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id='fields')], value=value)
                | ast.AnnAssign(
                    target=ast.Name(id='fields'), value=ast.expr() as value
                )
            ):
                found += [(*item, None) for item in _items(value)]
            case ast.AnnAssign(target=ast.Name(id=name)) if name in known:
                schema = field_schemas.field_schema(name, known[name])
                field = ast.parse(field_source(schema, cls), mode='eval').body
                written = ast.unparse(field), ast.unparse(statement.annotation)
                declared = annotation_code.as_field(statement.value, field)
                found.append((name, declared, written))
    return found


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
    """Return the function of a call with the fields of a change, or ``''``."""
    match node:
        case ast.Call(args=args) if name := function_of(node):
            return name if len(args) > FIELDS[name][1] else ''
    return ''


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
    for schema in schemas:
        field = schema.field(oldest)
        if field and version_key(schema.version) >= version_key(since):
            break
    else:
        return ''
    code = source.field(key, schema.version, field)
    removals: list[tuple[TypeSchema, Conversion]] = []
    for schema, conversion in steps:
        version = schema.version
        options = _options(source, key, conversion, version)
        if conversion.operation == 'removed':
            removals.append((schema, conversion))
            continue
        before, field = field, schema.field(conversion.field) or field
        if conversion.operation == 'renamed':
            code = f'renamed({version!r}, {conversion.old_name!r}, {code})'
        elif conversion.operation == 'added':
            code = f'added({version!r}, {code}{options})'
        else:
            if 'up=' not in options and 'by=' not in options:
                options = converters(key, version, before, field) + options
            new = source.field(key, version, field)
            code = f'changed({version!r}, {code}, {new}{options})'
    if not removals:
        return code
    version = removals[0][0].version
    schema, conversion = removals[-1]
    options = _options(source, key, conversion, version)
    dropped = '' if schema.field(field.name) else schema.version
    return removed(version, code, field, schema.kind, dropped, options)


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
        arguments[FIELDS[_changing(call)][0]] = code
        arguments += map(ast.unparse, call.keywords)
        code = f'{ast.unparse(call.func)}({", ".join(arguments)})'
    return code


def converters(
    name: str, version: str, before: FieldSchema, after: FieldSchema
) -> str:
    """Return the keywords ``up`` and ``down`` of a change.

    :param name: the newest name of the field
    :returns: starts with a comma; empty: the values stay the same
    """
    rejects_default = before.default and (
        before.default not in (after.type.enum_values or (before.default,))
    )
    if (
        before.type.without_limits() == after.type.without_limits()
        and not rejects_default
    ):
        return ''
    suffix = version.replace('.', '_')
    return f', up={name}_to_{suffix}, down={name}_from_{suffix}'


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
