# SPDX-License-Identifier: Apache-2.0
"""Suggest the code that fixes a finding.

Each line is Python code for the class, or a comment. The code is complete: it
names values that the class or the lock has, and imports what its module lacks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from vobjects.lock import by_hand, registries, service_quirks
from vobjects.lock.changes import SchemaChange
from vobjects.lock.field_code import (
    Source,
    converters,
    current_name,
    missing_converters,
    recorded,
    removed,
    wrapped,
)
from vobjects.lock.model import TypeSchema, version_key
from vobjects.lock.rules import Rule
from vobjects.lock.schema_code import nullable
from vobjects.lock.source_code import FIELDS


def fix_lines(
    rule: Rule, change: SchemaChange, microversions: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the lines to write in the class of the type.

    :param microversions: of the service
    """
    if rule.scope == 'type' or not change.field:
        yield from _of_type(change)
    elif change.old.kind == 'plain':
        yield from by_hand.fix_lines(rule, change)
    else:
        yield from _declared(change, microversions)


def _declared(
    change: SchemaChange, microversions: Sequence[str]
) -> Iterator[str]:
    """Yield the declaration of a field with the released history.

    It depends on the field only, so all findings about a field suggest the
    same declaration.
    """
    cls = registries.newest(change.new.name)
    source = Source(cls)
    newest = change.released[-1]
    at_newest = (s for s in change.current if s.version == newest.version)
    now = next(at_newest, change.new)
    name = current_name(change.field, change.old.version, change.released)
    key = current_name(name, newest.version, change.current)
    before, after = newest.field(name), now.field(name)
    code = recorded(change.released, name, source, key)
    later = [
        call
        for (_function, version), call in source.changes(key).items()
        if version_key(version) > version_key(newest.version)
    ]
    version, remark = by_hand.following(newest.version), ''
    current = str(getattr(cls, 'VERSION', newest.version))
    if version_key(current) > version_key(newest.version):
        version = current
    raised = _raised(change, version, microversions)
    names = _renamed(newest, now, name)
    if code and later:
        code, raised = wrapped(code, later[::-1]), []
    elif code and (
        before is None or before == after or code.startswith('removed(')
    ):
        raised = []
    elif names:
        old, key = names
        history = recorded(change.released, old, source, key)
        code = f'renamed({version!r}, {old!r}, {history})'
    elif before is None:
        assert after is not None
        new = source.field(key, newest.version, after)
        new = new if after.optional else nullable(new)
        code = f'added({version!r}, {new})'
    elif after is None:
        code = removed(version, code, before, newest.kind)
    elif dataclasses.replace(after, nullable=before.nullable) == before and (
        before.optional and not after.optional
    ):
        raised = []
        remark = (
            '  # keep it nullable, or declare a change to a field with a'
            ' default: older peers send null'
        )
    else:
        new = source.field(key, newest.version, after)
        if before.optional and not after.optional:
            new = nullable(new)
        keywords = converters(key, version, before, after)
        code = f'changed({version!r}, {code}, {new}{keywords})'
    declaration = source.declaration(key, code)
    yield from source.imports(declaration)
    yield from raised
    reasons = getattr(cls, '__dict__', {}).get('NO_FIELD_CHANGES', {})
    # Not for versions that change the field.
    kept = {
        at: why
        for at, why in reasons.items()
        if not any(f'{function}({at!r}, ' in code for function in FIELDS)
    }
    if kept != reasons:
        yield f'NO_FIELD_CHANGES = {kept}'
    yield from missing_converters(key, code)
    yield f'{declaration}{remark}'


def _raised(
    change: SchemaChange, version: str, microversions: Sequence[str]
) -> list[str]:
    """Return the lines that give the class its next version."""
    cls = registries.newest(change.new.name)
    lines = []
    if version != getattr(cls, 'VERSION', ''):
        lines.append(f'VERSION = {version!r}')
    version_map = dict(getattr(cls, 'VERSION_MAP', {}))
    in_api = change.new.kind != 'object' or version_map
    if in_api and version not in version_map.values():
        package = registries.top_level_package(getattr(cls, '__module__', ''))
        known = [
            *microversions,
            *(
                mapped
                for classes in registries.registered().values()
                for other in classes
                if registries.top_level_package(other.__module__) == package
                for mapped in getattr(other, 'VERSION_MAP', ())
            ),
        ]
        first = by_hand.following(max(known, key=version_key, default='1.0'))
        version_map[first] = version
        lines.append(
            f'VERSION_MAP = {version_map}'
            f'  # {first}: the first microversion with version {version}'
        )
    return lines


def _renamed(
    old: TypeSchema, new: TypeSchema, name: str
) -> tuple[str, str] | None:
    """Return the old and the new name, if a field was probably renamed.

    One field is gone, and exactly one new field has the same schema.
    """
    field = old.field(name) or new.field(name)
    if field is None or (old.field(name) and new.field(name)):
        return None
    gone, added = (
        [
            other.name
            for other in schema.fields
            if not without.field(other.name)
            and dataclasses.replace(other, name=field.name) == field
        ]
        for schema, without in ((old, new), (new, old))
    )
    return (gone[0], added[0]) if len(gone) == len(added) == 1 else None


def _of_type(change: SchemaChange) -> Iterator[str]:
    old, new = change.old, change.new
    if change.kind == 'removed':
        yield f'# keep the class of {old} until no peer and no row uses it'
    elif change.kind == 'version-lowered':
        yield f'VERSION = {old.version!r}'
        if old.kind != 'plain':
            yield (
                '# and restore the changes of each version up to'
                f' {old.version}, which "vobjects history {old.name}" lists'
            )
    elif change.kind == 'major-removed':
        yield f'# keep a class {old.name} with VERSION = {old.version!r}'
    elif change.kind == 'microversion':
        released = {schema.version for schema in change.released}
        mapped = getattr(registries.newest(new.name), 'VERSION_MAP', {})
        pairs = {key: v for key, v in mapped.items() if v not in released}
        pairs |= {s.microversion: s.version for s in change.released}
        known = sorted(pairs.keys() - {''}, key=version_key)
        yield f'VERSION_MAP = { {key: pairs[key] for key in known} }'
    elif change.kind == 'conversion':
        method = service_quirks.conversion_method(registries.newest(old.name))
        yield f'# restore {method}, or declare its changes'
    elif change.kind == 'child':
        yield from by_hand.mapped_child(change)
    elif change.kind == 'methods' and old.kind == 'plain':
        yield f'VERSION = {by_hand.next_version(change)!r}'
    elif change.kind == 'methods':
        yield (
            '# restore the order of the values of each enum, or the arguments'
            ' of the remotable methods and child_versions: all versions of the'
            ' type share these; give new arguments to a new method of a new'
            ' type'
        )
    elif change.kind == 'namespace':
        for attribute, value, other in zip(
            ('OBJ_SERIAL_NAMESPACE', 'OBJ_PROJECT_NAMESPACE'),
            old.namespace,
            new.namespace,
            strict=True,
        ):
            if value != other:
                yield f'{attribute} = {value!r}'
    else:
        parent = f'vobjects.{new.kind.capitalize()}'
        yield (
            f'# restore the {change.kind} of {old}: derive the class from'
            f' vobjects.{old.kind.capitalize()}, not from'
            f' {"VersionedObject" if new.kind == "plain" else parent}'
        )
