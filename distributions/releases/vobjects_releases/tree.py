# SPDX-License-Identifier: Apache-2.0
"""Read the source tree of a release without importing it.

:class:`Tree` finds the classes, their bases and the values of constants. The
code of the tree does not run, so that its dependencies need not be installed.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import os
import pathlib
import re
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from vobjects import exceptions

#: Folders whose code no peer runs.
_SKIPPED = frozenset(
    ('tests', 'test', 'doc', 'docs', 'releasenotes', 'node_modules', 'build')
)

#: The first part of the names that modules import.
_IMPORTED = re.compile(r'^\s*(?:from|import)\s+(\w+)', re.MULTILINE)

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Nodes(NamedTuple):
    """Nodes of a module."""

    classes: list[ast.ClassDef]
    functions: list[Function]
    calls: list[ast.Call]
    imports: list[ast.Import | ast.ImportFrom]


class TreeError(exceptions.VobjectsError):
    """A path is no source tree."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A parsed file.

    :ivar name: dotted, from the topmost package
    :ivar path: relative to the tree
    :ivar source: the text of the file
    :ivar nodes: the nodes of some types, at any depth
    :ivar imports: name in the module -> dotted name of its target
    """

    name: str
    path: pathlib.PurePath
    source: str
    body: ast.Module
    nodes: Nodes
    imports: Mapping[str, str]

    def dotted(self, node: ast.expr | None) -> str:
        """Return the dotted name that an expression refers to, or ``''``."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ''
        first = self.imports.get(node.id, f'{self.name}.{node.id}')
        return '.'.join([first, *reversed(parts)])


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Class:
    """A class of a module."""

    module: Module
    node: ast.ClassDef

    @property
    def name(self) -> str:
        """The name of the class, without its module."""
        return self.node.name

    @property
    def location(self) -> str:
        """File and line."""
        return f'{self.module.path}:{self.node.lineno}'

    def functions(self) -> Iterator[Function]:
        """Yield the functions of the class body."""
        for item in self.node.body:
            if isinstance(item, Function):
                yield item

    def assigned(self, name: str) -> ast.expr | None:
        """Return what the class body assigns to a name, if it does."""
        for item in reversed(self.node.body):
            if isinstance(item, ast.Assign):
                if any(is_name(target, name) for target in item.targets):
                    return item.value
            elif isinstance(item, ast.AnnAssign) and is_name(
                item.target, name
            ):
                return item.value
        return None


class Tree:
    """The Python code below a directory, without tests and documentation.

    Files that this version of Python cannot parse are left out.

    :raises TreeError: the path has no such code
    """

    def __init__(self, root: pathlib.Path) -> None:
        if not root.is_dir():
            raise TreeError(f'{root} is not a directory')
        self.root = root
        self.modules = {module.name: module for module in _modules(root)}
        if not self.modules:
            raise TreeError(f'{root} has no Python code')
        self.classes: dict[str, Class] = {}
        self.functions: dict[str, tuple[Module, Function]] = {}
        self._bases: dict[Class, tuple[Class, ...]] = {}
        self._methods: dict[Class, Mapping[str, tuple[Class, Function]]] = {}
        for module in self.modules.values():
            for node in module.nodes.classes:
                self.classes[f'{module.name}.{node.name}'] = Class(
                    module, node
                )
            for item in module.body.body:
                if isinstance(item, Function):
                    self.functions[f'{module.name}.{item.name}'] = module, item

    def resolve(self, dotted: str) -> Class | None:
        """Return the class of a dotted name, through re-exports."""
        for _ in range(5):
            if dotted in self.classes:
                return self.classes[dotted]
            package, _, name = dotted.rpartition('.')
            module = self.modules.get(package)
            if module is None or name not in module.imports:
                return None
            dotted = module.imports[name]
        return None

    def bases(self, cls: Class) -> tuple[Class, ...]:
        """Return the class and its bases in the tree, in lookup order."""
        if cls not in self._bases:
            self._bases[cls] = (cls,)  # ends cycles
            found = [cls]
            for base in cls.node.bases:
                known = self.resolve(self._base(cls.module, base))
                if known is not None:
                    found += [
                        each for each in self.bases(known) if each not in found
                    ]
            self._bases[cls] = tuple(found)
        return self._bases[cls]

    def external_bases(self, cls: Class) -> Iterator[str]:
        """Yield dotted names of direct and indirect bases of other code."""
        for each in self.bases(cls):
            for base in each.node.bases:
                dotted = self._base(each.module, base)
                if dotted and self.resolve(dotted) is None:
                    yield dotted

    def _base(self, module: Module, node: ast.expr) -> str:
        """Return the dotted name of a base, or ``''``.

        A base that a function makes is the class that this function defines
        and returns, or else the function.
        """
        for _ in range(5):
            if isinstance(node, ast.Subscript):
                node = node.value
            is_call = isinstance(node, ast.Call)
            named = node.func if isinstance(node, ast.Call) else node
            dotted = module.dotted(named)
            if is_call and dotted in self.functions:
                module, function = self.functions[dotted]
                returned = _returned(function)
                if returned is None:
                    return ''
                node = returned
                continue
            owner, _, name = dotted.rpartition('.')
            if is_call or owner not in self.modules or self.resolve(dotted):
                return dotted
            module = self.modules[owner]
            assigned = _assigned(module, name)
            if assigned is None:
                return dotted
            node = assigned
        return ''

    def comments(self, cls: Class) -> Iterator[str]:
        """Yield the comment of each line in a class; ``''``: it has code."""
        lines = cls.module.source.splitlines()
        for line in lines[cls.node.lineno : cls.node.end_lineno]:
            before, mark, text = line.partition('#')
            yield text.strip() if mark and not before.strip() else ''

    def assigned(
        self, dotted: str
    ) -> tuple[Module, Class | None, ast.expr] | None:
        """Return what a module or class assigns to a name, and which do."""
        owner, _, name = dotted.rpartition('.')
        cls = self.resolve(owner)
        for each in self.bases(cls) if cls is not None else ():
            value = each.assigned(name)
            if value is not None:
                return each.module, each, value
        module = self.modules.get(owner)
        value = _assigned(module, name) if module is not None else None
        return (module, None, value) if module and value else None

    def methods(self, cls: Class) -> Mapping[str, tuple[Class, Function]]:
        """Return the methods of a class and its bases, with their owner."""
        if cls not in self._methods:
            self._methods[cls] = {
                function.name: (each, function)
                for each in reversed(self.bases(cls))
                for function in each.functions()
            }
        return self._methods[cls]

    def constant(self, module: Module, node: ast.expr | None) -> object:
        """Return the value of a constant, or ``None`` if it is none."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name | ast.Attribute):
            owner, _, name = module.dotted(node).rpartition('.')
            found = self.modules.get(owner)
            if found is not None:
                return _assigned_constant(found, name)
            cls = self.resolve(owner)
            if cls is not None:
                value = cls.assigned(name)
                if isinstance(value, ast.Constant):
                    return value.value
        return None

    def class_constant(self, cls: Class, node: ast.expr | None) -> object:
        """Return the value of a constant, also of ``self`` or the class."""
        if isinstance(node, ast.Attribute) and (
            is_name(node.value, 'self')
            or is_name(node.value, 'cls')
            or is_name(node.value, cls.name)
        ):
            for each in self.bases(cls):
                value = each.assigned(node.attr)
                if value is not None:
                    return self.constant(each.module, value)
            return None
        return self.constant(cls.module, node)

    def inherited(self, cls: Class, owner: Class, node: ast.expr) -> object:
        """Return a constant in the body of a class or of its base.

        :param owner: the class with the body
        """
        if isinstance(node, ast.Attribute):
            return self.class_constant(cls, node)
        if isinstance(node, ast.Name):
            value = owner.assigned(node.id)
            if value is not None:
                return self.class_constant(owner, value)
        return self.class_constant(owner, node)


def _returned(function: Function) -> ast.expr | None:
    """Return what the last statement of a function returns."""
    last = function.body[-1]
    return last.value if isinstance(last, ast.Return) else None


@functools.cache
def _assigned(module: Module, name: str) -> ast.expr | None:
    """Return what a module assigns to a name, if it does."""
    for item in module.body.body:
        if isinstance(item, ast.Assign | ast.AnnAssign):
            targets = (
                item.targets if isinstance(item, ast.Assign) else [item.target]
            )
            if any(is_name(target, name) for target in targets):
                return item.value
    return None


def _assigned_constant(module: Module, name: str) -> object:
    value = _assigned(module, name)
    return value.value if isinstance(value, ast.Constant) else None


def is_name(node: ast.AST, name: str) -> bool:
    """Return whether a node is the name."""
    return isinstance(node, ast.Name) and node.id == name


def last_name(node: ast.AST) -> str:
    """Return the last part of a name such as ``a.b``, or ``''``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ''


def _modules(root: pathlib.Path) -> Iterator[Module]:
    sources = dict(_sources(root))
    imported = {
        name for text in sources.values() for name in _IMPORTED.findall(text)
    }
    for path, source in sources.items():
        package = _package(root, path.parent, imported)
        parts = [] if path.stem == '__init__' else [path.stem]
        module = _parsed(
            '.'.join([*package, *parts]),
            path.relative_to(root),
            '.'.join(package),
            source,
        )
        if module is not None:
            yield module


def _sources(root: pathlib.Path) -> Iterator[tuple[pathlib.Path, str]]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(
            name
            for name in names
            if name not in _SKIPPED and not name.startswith('.')
        )
        for file in sorted(files):
            path = pathlib.Path(folder, file)
            if path.suffix == '.py' and not file.startswith('test_'):
                # A link may name a file that is left out.
                with contextlib.suppress(OSError, ValueError):
                    yield path, path.read_text('utf-8')


def _package(
    root: pathlib.Path, folder: pathlib.Path, imported: Container[str]
) -> list[str]:
    """Return the parts of the name of the package in a folder.

    Without a file ``__init__.py``, it begins at a folder that code imports.
    """
    above = [root.name, *folder.relative_to(root).parts]
    count = len(above)
    while count and (folder / '__init__.py').exists():
        folder = folder.parent
        count -= 1
    for index in reversed(range(1, count)):
        if above[index] in imported:
            return above[index:]
    return above[count:]


@functools.lru_cache(maxsize=20_000)
def _parsed(
    name: str, path: pathlib.PurePath, package: str, source: str
) -> Module | None:
    """Parse a file; most files of two releases are equal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            body = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # the last two: expressions nested too deeply
    nodes = _nodes(body)
    imports = dict(_imports(nodes.imports, package))
    return Module(name, path, source, body, nodes, imports)


def _nodes(body: ast.Module) -> Nodes:
    found = Nodes([], [], [], [])
    for node in ast.walk(body):
        match node:
            case ast.Call():
                found.calls.append(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                found.functions.append(node)
            case ast.ClassDef():
                found.classes.append(node)
            case ast.Import() | ast.ImportFrom():
                found.imports.append(node)
    return found


def _imports(
    nodes: Iterable[ast.Import | ast.ImportFrom], package: str
) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for item in node.names:
                if item.asname:
                    yield item.asname, item.name
                else:
                    first = item.name.partition('.')[0]
                    yield first, first
        else:
            source = node.module or ''
            if node.level:
                above = package.split('.')
                above = above[: len(above) - node.level + 1]
                source = '.'.join([*above, *filter(None, [source])])
            for item in node.names:
                yield item.asname or item.name, f'{source}.{item.name}'
