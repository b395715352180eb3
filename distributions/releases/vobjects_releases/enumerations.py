# SPDX-License-Identifier: Apache-2.0
"""Find the enumerations of a tree, and their values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from vobjects_releases.tree import Class, Tree, last_name

_BASES = frozenset(('Enum', 'IntEnum', 'StrEnum'))


def enumeration(tree: Tree, cls: Class) -> Mapping[object, str] | None:
    """Return the names of an enumeration's members, by value.

    :returns: ``None`` if the class is no enumeration, or it has a method for
        values that it does not know
    """
    if '_missing_' in tree.methods(cls) or not any(
        base.rpartition('.')[2] in _BASES for base in tree.external_bases(cls)
    ):
        return None
    return dict(_members(tree, cls))


def _members(tree: Tree, cls: Class) -> Iterator[tuple[object, str]]:
    for item in cls.node.body:
        match item:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Constant(value=value)
            ):
                yield value, name
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=called, args=[]),
            ) if last_name(called) == 'auto':
                yield name.lower(), name
