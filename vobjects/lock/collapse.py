# SPDX-License-Identifier: Apache-2.0
"""Merge unreleased versions of a type in the source.

Each commit that changes a type may add a version, but a release needs at most
one new version. The merge changes ``VERSION``, ``VERSION_MAP`` and the
declared changes of the class.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
from collections.abc import Iterator
from typing import Any

from vobjects.lock import change_calls, source_edit
from vobjects.lock.model import Lock, TypeSchema, version_key
from vobjects.lock.source_edit import Files


@dataclasses.dataclass(frozen=True, slots=True)
class Merge:
    """Unreleased versions of one type that become one version.

    :ivar into: the remaining version
    :ivar obstacle: why they cannot be merged; empty: they can
    """

    type_name: str
    versions: tuple[str, ...]
    into: str
    obstacle: str = ''


def merges(lock: Lock) -> Iterator[Merge]:
    """Yield each type with several unreleased versions."""
    for name, schemas in lock.types.items():
        # Version 1.0 is the type itself; its initial fields stay there.
        unreleased = tuple(
            schema
            for schema in schemas
            if not schema.release and version_key(schema.version)[1] > 0
        )
        if len(unreleased) > 1:
            yield Merge(
                name,
                tuple(schema.version for schema in unreleased),
                unreleased[0].version,
                _obstacle(unreleased),
            )


def _obstacle(schemas: tuple[TypeSchema, ...]) -> str:
    if schemas[0].kind == 'plain':
        return 'a class of oslo.versionedobjects must be merged by hand'
    microversions = [
        schema.microversion for schema in schemas if schema.microversion
    ]
    if len(microversions) > 1:
        return f'microversions {" and ".join(microversions)} use them'
    counts = collections.Counter(
        name
        for schema in schemas
        for conversion in schema.conversions
        for name in {conversion.field, conversion.old_name} - {''}
    )
    repeated = sorted(name for name, count in counts.items() if count > 1)
    if repeated:
        return f'{repeated[0]!r} changed more than once: declare it once'
    return ''


def rewrite(cls: type, merge: Merge, files: Files) -> None:
    """Merge the versions of a class in the text of its file.

    :param files: gets the new text. Earlier changes of other classes in the
        same file are kept, since no line moves
    :raises vobjects.lock.model.LockError: the source of the class cannot be
        found
    """
    source = source_edit.find(cls, files)
    spans = [
        source.span(version)
        for version in _versions_in(source.node)
        if version.value in merge.versions
    ]
    edits = [(start + 1, end - 1, merge.into) for start, end in spans]
    source.replace(edits, files)


def _versions_in(node: ast.ClassDef) -> Iterator[ast.Constant]:
    """Yield the string constants in a class that are versions of the type."""
    values: list[Any] = []
    for part in node.body:
        if isinstance(part, ast.Assign):
            names = {t.id for t in part.targets if isinstance(t, ast.Name)}
            if 'VERSION' in names:
                values.append(part.value)
            if 'VERSION_MAP' in names and isinstance(part.value, ast.Dict):
                values += part.value.values
    for inner in ast.walk(node):
        values += change_calls.versions(inner)
    for value in values:
        if isinstance(value, ast.Constant):
            yield value
