# SPDX-License-Identifier: Apache-2.0
"""Change classes in the source code, without changing other text."""

from __future__ import annotations

import ast
import difflib
import inspect
import itertools
import pathlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from vobjects.lock.model import LockError

#: Path -> the text before and after the changes.
Files = dict[pathlib.Path, tuple[str, str]]

#: Offsets of the first and after the last byte, and the new text.
Edit = tuple[int, int, str]


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
