# SPDX-License-Identifier: Apache-2.0
"""Suggest the code that fixes a finding."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import textwrap
from collections.abc import Iterator
from typing import Any

from vobjects.lock import registries, service_quirks
from vobjects.lock.changes import SchemaChange
from vobjects.lock.model import FieldSchema, FieldType, TypeSchema, version_key
from vobjects.lock.rules import Rule

#: Field types whose field class is not named after the type.
_CLASSES = {
    ('List', 'String'): 'ListOfStringsField',
    ('List', 'Integer'): 'ListOfIntegersField',
    ('List', 'UUID'): 'ListOfUUIDField',
    ('Dict', 'String'): 'DictOfStringsField',
    ('Dict', 'Integer'): 'DictOfIntegersField',
    ('Set', 'Integer'): 'SetOfIntegersField',
}


def fix_lines(rule: Rule, change: SchemaChange) -> Iterator[str]:
    """Yield the lines to write in the class of the type."""
    if rule.scope == 'type' or not change.field:
        yield from _of_type(change)
    elif change.old.kind == 'plain':
        yield from _by_hand(rule, change)
    else:
        yield from _declared(rule, change)


def next_version(change: SchemaChange) -> str:
    """Return the version in which to declare a change."""
    if change.scope == 'step':
        return change.new.version
    numbers = version_key(change.new.version)
    return f'{numbers[0]}.{numbers[1] + 1}'


def _declared(rule: Rule, change: SchemaChange) -> Iterator[str]:
    version = next_version(change)
    old, new = field_source(change.before), field_source(change.after)
    if change.kind == 'conversion':
        yield f'declare "{change.detail}" again at {change.old.version}'
        return
    if change.kind == 'not-nullable' and not change.after.optional:
        yield (
            f"'{change.field}': {old},  # keep it nullable, or declare a"
            ' change to a field with a default: older peers send null'
        )
        return
    names = _renamed(change)
    if change.scope == 'edit':
        yield f"VERSION = '{version}'"
        cls = registries.newest(change.new.name)
        if change.new.kind != 'object' or getattr(cls, 'VERSION_MAP', None):
            yield (
                f"VERSION_MAP = {{..., 'X.Y': '{version}'}}"
                '  # X.Y: the first microversion with this version'
            )
    if names:
        before, after = names
        yield f"'{after}': renamed('{version}', '{before}', {old}),"
    elif change.kind == 'added':
        yield f"'{change.field}': added('{version}', {_optional(change)}),"
    elif change.kind == 'removed':
        yield f"'{change.field}': removed('{version}', {old}),"
    else:
        same = '...' if change.kind == 'retyped' else 'lambda value: value'
        yield (
            f"'{change.field}': changed('{version}',"
            f' {_with_history(change, old)}, {new}, up={same}, down={same}),'
        )


#: Function that declares a change -> position of the newest field.
_NEWEST = {'added': 1, 'renamed': 2, 'changed': 2}


def _with_history(change: SchemaChange, old: str) -> str:
    """Return the released form of a field, with its declared history.

    :param old: the released field, without its history
    """
    cls: Any = registries.newest(change.new.name)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return old
    for node in ast.walk(tree):
        for key, declared in (
            zip(node.keys, node.values, strict=True)
            if isinstance(node, ast.Dict)
            else ()
        ):
            if isinstance(key, ast.Constant) and key.value == change.field:
                return _replaced(declared, old)
    return old


def _replaced(declared: ast.expr, old: str) -> str:
    """Return a declaration with another newest field."""
    newest = declared
    while isinstance(newest, ast.Call):
        position = _NEWEST.get(ast.unparse(newest.func).rpartition('.')[2])
        if position is None or position >= len(newest.args):
            break
        outer, newest = newest, newest.args[position]
        outer.args[position] = ast.parse(old, mode='eval').body
    return old if newest is declared else ast.unparse(declared)


def _renamed(change: SchemaChange) -> tuple[str, str] | None:
    """Return the old and the new name, if a field was probably renamed.

    One field is gone, and exactly one new field has the same schema.
    """
    if change.kind not in ('added', 'removed'):
        return None
    gone, new = (
        [
            field.name
            for field in schema.fields
            if not other.field(field.name)
            and dataclasses.replace(field, name=change.field) == change.before
        ]
        for schema, other in (
            (change.old, change.new),
            (change.new, change.old),
        )
    )
    if len(gone) != 1 or len(new) != 1:
        return None
    return gone[0], new[0]


def _optional(change: SchemaChange) -> str:
    field = change.after
    if field.optional:
        return field_source(field)
    return field_source(FieldSchema(field.name, field.type, nullable=True))


#: Changes that break a new reader of old data. A conversion by hand runs at
#: the sender, and only for older peers.
_CONVERTED_BY_READERS = frozenset(
    ('default', 'limits', 'narrowed', 'not-nullable', 'retyped')
)


def _kept(rule: Rule, change: SchemaChange) -> Iterator[str]:
    yield (
        f"'{change.field}': {field_source(change.before)},"
        '  # keep it: old peers and stored data have such values'
    )
    if change.kind == 'narrowed':
        yield '# in the original order, which is part of the fingerprint'
    if change.kind == 'retyped':
        yield '# and add a field with another name for the new type'
    if change.kind == 'default':
        yield '# and set the new value where the service creates the object'
    yield (
        '# or, if no peer and no stored object has them, or the class converts'
        ' them when it reads them, add this line to the lock:'
    )
    yield f'accept {rule.id} {change.old.name}.{change.field} until DATE: WHY'


def _by_hand(rule: Rule, change: SchemaChange) -> Iterator[str]:
    if change.kind in _CONVERTED_BY_READERS:
        yield from _kept(rule, change)
        return
    version = next_version(change)
    if change.scope == 'edit':
        yield f"VERSION = '{version}'"
    if change.kind == 'removed':
        yield (
            f"'{change.field}': {field_source(change.before)},"
            '  # keep it: only a major version can remove a field'
        )
        return
    method = _method(change)
    ironic = method == service_quirks.IRONIC_METHOD
    if method in vars(registries.newest(change.old.name)):
        yield f'# in {method}, which the class already has:'
    elif ironic:
        yield 'def _convert_to_version(self, target_version, remove_...=True):'
        yield '    super()._convert_to_version(target_version, remove_...)'
    else:
        yield 'def obj_make_compatible(self, primitive, target_version):'
        yield '    super().obj_make_compatible(primitive, target_version)'
    numbers = ', '.join(map(str, version_key(version)))
    yield (
        '    if versionutils.convert_version_to_tuple(target_version) <'
        f' ({numbers}):'
    )
    if change.kind == 'added':
        if ironic:
            yield f"        delattr(self, '{change.field}')  # if it is set"
        else:
            yield f"        primitive.pop('{change.field}', None)"
        if not change.after.optional:
            yield f"'{change.field}': {_optional(change)},"
    else:
        value = f'self.{change.field}'
        if not ironic:
            value = f"primitive['{change.field}']"
        yield f'        ...  # convert {value} to its old form'


def _method(change: SchemaChange) -> str:
    """Return the method in which the type's class converts by hand."""
    return service_quirks.conversion_method(registries.newest(change.old.name))


def _of_type(change: SchemaChange) -> Iterator[str]:
    old = change.old
    if change.kind == 'removed':
        yield f'keep the class of {old} until no peer and no row uses it'
    elif change.kind == 'version-lowered':
        yield f"VERSION = '{old.version}'"
    elif change.kind == 'major-removed':
        yield f'keep a class {old.name} with VERSION = {old.version!r}'
    elif change.kind == 'microversion':
        yield _mapped(old)
    elif change.kind == 'conversion':
        yield f'restore {_method(change)}, or declare its changes'
    elif change.kind == 'child':
        yield from _mapped_child(change)
    elif change.kind == 'methods':
        yield f"VERSION = '{next_version(change)}'"
    else:
        yield f'restore the {change.kind} of {old}'


def _mapped_child(change: SchemaChange) -> Iterator[str]:
    version = change.new.version
    child = change.detail.split()[1]
    if version != change.old.version:
        yield f"VERSION = '{version}'"
    if 'child_versions' in change.detail:
        yield f"child_versions = {{..., '{version}': '{child}'}}"
    else:
        yield (
            f"obj_relationships = {{..., '{change.field}': [...,"
            f" ('{version}', '{child}')]}}"
        )


def _mapped(old: TypeSchema) -> str:
    if not old.microversion:
        return f'remove {old.version!r} from VERSION_MAP'
    return f"VERSION_MAP = {{..., '{old.microversion}': '{old.version}', ...}}"


def field_source(field: FieldSchema) -> str:
    """Return a field as Python code."""
    arguments = [*_arguments(field.type)]
    if field.nullable:
        arguments.append('nullable=True')
    if field.default:
        arguments.append(f'default={_python(field.default)}')
    return f'fields.{_class(field.type)}({", ".join(arguments)})'


def _class(field_type: FieldType) -> str:
    name, inner = field_type.name, field_type.inner_type
    if name in ('List', 'Dict') and inner and inner.name == 'Object':
        return f'{name}OfObjectsField'
    return _CLASSES.get((name, inner.name if inner else ''), f'{name}Field')


def _arguments(field_type: FieldType) -> Iterator[str]:
    inner = field_type.inner_type
    if field_type.name == 'Object' and inner:
        yield repr(inner.name)
    elif inner is not None:
        if inner.name == 'Object' and inner.inner_type:
            yield repr(inner.inner_type.name)
        elif (field_type.name, inner.name) not in _CLASSES:
            yield field_source(FieldSchema('', inner))
    elif field_type.enum_values:
        values = ', '.join(map(_python, field_type.enum_values))
        yield f'valid_values=[{values}]'
    for name, value in field_type.options:
        if (name, value) != ('tzinfo_aware', 'true'):
            yield f'{name}={_python(value)}'


def _python(text: str) -> str:
    """Return a JSON value as Python code."""
    return repr(json.loads(text))
