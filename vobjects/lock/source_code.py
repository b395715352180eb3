# SPDX-License-Identifier: Apache-2.0
"""Find and change the declarations of types in source code.

:func:`locate` finds a type or a field, :class:`ClassSource` changes a class
without changing other text, and :func:`function_of` recognizes the calls that
declare changes of fields.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import functools
import inspect
import itertools
import os
import pathlib
import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple, cast

from vobjects.lock import registries
from vobjects.lock.model import LockError

#: Function that declares a change -> positions of the older and newer field.
FIELDS: Mapping[str, tuple[int, int]] = {
    'added': (1, 1),
    'removed': (1, 1),
    'renamed': (2, 2),
    'changed': (1, 2),
}

#: Path -> the text before and after the changes.
Files = dict[pathlib.Path, tuple[str, str]]

#: Offsets of the first and after the last byte, and the new text.
Edit = tuple[int, int, str]


@dataclasses.dataclass(frozen=True, slots=True)
class SourceLocation:
    """A line of a file.

    :ivar file: path, relative to the working directory if it is inside
    :ivar line: number, from 1
    :ivar column: number, from 1
    :ivar text: of the line
    """

    file: str
    line: int
    column: int
    text: str


def locate(type_name: str, field: str) -> SourceLocation | None:
    """Return the location of a field's declaration, or of its type.

    :returns: None if the type is not registered, or has no source
    """
    cls = registries.newest(type_name)
    if cls is None:
        return None
    try:
        return _find(cast('Hashable', cls), field)
    except (OSError, TypeError):
        return None


def first_match(path: pathlib.Path, pattern: str) -> SourceLocation | None:
    """Return the first line of a file that matches a pattern."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    for number, line in enumerate(lines, 1):
        if re.match(pattern, line):
            return SourceLocation(relative(str(path)), number, 1, line)
    return None


@functools.lru_cache(maxsize=4096)
def _find(cls: Hashable, field: str) -> SourceLocation:
    assert isinstance(cls, type)
    file = inspect.getsourcefile(cls) or ''
    lines, start = inspect.getsourcelines(cls)
    # In a dictionary, or annotated.
    field_line = re.compile(rf'\s*([\'"]?{re.escape(field)}[\'"]?)\s*:')
    class_line = re.compile(r'\s*(class)\s')
    for pattern in (field_line, class_line) if field else (class_line,):
        for offset, line in enumerate(lines):
            match = pattern.match(line)
            if match:
                return SourceLocation(
                    relative(file),
                    start + offset,
                    match.start(1) + 1,
                    line.rstrip('\n'),
                )
    return SourceLocation(relative(file), start, 1, lines[0].rstrip('\n'))


def relative(file: str, directory: str = os.curdir) -> str:
    """Return a path relative to a directory, if it is inside."""
    path = os.path.relpath(file, directory)
    return file if path.startswith('..') else path


def function_of(node: ast.AST | None) -> str:
    """Return the function of a call that declares a change, or ``''``."""
    if not isinstance(node, ast.Call):
        return ''
    name = ast.unparse(node.func).rpartition('.')[2]
    return name if name in FIELDS else ''


def words_versions(node: ast.AST) -> list[ast.expr]:
    """Return the versions of the words, if a node declares an enum by them.

    The function ``words`` declares it.
    """
    match node:
        case ast.Call(
            func=ast.Name(id='words') | ast.Attribute(attr='words'),
            args=[ast.Dict(values=versions), *_],
        ):
            return versions
    return []


class ClassSource(NamedTuple):
    """A class in the text of a file.

    :ivar before: the text of the file on disk
    :ivar content: the text with earlier changes, in UTF-8
    """

    path: pathlib.Path
    before: str
    content: bytes
    node: ast.ClassDef

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of a node in ``content``."""
        # Column offsets of ast count bytes of UTF-8.
        lengths = map(len, self.content.splitlines(keepends=True))
        starts = [0, *itertools.accumulate(lengths)]
        at: Any = node
        return (
            starts[at.lineno - 1] + at.col_offset,
            starts[at.end_lineno - 1] + at.end_col_offset,
        )

    def text(self, node: ast.AST) -> str:
        """Return the source of a node."""
        start, end = self.span(node)
        return self.content[start:end].decode()

    def replace(self, edits: Iterable[Edit], files: Files) -> None:
        """Apply edits, which do not overlap, to the text in ``files``."""
        content = self.content
        for start, end, text in sorted({*edits}, reverse=True):
            content = content[:start] + text.encode() + content[end:]
        files[self.path] = (self.before, content.decode())


def find(cls: type, files: Files) -> ClassSource:
    """Return the source of a class, with the changes in ``files``.

    :raises LockError: the source cannot be found
    """
    try:
        path = pathlib.Path(inspect.getsourcefile(cls) or '')
        before, current = files.get(path) or (path.read_text(),) * 2
        line = inspect.getsourcelines(cls)[1]
    except (OSError, TypeError) as error:
        raise LockError(
            f'cannot read the source of {cls.__name__}: {error}'
        ) from None
    # Changes move lines, but neither add nor remove a class.
    for node, now in zip(_classes(before), _classes(current), strict=True):
        starts = {node.lineno, *(d.lineno for d in node.decorator_list)}
        if node.name == cls.__name__ and line in starts:
            return ClassSource(path, before, current.encode(), now)
    raise LockError(f'{path} does not define the class {cls.__name__}')


def _classes(text: str) -> list[ast.ClassDef]:
    nodes = ast.walk(ast.parse(text))
    return [node for node in nodes if isinstance(node, ast.ClassDef)]


def difference(files: Files) -> str:
    """Return a unified diff of the files before and after the changes."""
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
