# SPDX-License-Identifier: Apache-2.0
"""Find the JSON schemas of a tree: what modules assign at their top level.

A schema is a dictionary, often made from parts of other modules and changed by
later statements. :class:`Schemas` follows these statements without running
them. :data:`UNKNOWN` stands for all that they do not determine.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Iterator, MutableMapping, MutableSequence
from typing import Any, NamedTuple, TypeGuard

from vobjects_releases.rpc_paths import Version, parse_version
from vobjects_releases.tree import Class, Function, Module, Tree, last_name

#: A value that the tree alone does not determine.
UNKNOWN = ...

#: Parts of the names of functions that do not validate requests.
_OTHERS = ('response', 'copy', 'merge', 'update', 'combine')

Schema = dict[str, Any]


class Handler(NamedTuple):
    """A method that a decorator gives a request schema.

    :ivar name: qualified name of the method
    :ivar schema: qualified name of the schema
    :ivar version: the first version of the API that it concerns; ``None``:
        all
    """

    name: str
    schema: str
    version: Version | None
    location: str


class Schemas:
    """The schemas of requests in a tree.

    :ivar requests: schemas that code uses, by qualified name
    :ivar handlers: methods whose decorators name a schema, first one first
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._names: dict[str, dict[str, object]] = {}
        self.requests: dict[str, Schema] = {}
        for module in tree.modules.values():
            for call in module.nodes.calls:
                self.requests |= self._used(module, call)
        self.handlers = tuple(self._handlers()) if self.requests else ()

    @functools.cached_property
    def names(self) -> dict[int, str]:
        """The qualified names of the parts of schemas, by their identity."""
        return {
            id(value): f'{module}.{name}'
            for module, values in self._names.items()
            for name, value in values.items()
            if _is_schema(value)
        }

    def location(self, name: str) -> str:
        """Return the file of a schema."""
        return str(self.tree.modules[name.rpartition('.')[0]].path)

    def _used(self, module: Module, call: ast.Call) -> dict[str, Schema]:
        """Return the schemas of requests that a call gets."""
        called = last_name(call.func).lower()
        if any(word in called for word in _OTHERS):
            return {}
        found: dict[str, Schema] = {}
        for argument in (*call.args, *(item.value for item in call.keywords)):
            if isinstance(argument, ast.Name | ast.Attribute):
                name = self._target(module.dotted(argument))
                value = self._value(name)
                if _is_schema(value):
                    found[name] = value
        return found

    def _handlers(self) -> Iterator[Handler]:
        for cls in self.tree.classes.values():
            for function in cls.functions():
                yield from self._schemas_of(cls, function)

    def _schemas_of(self, cls: Class, function: Function) -> Iterator[Handler]:
        for item in function.decorator_list:
            if isinstance(item, ast.Call):
                values = [
                    parse_version(self._evaluated(cls.module, each))
                    for each in (*item.args, *(k.value for k in item.keywords))
                ]
                for name in self._used(cls.module, item):
                    yield Handler(
                        f'{cls.module.name}.{cls.name}.{function.name}',
                        name,
                        next(filter(None, values), None),
                        f'{cls.module.path}:{function.lineno}',
                    )

    # Values

    def _target(self, dotted: str) -> str:
        """Return the name where a value is assigned, through re-exports."""
        for _ in range(5):
            owner, _, name = dotted.rpartition('.')
            module = self.tree.modules.get(owner)
            if module is None or name not in module.imports:
                break
            dotted = module.imports[name]
        return dotted

    def _value(self, dotted: str) -> object:
        owner, _, name = dotted.rpartition('.')
        module = self.tree.modules.get(owner)
        if module is None:
            return UNKNOWN
        return self._assigned(module).get(name, UNKNOWN)

    def _assigned(self, module: Module) -> dict[str, object]:
        if module.name not in self._names:
            names: dict[str, object] = {}
            self._names[module.name] = names  # ends cycles of imports
            for statement in module.body.body:
                self._apply(module, statement, names)
        return self._names[module.name]

    def _apply(
        self, module: Module, statement: ast.stmt, names: dict[str, object]
    ) -> None:
        match statement:
            case ast.Assign(targets=targets, value=node):
                value = self._evaluated(module, node)
                for target in targets:
                    if isinstance(target, ast.Name):
                        names[target.id] = value
                    elif isinstance(target, ast.Subscript):
                        self._set(module, target, value)
            case ast.AnnAssign(
                target=ast.Name(id=name), value=ast.expr() as it
            ):
                names[name] = self._evaluated(module, it)
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Subscript):
                        self._delete(module, target)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=changed, attr=method),
                    args=arguments,
                )
            ):
                values = [self._evaluated(module, item) for item in arguments]
                _call(self._evaluated(module, changed), method, values)

    def _set(
        self, module: Module, target: ast.Subscript, value: object
    ) -> None:
        container = self._evaluated(module, target.value)
        key = self._evaluated(module, target.slice)
        if isinstance(container, dict) and isinstance(key, str):
            container[key] = value

    def _delete(self, module: Module, target: ast.Subscript) -> None:
        container = self._evaluated(module, target.value)
        key = self._evaluated(module, target.slice)
        if isinstance(container, dict) and isinstance(key, str):
            container.pop(key, None)

    def _evaluated(self, module: Module, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name() | ast.Attribute():
                return self._value(self._target(module.dotted(node)))
            case ast.Dict(keys=keys, values=values):
                return self._dictionary(module, keys, values)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._evaluated(module, item) for item in items]
            case ast.Subscript(value=inner, slice=part):
                container = self._evaluated(module, inner)
                key = self._evaluated(module, part)
                if isinstance(container, dict) and isinstance(key, str):
                    return container.get(key, UNKNOWN)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                first = self._evaluated(module, left)
                second = self._evaluated(module, right)
                if isinstance(first, list) and isinstance(second, list):
                    return first + second
            case ast.Call(
                func=ast.Attribute(value=inner, attr='copy'), args=[]
            ):
                return copy.copy(self._evaluated(module, inner))
            case ast.Call(func=called, args=[argument]):
                if last_name(called) == 'deepcopy':
                    return copy.deepcopy(self._evaluated(module, argument))
                if last_name(called) == 'copy':
                    return copy.copy(self._evaluated(module, argument))
        return UNKNOWN

    def _dictionary(
        self,
        module: Module,
        keys: list[ast.expr | None],
        values: list[ast.expr],
    ) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, node in zip(keys, values, strict=True):
            value = self._evaluated(module, node)
            if key is None:
                more = value if isinstance(value, dict) else {'': UNKNOWN}
                found |= more
            else:
                name = self._evaluated(module, key)
                found[name if isinstance(name, str) else ''] = value
        return found


def _call(changed: object, method: str, values: list[object]) -> None:
    """Apply a method that changes a dictionary or a list."""
    match method, values:
        case 'update', [dict(value)] if isinstance(changed, MutableMapping):
            changed.update(value)
        case 'pop', [str(key), *_] if isinstance(changed, MutableMapping):
            changed.pop(key, None)
        case 'append', [value] if isinstance(changed, MutableSequence):
            changed.append(value)
        case 'extend', [list(value)] if isinstance(changed, MutableSequence):
            changed.extend(value)
        case 'remove', [value] if isinstance(changed, MutableSequence):
            if value in changed:
                changed.remove(value)


def _is_schema(value: object) -> TypeGuard[Schema]:
    """Return whether a value is the JSON schema of an object."""
    return isinstance(value, dict) and isinstance(
        value.get('properties'), dict
    )
