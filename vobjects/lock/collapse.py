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
import difflib
import inspect
import pathlib
from collections.abc import Iterator
from typing import Any

from vobjects.lock.model import Lock, LockError, TypeSchema, version_key

#: Path -> the text before and after the merge.
Files = dict[pathlib.Path, tuple[str, str]]

_DECLARING = ('added', 'removed', 'renamed', 'changed')


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
    :raises LockError: the source of the class cannot be found
    """
    try:
        path = pathlib.Path(inspect.getsourcefile(cls) or '')
        before, current = files.get(path) or (path.read_text(),) * 2
        start = inspect.getsourcelines(cls)[1]
    except (OSError, TypeError) as error:
        raise LockError(
            f'cannot read the source of {merge.type_name}: {error}'
        ) from None
    for node in ast.walk(ast.parse(current)):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            lines = {node.lineno, *(d.lineno for d in node.decorator_list)}
            if start in lines:
                files[path] = (before, _replaced(current, node, merge))
                return
    raise LockError(f'{path} does not define the class {merge.type_name}')


def _replaced(text: str, node: ast.ClassDef, merge: Merge) -> str:
    # Column offsets of ast count bytes of UTF-8.
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    positions = sorted(
        {
            (
                version.lineno - 1,
                version.col_offset,
                version.end_col_offset or 0,
            )
            for version in _versions_in(node)
            if version.value in merge.versions
        },
        reverse=True,
    )
    for number, start, end in positions:
        line = lines[number]
        quote = line[start : start + 1]
        lines[number] = (
            line[:start] + quote + merge.into.encode() + quote + line[end:]
        )
    return b''.join(lines).decode()


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
        if isinstance(inner, ast.Call) and inner.args:
            name = getattr(inner.func, 'attr', getattr(inner.func, 'id', ''))
            if name in _DECLARING:
                values.append(inner.args[0])
    for value in values:
        if isinstance(value, ast.Constant):
            yield value


def difference(files: Files) -> str:
    """Return a unified diff of the files before and after the merge."""
    return ''.join(
        line
        for path, (before, after) in files.items()
        for line in difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            str(path),
            str(path),
        )
    )
