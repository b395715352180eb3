# SPDX-License-Identifier: Apache-2.0
"""Check conversions that classes of oslo.versionedobjects write by hand.

The lock only records that a class converts by hand.
:func:`sends_new_field` runs the conversion; :func:`unmapped_children` compares
``obj_relationships`` and ``child_versions`` with the types that they name.
:func:`fix_lines` and :func:`mapped_child` suggest code for such classes.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from vobjects.lock import registries, samples, service_quirks
from vobjects.lock.changes import SchemaChange, between_fields, enum_values
from vobjects.lock.field_code import Source
from vobjects.lock.model import Lock, version_key
from vobjects.lock.rules import Rule
from vobjects.lock.schema_code import field_source, nullable, python, sample

#: Changes that break a new reader of old data. A conversion by hand runs at
#: the sender, and only for older peers.
_CONVERTED_BY_READERS = frozenset(
    ('default', 'limits', 'narrowed', 'not-nullable', 'removed', 'retyped')
)

#: Parameters of a method that a class does not have yet.
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    service_quirks.OVO_METHOD: ('self', 'primitive', 'target_version'),
    service_quirks.IRONIC_METHOD: (
        'self',
        'target_version',
        'remove_unavailable_fields=True',
    ),
}


def sends_new_field(change: SchemaChange) -> bool:
    """Return whether a conversion sends a new field to an older peer.

    :param change: an added field
    :returns: False if it does not, or cannot run: the class of that version is
        not registered, or needs more than sample values
    """
    cls: Any = registries.newest(change.new.name)
    if cls is None or change.new.version != cls.VERSION:
        return False
    obj: Any = samples.fill(cls, 'full', registries.newest)
    versions = {
        name: classes[0].VERSION
        for name, classes in registries.registered().items()
        if classes
    }
    old = change.old
    try:
        primitive = service_quirks.to_primitive(
            obj, old.version, {**versions, old.name: old.version}
        )
        return change.field in primitive[f'{cls.OBJ_SERIAL_NAMESPACE}.data']
    except Exception:  # noqa: BLE001 - whatever a service raises
        return False


def unmapped_children(released: Lock, code: Lock) -> Iterator[SchemaChange]:
    """Yield a change for each child that is newer than its parent knows.

    Only classes with ``obj_relationships`` or ``child_versions`` are compared:
    without them, a service sends the versions of a manifest.

    :param released: the released versions
    :param code: a snapshot of the code
    """
    for name, schemas in code.types.items():
        schema = schemas[-1]
        cls: Any = registries.newest(name)
        if schema.kind != 'plain' or schema.version != cls.VERSION:
            continue
        own = released.schema(name, schema.version)
        parent = schema
        if own:
            next_one = following(schema.version)
            parent = dataclasses.replace(schema, version=next_one)
        for field, attribute, known in _known_children(cls):
            for child in registries.object_types(cls.fields[field]._type):
                newest = code.newest(child)
                if (
                    newest is None
                    or not released.newest(child)
                    or released.schema(child, newest.version)
                    or version_key(newest.version) <= version_key(known)
                ):
                    continue
                yield SchemaChange(
                    'type',
                    'child',
                    own or schema,
                    parent,
                    field,
                    f'{newest} is new, but {attribute} ends with {child}'
                    f' {known}',
                )


def _known_children(cls: Any) -> Iterator[tuple[str, str, str]]:
    """Yield fields, the attribute about them and the newest known version."""
    child_versions = getattr(cls, 'child_versions', None)
    if child_versions:
        newest = max(child_versions, key=version_key)
        yield 'objects', 'child_versions', child_versions[newest]
        return
    for field, pairs in cls.obj_relationships.items():
        if pairs and field in cls.fields:
            _own, known = max(pairs, key=lambda pair: version_key(pair[0]))
            yield field, 'obj_relationships', known


def fix_lines(rule: Rule, change: SchemaChange) -> Iterator[str]:
    """Yield the lines to write in the class of the type."""
    if change.kind in _CONVERTED_BY_READERS:
        yield from _kept(rule, change)
        return
    cls: Any = registries.newest(change.old.name)
    module = sys.modules.get(getattr(cls, '__module__', ''))
    if not hasattr(module, 'versionutils'):
        yield 'from oslo_utils import versionutils'
    version = next_version(change)
    if change.scope == 'edit':
        yield f'VERSION = {version!r}'
    if change.kind == 'added' and not change.after.optional:
        field = Source(cls).field(
            change.field, change.new.version, change.after
        )
        yield f'{change.field!r}: {nullable(field)},'
    method = service_quirks.conversion_method(cls)
    own = getattr(cls, '__dict__', {}).get(method)
    parameters = _PARAMETERS[method]
    if own:
        names = tuple(inspect.signature(own).parameters)
        parameters = (*names, *parameters[len(names) :])
        yield f'# at the end of {method}, which the class already has:'
    else:
        yield f'def {method}({", ".join(parameters)}):'
        passed = [name.partition('=')[0] for name in parameters[1:]]
        yield f'    super().{method}({", ".join(passed)})'
    is_ironic = method == service_quirks.IRONIC_METHOD
    target = parameters[1] if is_ironic else parameters[2]
    numbers = ', '.join(map(str, version_key(version)))
    yield (
        f'    if versionutils.convert_version_to_tuple({target}) <'
        f' ({numbers}):'
    )
    # A new method converts all fields, so that each finding suggests the same.
    for other in (
        [change]
        if own
        else between_fields(change.scope, change.old, change.new)
    ):
        if other.kind not in _CONVERTED_BY_READERS:
            primitive = '' if is_ironic else parameters[1]
            for line in _converted(other, primitive):
                yield f'        {line}'


def _converted(change: SchemaChange, primitive: str) -> Iterator[str]:
    """Yield the statements that convert a field for older peers.

    :param primitive: the name of the dictionary; empty: the object has it
    """
    name = repr(change.field)
    if primitive:
        present, value = f'{name} in {primitive}', f'{primitive}[{name}]'
        removal = f'{primitive}.pop({name}, None)'
    else:
        present = f'self.obj_attr_is_set({name})'
        value = f'self.{change.field}'
        removal = f'if {present}: delattr(self, {name})'
    old = sample(change.before.type)
    gained = enum_values(change.after) - enum_values(change.before)
    new = f'({", ".join(map(python, sorted(gained)))},)'
    if change.kind == 'added':
        yield removal
    elif change.kind == 'nullable':
        yield f'if {present} and {value} is None:'
        yield f'    {value} = {old}  # in place of null'
    elif change.after.type.enum_values:
        yield f'if {present} and {value} in {new}:'
        yield f'    {value} = {old}  # in place of new values'
    else:
        yield f'if {present} and {value}:'
        rest = f'[v for v in {value} if v not in {new}]'
        if change.after.type.name == 'Dict':
            rest = f'{{k: v for k, v in {value}.items() if v not in {new}}}'
        yield f'    {value} = {rest}'


def _kept(rule: Rule, change: SchemaChange) -> Iterator[str]:
    cls = registries.newest(change.old.name)
    field = field_source(change.before, cls)
    yield from Source(cls).imports(field)
    if change.kind == 'removed':
        yield (
            f'{change.field!r}: {field},'
            '  # keep it: only a major version can remove a field'
        )
        return
    yield (
        f'{change.field!r}: {field},'
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
        ' them when it reads them, add this to the list "accept" of the lock:'
    )
    subject = f'{change.old.name}.{change.field}'
    yield f'# "{rule.id} {subject} until DATE: WHY",'


def next_version(change: SchemaChange) -> str:
    """Return the version in which a class has a change."""
    if change.scope == 'step':
        return change.new.version
    return following(change.new.version)


def following(version: str) -> str:
    """Return the minor version after a version."""
    major, minor, *_patch = version_key(version)
    return f'{major}.{minor + 1}'


def mapped_child(change: SchemaChange) -> Iterator[str]:
    """Yield the attribute that lists the versions of a nested type."""
    cls: Any = registries.newest(change.new.name)
    version, child = change.new.version, change.detail.split()[1]
    if version != change.old.version:
        yield f'VERSION = {version!r}'
    if 'child_versions' in change.detail:
        yield f'child_versions = { {**cls.child_versions, version: child} }'
        return
    pairs = [
        pair
        for pair in cls.obj_relationships[change.field]
        if pair[0] != version
    ]
    relationships = {
        **cls.obj_relationships,
        change.field: [*pairs, (version, child)],
    }
    yield f'obj_relationships = {relationships}'
