# SPDX-License-Identifier: Apache-2.0
"""Find the values that fields of oslo.versionedobjects accept."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vobjects_releases.objects import ObjectType, declaration
from vobjects_releases.tree import Class, Module, Tree


def field_values(tree: Tree, item: ObjectType, name: str) -> frozenset[str]:
    """Return the texts that a field accepts; empty: any, or unknown.

    They are the argument ``valid_values``, or the attribute ``ALL`` of the
    class that makes the attribute ``AUTO_TYPE`` of the field's class.
    """
    field = item.fields[name]
    if not isinstance(field, ast.Call):
        return frozenset()
    owner = declaration(tree, item, name)
    for keyword in field.keywords:
        if keyword.arg == 'valid_values':
            return _texts(tree, owner, keyword.value)
    cls = tree.resolve(owner.module.dotted(field.func))
    for each in tree.bases(cls) if cls is not None else ():
        made = each.assigned('AUTO_TYPE')
        if isinstance(made, ast.Call):
            return _made(tree, each, made)
    return frozenset()


def _made(tree: Tree, owner: Class, made: ast.Call) -> frozenset[str]:
    """Return the values of the type that a class gives its fields."""
    for keyword in made.keywords:
        if keyword.arg == 'valid_values':
            return _texts(tree, owner, keyword.value)
    cls = tree.resolve(owner.module.dotted(made.func))
    for each in tree.bases(cls) if cls is not None else ():
        value = each.assigned('ALL')
        if value is not None:
            return _texts(tree, each, value)
    return frozenset()


def _texts(tree: Tree, owner: Class, node: ast.expr) -> frozenset[str]:
    found = set(_elements(tree, owner.module, owner, node, 0))
    known = frozenset(item for item in found if item is not None)
    return known if len(known) == len(found) else frozenset()


def _elements(
    tree: Tree, module: Module, cls: Class | None, node: ast.expr, depth: int
) -> Iterator[str | None]:
    """Yield the texts in an expression; ``None``: one is unknown.

    :param cls: the class whose body has the expression
    """
    match node:
        case ast.Constant(value=str(text)):
            yield text
            return
        case (
            ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items)
        ):
            for item in items:
                yield from _elements(tree, module, cls, item, depth)
            return
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for item in (left, right):
                yield from _elements(tree, module, cls, item, depth)
            return
        case ast.Name(id=name) if cls is not None:
            value = cls.assigned(name)
            if value is not None and depth < _DEPTH:
                yield from _elements(tree, module, cls, value, depth + 1)
                return
    target = tree.assigned(module.dotted(node))
    if target is None or depth == _DEPTH:
        yield None
    else:
        yield from _elements(tree, *target, depth + 1)


#: Longer chains of names are not followed.
_DEPTH = 5
