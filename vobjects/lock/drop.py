# SPDX-License-Identifier: Apache-2.0
"""Drop the versions of types that older microversions need, in the source.

After the minimum microversion of an API has been raised, the oldest version of
a type is the one that the new minimum shows. Changes up to this version are
folded into the fields, entries of version maps are removed, and
``OLDEST_VERSION`` names it.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any

from vobjects.lock import registries, source_code
from vobjects.lock.model import Lock, LockError, version_key
from vobjects.lock.source_code import ClassSource, Edit, Files
from vobjects.objects.field_changes import changes_of
from vobjects.versions import Version

_MAPS = ('VERSION_MAP', 'EARLY_VERSION_MAP')


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """The versions that one type drops.

    :ivar oldest: the oldest version that remains
    :ivar obstacle: why they cannot be dropped; empty: they can
    """

    type_name: str
    versions: tuple[str, ...]
    oldest: str
    obstacle: str = ''


def drops(code: Lock, below: Version) -> Iterator[Drop]:
    """Yield each type with versions that only older microversions show.

    :param code: a snapshot of the code
    :param below: the new minimum microversion
    """
    for name, schemas in code.types.items():
        cls: Any = registries.newest(name)
        if schemas[-1].kind == 'plain' or (
            (oldest := cls.version_at(below)) is None
        ):
            continue
        older = tuple(
            schema.version
            for schema in schemas
            if version_key(schema.version) < version_key(oldest)
        )
        if older:
            yield Drop(name, older, oldest, _obstacle(cls))


def _obstacle(cls: Any) -> str:
    for parent in cls.__mro__[1:]:
        for name, field in vars(parent).get('fields', {}).items():
            if changes_of(field):
                return (
                    f'its base class {parent.__name__} declares changes of'
                    f' {name!r}; move the field to the class'
                )
    return ''


def unsupported(lock: Lock, dropped: Iterator[Drop] | list[Drop]) -> list[str]:
    """Return the releases that only have dropped versions of some type."""
    oldest = {drop.type_name: version_key(drop.oldest) for drop in dropped}
    return [
        release
        for release in lock.releases
        if any(
            name in oldest and version_key(version) < oldest[name]
            for name, version in lock.at(release).manifest().items()
        )
    ]


def without(lock: Lock, dropped: list[Drop]) -> Lock:
    """Return a lock without dropped versions."""
    by_name = {drop.type_name: drop for drop in dropped}
    schemas = []
    for schema in lock.schemas:
        drop = by_name.get(schema.name)
        if drop and schema.version == drop.oldest:
            schema = dataclasses.replace(
                schema, conversions=(), microversion=''
            )
        if not drop or schema.version not in drop.versions:
            schemas.append(schema)
    return dataclasses.replace(lock, schemas=tuple(schemas))


def rewrite(cls: type, drop: Drop, files: Files) -> None:
    """Drop the versions of a class in the text of its file.

    :param files: gets the new text
    :raises LockError: the source of the class cannot be found, or has no
        assignment of ``VERSION``
    """
    source = source_code.find(cls, files)
    folding = _Folding(source, version_key(drop.oldest))
    edits: list[Edit] = []
    has_version = False
    for statement in source.node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id='OLDEST_VERSION')]):
                edits.append(folding.removed(statement))
            case ast.Assign(targets=[ast.Name(id='VERSION')]):
                has_version = True
                _, end = source.span(statement)
                indent = ' ' * statement.col_offset
                line = f'\n{indent}OLDEST_VERSION = {drop.oldest!r}'
                edits.append((end, end, line))
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Dict() as items
            ) if name in (*_MAPS, 'NO_FIELD_CHANGES'):
                edits += folding.entries(statement, items, name in _MAPS)
            case (
                ast.Assign(value=ast.Dict() as items)
                | ast.AnnAssign(value=ast.Dict() as items)
            ):
                edits += folding.fields(items)
            case ast.AnnAssign(value=ast.Call() as value):
                edits += folding.field(value, statement)
    if not has_version:
        raise LockError(f'{source.path}: {cls.__name__} assigns no VERSION')
    source.replace(edits, files)


@dataclasses.dataclass(frozen=True, slots=True)
class _Folding:
    """Finds the edits of one class.

    :ivar oldest: key of the oldest version that remains
    """

    source: ClassSource
    oldest: tuple[int, ...]

    def is_old(self, node: ast.expr | None) -> bool:
        """Return whether a node is a version that need not be declared."""
        return (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and version_key(node.value) <= self.oldest
        )

    def removed(self, *nodes: ast.AST) -> Edit:
        """Return the edit that removes adjacent nodes, a comma, and a line."""
        start, (_, end) = (
            self.source.span(nodes[0])[0],
            self.source.span(nodes[-1]),
        )
        content = self.source.content
        end += content[end : end + 1] == b','
        while start and content[start - 1 : start] in b' \n':
            start -= 1
        return start, end, ''

    def entries(
        self, statement: ast.stmt, items: ast.Dict, is_map: bool
    ) -> Iterator[Edit]:
        """Yield the edits of a version map, or of reasons for versions."""
        kept = [
            f'{self.source.text(key)}: {self.source.text(value)}'
            for key, value in zip(items.keys, items.values, strict=True)
            if key and not self.is_old(value if is_map else key)
        ]
        if not kept:
            yield self.removed(statement)
        elif len(kept) < len(items.keys):
            yield (*self.source.span(items), f'{{{", ".join(kept)}}}')

    def fields(self, items: ast.Dict) -> Iterator[Edit]:
        """Yield the edits of the dictionary ``fields``."""
        for key, value in zip(items.keys, items.values, strict=True):
            if (
                key
                and isinstance(value, ast.Call)
                and source_code.function_of(value) == 'removed'
                and any(
                    keyword.arg == 'dropped' and self.is_old(keyword.value)
                    for keyword in value.keywords
                )
            ):
                yield self.removed(key, value)
            else:
                yield from self.field(value)

    def field(
        self, node: ast.expr, annotated: ast.AnnAssign | None = None
    ) -> Iterator[Edit]:
        """Yield the edits of the declaration of a field.

        :param annotated: the statement, if the declaration is its value
        """
        outer: ast.expr | None = None
        while isinstance(node, ast.Call) and node.args:
            function = source_code.function_of(node)
            if not function:
                break
            older, newer = source_code.FIELDS[function]
            if function != 'removed' and self.is_old(node.args[0]):
                yield self._folded(node, newer, outer, annotated)
                return
            if len(node.args) <= older:
                return
            outer, node = node.args[older - 1], node.args[older]
        for version in source_code.words_versions(node):
            if self.is_old(version):
                yield (*self.source.span(version), 'None')

    def _folded(
        self,
        call: ast.Call,
        position: int,
        outer: ast.expr | None,
        annotated: ast.AnnAssign | None,
    ) -> Edit:
        """Return the edit that replaces a change by its newer field."""
        start, end = self.source.span(call)
        if len(call.args) > position:
            return start, end, self.source.text(call.args[position])
        default = next((k for k in call.keywords if k.arg == 'default'), None)
        if outer is not None:
            return self.source.span(outer)[1], end, ''
        if default is not None:
            return start, end, self.source.text(default.value)
        if source_code.function_of(call) == 'added':
            return start, end, 'UNSET'
        assert annotated is not None
        return self.source.span(annotated.annotation)[1], end, ''
