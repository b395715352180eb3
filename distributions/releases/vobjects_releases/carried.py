# SPDX-License-Identifier: Apache-2.0
"""Tell which types of objects the calls of a release carry.

Python code rarely names the type of an argument. :func:`carried_types` reads
other signs: names of arguments, types that code for RPC or a server's results
mention, and the fields of other types.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from vobjects_releases.objects import ObjectType
from vobjects_releases.rpc import Rpc, is_rpc
from vobjects_releases.tree import Function, Module, Tree, last_name

#: Last words of the names of arguments that are no part of the type's name.
_SUFFIXES = frozenset(('obj', 'object', 'list'))

_WORD = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+')

#: A shorter word is no abbreviation.
_SHORTEST = 3


def carried_types(rpc: Rpc, types: Mapping[str, ObjectType]) -> frozenset[str]:
    """Return the names of the types that another process may receive.

    :param types: those of the tree, see :func:`.objects.object_types`
    """
    names = {item.cls.name for item in types.values()}
    if not rpc.arguments:
        return frozenset(names)  # the code for RPC is not known
    arguments = {_words(name) for name in rpc.arguments}
    found = {
        item.cls.name
        for item in types.values()
        if any(_is_named(item.cls.name, words) for words in arguments)
    }
    for module in rpc.tree.modules.values():
        if is_rpc(module.name):
            found |= names & _mentioned(module.body)
    for cls in rpc.servers:
        for function in cls.functions():
            found |= names & _returned(function)
    if _has_indirection(rpc.tree):
        for module in _without_database(rpc):
            found |= names & _mentioned(module.body)
    return frozenset(_with_parts(rpc.tree, types, found))


def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name, without plurals and suffixes."""
    words = [
        word.lower().removesuffix('s')
        for part in name.split('_')
        for word in _WORD.findall(part)
    ]
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    return tuple(words)


def _is_named(name: str, argument: tuple[str, ...]) -> bool:
    """Return whether an argument has the last words of a type as its name.

    ``req`` and ``list_request`` name ``OrderListRequest``.
    """
    words = _words(name)[-len(argument) :]
    return len(words) == len(argument) > 0 and all(
        word == part or (len(part) >= _SHORTEST and word.startswith(part))
        for word, part in zip(words, argument, strict=True)
    )


def _mentioned(node: ast.AST) -> set[str]:
    return {
        last_name(child)
        for child in ast.walk(node)
        if isinstance(child, ast.Name | ast.Attribute)
    }


def _returned(function: Function) -> set[str]:
    """Return the names in what a function returns, or assigns to that."""
    assigned: dict[str, set[str]] = {}
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned.setdefault(name, set()).update(_mentioned(value))
            case ast.Return(value=ast.expr() as value):
                found |= _mentioned(value)
    return found.union(*(assigned.get(name, ()) for name in found))


def _without_database(rpc: Rpc) -> set[Module]:
    """Return the modules of servers that read objects from another process.

    The one with the database has methods such as ``object_action``.
    """
    return {cls.module for cls in rpc.servers} - {
        cls.module
        for cls in rpc.servers
        for name in rpc.tree.methods(cls)
        if name.startswith('object_')
    }


def _has_indirection(tree: Tree) -> bool:
    """Return whether methods of objects run in another process."""
    return any(
        isinstance(node, ast.Assign)
        and any(last_name(it) == 'indirection_api' for it in node.targets)
        and isinstance(node.value, ast.Call)
        for module in tree.modules.values()
        if 'indirection_api' in module.source
        for node in ast.walk(module.body)
    )


def _with_parts(
    tree: Tree, types: Mapping[str, ObjectType], found: set[str]
) -> Iterator[str]:
    """Yield types, with their subclasses and those in their fields."""
    parts: dict[str, set[str]] = {}
    for item in types.values():
        parts.setdefault(item.cls.name, set()).update(_in_fields(item))
        for base in tree.bases(item.cls)[1:]:
            parts.setdefault(base.name, set()).add(item.cls.name)
    pending = list(found)
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            yield name
            pending += parts.get(name, ())


def _in_fields(item: ObjectType) -> Iterator[str]:
    for field in item.fields.values():
        for node in ast.walk(field):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
