# SPDX-License-Identifier: Apache-2.0
"""Write a lock as text.

::

    vobjects-lock 1
    import vobjects.clustering.types
    release 0.1.0

    accept FIELD_SAME_DEFAULT Node.role until 2027-03-31: no client sends it

    type ClusterDeleteRequest 1.1
      kind request
      release 0.1.0
      microversion 1.8
      fingerprint ebc0e72062d3745df36dc17b03f2b1af
      conversion added force
      field force: StrictBoolean = false
      field identity: String

Blocks are sorted by type and version, fields by name, and a block never
changes once a release has frozen it. Two branches that change different types
merge without conflicts. If both add version 1.2 of the same type, they change
the same block, and the conflict is intended.
"""

from __future__ import annotations

from collections.abc import Iterator

from vobjects.lock.model import (
    NAMESPACE,
    FieldSchema,
    FieldType,
    Lock,
    TypeSchema,
    sorted_schemas,
)

FORMAT = 'vobjects-lock 1'

#: Maximum length of a field's line; longer fields take several lines.
WIDTH = 79

_PREAMBLE = (
    '# Released versions of all types. "vobjects lock update" writes them;',
    '# "vobjects lock check" compares the code with them.',
)


def dump(lock: Lock) -> str:
    """Return the text of a lock."""
    blocks = [list(_head(lock))]
    if lock.accepted:
        blocks.append(
            [
                f'accept {acceptance.rule} {acceptance.subject} until'
                f' {acceptance.until}: {acceptance.reason}'
                for acceptance in sorted(
                    lock.accepted,
                    key=lambda acceptance: (
                        acceptance.subject,
                        acceptance.rule,
                    ),
                )
            ]
        )
    blocks += [list(block(schema)) for schema in sorted_schemas(lock.schemas)]
    return '\n\n'.join('\n'.join(lines) for lines in blocks) + '\n'


def _head(lock: Lock) -> Iterator[str]:
    yield FORMAT
    yield from _PREAMBLE
    for name in lock.imports:
        yield f'import {name}'
    for name in lock.releases:
        yield f'release {name}'


def block(schema: TypeSchema) -> Iterator[str]:
    """Yield the lines of one version of a type."""
    yield f'type {schema.name} {schema.version}'
    if schema.kind != 'plain':
        yield f'  kind {schema.kind}'
    if schema.namespace != NAMESPACE:
        yield f'  namespace {" ".join(schema.namespace)}'
    if schema.release:
        yield f'  release {schema.release}'
    if schema.until:
        yield f'  until {schema.until}'
    if schema.microversion:
        yield f'  microversion {schema.microversion}'
    if schema.fingerprint:
        yield f'  fingerprint {schema.fingerprint}'
    for conversion in schema.conversions:
        yield f'  conversion {conversion}'
    for field in schema.fields:
        yield from _field(field)


def _field(field: FieldSchema) -> Iterator[str]:
    start = f'  field {field.name}: '
    suffix = field_suffix(field)
    line = f'{start}{type_text(field.type)}{suffix}'
    items = list(_items(field.type))
    if len(line) <= WIDTH or len(items) < 2:
        yield line
        return
    yield f'{start}{field.type.name}('
    for item in items:
        yield f'    {item},'
    yield f'  ){suffix}'


def field_suffix(field: FieldSchema) -> str:
    """Return the text that follows a field's type."""
    null = ' | null' if field.nullable else ''
    return f'{null} = {field.default}' if field.default else null


def field_text(field: FieldSchema) -> str:
    """Return a field as one line."""
    return f'{field.name}: {type_text(field.type)}{field_suffix(field)}'


def type_text(field_type: FieldType) -> str:
    """Return a field type as one line."""
    items = ', '.join(_items(field_type))
    return f'{field_type.name}({items})' if items else field_type.name


def _items(field_type: FieldType) -> Iterator[str]:
    for arg in field_type.args:
        yield type_text(arg) if isinstance(arg, FieldType) else arg
    for name, value in field_type.options:
        yield f'{name}={value}'
