# SPDX-License-Identifier: Apache-2.0
"""The text of a stored object, and the versions in it.

The text is the JSON form of a primitive. Its first key lists the versions of
the object and of the objects inside it::

    {"stored":"Backup 1.1,Disk 1.0","versioned_object.name":"Backup",...}

so that a database can index them (:func:`versions_column`), and counting the
rows reads no object. oslo.versionedobjects ignores the key. Text without it,
such as that of an older release, is read to find its versions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy
from oslo_versionedobjects import exception as ovo_exception
from sqlalchemy.ext import compiler
from sqlalchemy.sql import expression

from vobjects import exceptions, objects
from vobjects.versions import Version

#: Maximum length of the list of versions. An index of MariaDB holds 3,072
#: bytes. A longer list is left out.
MAX_LENGTH = 255

#: What :func:`versions_in_text` returns for text without an object.
UNREADABLE = 'unreadable'

_START = '{"stored":"'

#: Errors of data that the types of this process do not describe.
_UNKNOWN = (
    exceptions.VobjectsError,
    ovo_exception.VersionedObjectsException,
    AttributeError,
    TypeError,
)

#: A version in a primitive. Other text would end the list, or the JSON string.
_is_version = re.compile(r'\d+\.\d+', re.ASCII).fullmatch

#: Key in ``Column.info``: the name of the column with the objects.
_OF = 'vobjects_sql.stored.versions_of'


def with_versions(text: str, found: str) -> str:
    """Return the JSON text of a primitive with the list of its versions.

    :param found: from :func:`versions_of_primitive`
    """
    if len(found) > MAX_LENGTH:
        return text
    return f'{_START}{found}",{text[1:]}'


def versions_in_text(text: str) -> str:
    """Return the versions in the JSON text of a primitive.

    :returns: for example ``Backup 1.1,Disk 1.0``; :data:`UNREADABLE` if the
        text holds no object
    """
    if text.startswith(_START):
        return text[len(_START) :].partition('"')[0]
    try:
        return versions_of_primitive(json.loads(text))
    except (ValueError, RecursionError):
        return UNREADABLE


def versions_of_primitive(primitive: Any) -> str:
    """Return the versions in a primitive, as :func:`versions_in_text` does.

    The types tell which values are objects. If this process does not know
    them, everything that looks like the primitive of an object counts as one.
    """
    try:
        found = {*objects.versions_in(primitive)}
    except _UNKNOWN:
        found = {*_pairs(primitive)}
    return ','.join(
        sorted(f'{name} {version}' for name, version in found)
    ) or (UNREADABLE)


def parse_versions(versions: str) -> list[tuple[str, str]]:
    """Return (type name, version) of each item of such a list."""
    if versions == UNREADABLE:
        return []
    pairs = (item.rpartition(' ') for item in versions.split(','))
    return [(name, version) for name, _, version in pairs]


def _pairs(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (type name, version) of all primitives in JSON data.

    A service of oslo.versionedobjects may use another namespace in its keys.
    """
    if isinstance(value, list):
        for item in value:
            yield from _pairs(item)
    elif isinstance(value, dict):
        yield from _of_primitive(value)
        for item in value.values():
            yield from _pairs(item)


def _of_primitive(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, version in value.items():
        space, _, attribute = key.rpartition('.')
        name = value.get(f'{space}.name')
        if (
            attribute == 'version'
            and f'{space}.data' in value
            and isinstance(name, str)
            and name.isidentifier()
            and isinstance(version, str)
            and _is_version(version)
        ):
            yield name, version


def newer(
    pairs: Iterable[tuple[str, str]], supported: Mapping[str, str]
) -> Iterator[tuple[str, str, str | None]]:
    """Yield the versions that a manifest lacks.

    :param pairs: as from :func:`parse_versions`
    :returns: type name, version, and the newest version of the manifest;
        None: it has no such type
    """
    for name, version in sorted(pairs):
        newest = supported.get(name)
        if newest is None or Version.parse(version) > Version.parse(newest):
            yield name, version, newest


class versions_of(expression.FunctionElement[str]):  # noqa: N801
    """SQL function: the list of versions in a text; empty without a list."""

    type = sqlalchemy.String(MAX_LENGTH)
    inherit_cache = True
    name = 'versions_of'


_REST = f'substr(%s, {len(_START) + 1})'
_LISTS = {
    'postgresql': f"split_part({_REST}, '\"', 1)",
    'mysql': f"substring_index({_REST}, '\"', 1)",
    'mariadb': f"substring_index({_REST}, '\"', 1)",
    'sqlite': f"substr({_REST}, 1, instr({_REST}, '\"') - 1)",
}


@compiler.compiles(versions_of)
def _compile(element: versions_of, compiler: Any, **options: Any) -> str:
    column = compiler.process(element.clauses, **options)
    found = _LISTS[compiler.dialect.name].replace('%s', column)
    start = f"substr({column}, 1, {len(_START)}) = '{_START}'"
    return (
        f"CASE WHEN {start} THEN {found} WHEN {column} IS NOT NULL THEN '' END"
    )


def versions_column(
    of: str, name: str | None = None
) -> sqlalchemy.Column[str | None]:
    """Return an indexed column that lists the versions in another column.

    The database computes it. With it, ``vobjects stored scan`` and ``vobjects
    fleet can-roll-back`` read a few entries of an index instead of all rows.

    :param of: name of the column of type :class:`StoredObject`
    :param name: name of the new column; default: that of the attribute
    """
    versions = sqlalchemy.Computed(
        versions_of(sqlalchemy.column(of)), persisted=True
    )
    kind = sqlalchemy.String(MAX_LENGTH)
    info = {_OF: of}
    if name is None:
        return sqlalchemy.Column(kind, versions, index=True, info=info)
    return sqlalchemy.Column(name, kind, versions, index=True, info=info)


def index_of(column: sqlalchemy.Column[Any]) -> sqlalchemy.Column[Any] | None:
    """Return the column that :func:`versions_column` made for a column."""
    for other in column.table.columns:
        if other.info.get(_OF) == column.name:
            return other
    return None
