# SPDX-License-Identifier: Apache-2.0
"""Write a lock as text, in TOML.

::

    format = 1
    imports = [
      "vobjects.clustering.types",
    ]
    releases = [
      "0.1.0",
    ]
    accept = [
      "FIELD_SAME_DEFAULT Node.role until 2027-03-31: no client sends it",
    ]

    [type.ClusterDeleteRequest."1.1"]
    kind = "request"
    release = "0.1.0"
    microversion = "1.8"
    fingerprint = "ebc0e72062d3745df36dc17b03f2b1af"
    conversions = [
      "added force",
    ]
    fields.force = "StrictBoolean = false"
    fields.identity = "String"

Tables are sorted by type and version, fields by name, and a table never
changes once a release has frozen it. Two branches that change different types
merge without conflicts. If both add version 1.2 of the same type, they change
the same table, and the conflict is intended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vobjects.lock.model import (
    NAMESPACE,
    FieldSchema,
    FieldType,
    Lock,
    TypeSchema,
    json_text,
    sorted_schemas,
)

#: Number of the format.
FORMAT = 1

#: Maximum length of a field's line; longer fields take several lines.
WIDTH = 79

_PREAMBLE = (
    '# Released versions of all types. "vobjects lock update" writes them;',
    '# "vobjects lock check" compares the code with them.',
    f'format = {FORMAT}',
)

#: Keys that TOML allows without quotes.
_BARE = re.compile('[A-Za-z0-9_-]+')


def dump(lock: Lock) -> str:
    """Return the text of a lock."""
    accepted = sorted(
        lock.accepted, key=lambda item: (item.subject, item.rule)
    )
    head = [
        *_PREAMBLE,
        *_list('imports', lock.imports),
        *_list('releases', lock.releases),
        *_list('accept', map(str, accepted)),
    ]
    blocks = [head, *map(block, sorted_schemas(lock.schemas))]
    return '\n\n'.join('\n'.join(lines) for lines in blocks) + '\n'


def _list(key: str, texts: Iterable[str]) -> Iterator[str]:
    """Yield a list with a line for each text; nothing for an empty one."""
    lines = [f'  {_string(item)},' for item in texts]
    if lines:
        yield from (f'{key} = [', *lines, ']')


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _string(content: str) -> str:
    """Return a text as a string of TOML, without escapes where possible."""
    if '"' in content and "'" not in content and content.isprintable():
        return f"'{content}'"
    return json_text(content).replace('\x7f', '\\u007f')


def block(schema: TypeSchema) -> Iterator[str]:
    """Yield the lines of one version of a type."""
    yield f'[type.{_key(schema.name)}."{schema.version}"]'
    for key, value, default in (
        ('kind', schema.kind, 'plain'),
        ('namespace', ' '.join(schema.namespace), ' '.join(NAMESPACE)),
        ('release', schema.release, ''),
        ('until', schema.until, ''),
        ('microversion', schema.microversion, ''),
        ('fingerprint', schema.fingerprint, ''),
    ):
        if value != default:
            yield f'{key} = {_string(value)}'
    yield from _list('conversions', map(str, schema.conversions))
    for field in schema.fields:
        yield from _field(field)


def _field(field: FieldSchema) -> Iterator[str]:
    start = f'fields.{_key(field.name)} = '
    suffix = field_suffix(field)
    line = f'{start}{_string(type_text(field.type) + suffix)}'
    items = list(_items(field.type))
    content = ''.join((*items, suffix))
    if (
        len(line) <= WIDTH
        or len(items) < 2
        or ("'''" in content or not content.isprintable())
    ):
        yield line
        return
    yield f"{start}'''{field.type.name}("
    for item in items:
        yield f'  {item},'
    yield f"){suffix}'''"


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
