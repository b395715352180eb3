# SPDX-License-Identifier: Apache-2.0
"""Edit the source of an installed package by its syntax tree.

An edit names a module by its path in the package, and a definition in it:
``Controller._route`` is a method, ``Controller.api_version`` may also be an
assignment. Everything outside the named definitions keeps its text. An edit
whose target does not exist raises an error, so that a new release of the
service cannot be edited in part.

    Remove      delete definitions, imports or assignments
    Replace     put source in place of a definition
    Body        put source in place of the body of a function
    Statement   put source in place of one statement of a function
    Insert      put source before a statement
    Entry       put source around the value of a dictionary's key
    Module      put a file of this folder in place of a module, or remove it
    NewModule   add a file of this folder
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import pathlib
import textwrap
from collections.abc import Iterable, Iterator, Sequence


class EditError(Exception):
    """The target of an edit does not exist."""


@dataclasses.dataclass(frozen=True)
class Remove:
    """Delete definitions, assignments or imports."""

    path: str
    names: tuple[str, ...]

    def apply(self, source: str) -> str:
        """Return the source after the edit."""
        for name in self.names:
            source = _splice(source, _find(source, name), '')
        return source


@dataclasses.dataclass(frozen=True)
class Replace:
    """Put source in place of a definition, an assignment or an import."""

    path: str
    name: str
    text: str

    def apply(self, source: str) -> str:
        """Return the source after the edit."""
        return _splice(source, _find(source, self.name), self.text)


@dataclasses.dataclass(frozen=True)
class Body:
    """Put statements in place of some at the start of a function's body.

    :ivar count: number of statements replaced; a docstring counts
    """

    path: str
    name: str
    text: str
    count: int

    def apply(self, source: str) -> str:
        """Return the source after the edit."""
        node = _find(source, self.name)
        if not isinstance(node, ast.FunctionDef):
            raise EditError(f'{self.path}: {self.name} is no function')
        first, last = node.body[0], node.body[self.count - 1]
        return _splice_lines(
            source,
            _first_line(first),
            last.end_lineno or 0,
            self.text,
            first.col_offset,
        )


@dataclasses.dataclass(frozen=True)
class Statement:
    """Put source in place of a statement of a function, at any depth.

    :ivar start: the beginning of the statement as ``ast.unparse`` writes it
    """

    path: str
    name: str
    start: str
    text: str

    def apply(self, source: str) -> str:
        """Return the source after the edit."""
        node = _statement(_find(source, self.name), self.start)
        if node is None:
            raise EditError(f'{self.path}: {self.name} has no {self.start!r}')
        return _splice(source, node, self.text)


@dataclasses.dataclass(frozen=True)
class Insert:
    """Put source before a statement, at any depth.

    :ivar name: the definition with the statement; empty: the module
    :ivar start: the beginning of the statement as ``ast.unparse`` writes it
    """

    path: str
    name: str
    start: str
    text: str

    def apply(self, source: str) -> str:
        """Return the source after the edit."""
        tree = _find(source, self.name) if self.name else ast.parse(source)
        node = _statement(tree, self.start)
        if node is None:
            raise EditError(f'{self.path}: no {self.start!r} in {self.name}')
        first = _first_line(node)
        return _splice_lines(
            source, first, first - 1, self.text, node.col_offset
        )


@dataclasses.dataclass(frozen=True)
class Entry:
    """Put source around the value of a key in an assigned dictionary."""

    path: str
    name: str
    key: str
    before: str
    after: str

    def apply(self, source: str) -> str:
        """Return the source after the edit."""
        node = _find(source, self.name)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            for key, value in zip(
                node.value.keys, node.value.values, strict=True
            ):
                if isinstance(key, ast.Constant) and key.value == self.key:
                    return self._around(source, value)
        raise EditError(f'{self.path}: {self.name} has no {self.key!r}')

    def _around(self, source: str, value: ast.expr) -> str:
        lines = source.splitlines(keepends=True)
        last = (value.end_lineno or 0) - 1
        end = value.end_col_offset or 0
        lines[last] = lines[last][:end] + self.after + lines[last][end:]
        first, start = value.lineno - 1, value.col_offset
        lines[first] = (
            lines[first][:start] + self.before + lines[first][start:]
        )
        return ''.join(lines)


@dataclasses.dataclass(frozen=True)
class Module:
    """Put a file in place of a module; an empty one removes it."""

    path: str
    replacement: pathlib.Path | None = None


@dataclasses.dataclass(frozen=True)
class NewModule:
    """Add a file as a module."""

    path: str
    source: pathlib.Path


Edit = (
    Remove | Replace | Body | Statement | Insert | Entry | Module | NewModule
)


@dataclasses.dataclass(frozen=True)
class Difference:
    """Lines that the edits of a package removed and inserted.

    :ivar removed_modules: lines of modules of the service that were replaced
        or removed as a whole
    :ivar inserted_modules: lines of the modules in this folder that replaced
        them
    """

    removed: int
    inserted: int
    removed_modules: int
    inserted_modules: int


def apply(package: pathlib.Path, edits: Iterable[Edit]) -> Difference:
    """Apply the edits to the package in a folder.

    :raises EditError: a target does not exist
    """
    removed = inserted = removed_modules = inserted_modules = 0
    for edit in edits:
        path = package / edit.path
        if isinstance(edit, NewModule):
            after = edit.source.read_text()
            inserted_modules += len(after.splitlines())
            if path.exists():
                raise EditError(f'{path} exists')
            path.write_text(after)
            continue
        if not path.is_file():
            raise EditError(f'{path} does not exist')
        before = path.read_text()
        if isinstance(edit, Module):
            after = edit.replacement.read_text() if edit.replacement else ''
            removed_modules += len(before.splitlines())
            inserted_modules += len(after.splitlines())
        else:
            after = edit.apply(before)
            ast.parse(after)
            minus, plus = _count(before, after)
            removed += minus
            inserted += plus
        if after:
            path.write_text(after)
        else:
            path.unlink()
    return Difference(removed, inserted, removed_modules, inserted_modules)


def _count(before: str, after: str) -> tuple[int, int]:
    lines = [
        line[0]
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
    ]
    return lines.count('-'), lines.count('+')


def _find(source: str, name: str) -> ast.stmt:
    body: Sequence[ast.stmt] = ast.parse(source).body
    *owners, last = name.split('.') if ' ' not in name else [name]
    for owner in owners:
        body = next(
            (
                node.body
                for node in body
                if isinstance(node, ast.ClassDef) and node.name == owner
            ),
            (),
        )
    for node in body:
        if last in _names(node):
            return node
    raise EditError(f'{name!r} is not in the module')


def _statement(tree: ast.AST, start: str) -> ast.stmt | None:
    """Return the first statement that starts with a text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and ast.unparse(node).startswith(start):
            return node
    return None


def _names(node: ast.stmt) -> Iterator[str]:
    """Yield the names by which an edit finds a statement."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign():
            yield from map(ast.unparse, node.targets)
        case ast.Import() | ast.ImportFrom():
            yield ast.unparse(node)
        case _:
            pass


def _splice(source: str, node: ast.stmt, text: str) -> str:
    return _splice_lines(
        source, _first_line(node), node.end_lineno or 0, text, node.col_offset
    )


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, 'decorator_list', ())
    return min([node.lineno, *(each.lineno for each in decorators)])


def _splice_lines(
    source: str, first: int, last: int, text: str, indent: int
) -> str:
    """Return the source with other lines in place of first to last."""
    lines = source.splitlines(keepends=True)
    new = textwrap.indent(textwrap.dedent(text), ' ' * indent)
    if new and not new.endswith('\n'):
        new += '\n'
    return ''.join((*lines[: first - 1], new, *lines[last:]))
