# SPDX-License-Identifier: Apache-2.0
"""Find the code that changes documents for clients of older releases."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from vobjects_releases.tree import Function, Tree, last_name

#: A call such as ``Version(`` or ``VersionInfo.parse(``.
_PARSED = re.compile(r'[Vv]ersion\w*(\.parse)?\(')


class Conversions:
    """The conversions of a tree.

    They are version changes of Cadwyn, and functions that compare the version
    of a client, such as ``if client_version < Version('1.2')``.
    """

    def __init__(self, tree: Tree) -> None:
        self._changes = [
            _names(cls.node)
            for cls in tree.classes.values()
            if any(
                last_name(base) == 'VersionChange' for base in cls.node.bases
            )
        ]
        self._functions = frozenset().union(
            *(
                _names(function)
                for module in tree.modules.values()
                if _PARSED.search(module.source)
                for function in module.nodes.functions
                if _compares_versions(function)
            )
        )

    def mentions(self, owner: str, name: str) -> bool:
        """Return whether a conversion mentions a field or a value.

        :param owner: name of its model or enumeration
        :param name: name of the field or member
        """
        return name in self._functions or any(
            {owner, name} <= names for names in self._changes
        )


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(_found(node))


def _found(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Constant):
            if isinstance(child.value, str):
                yield child.value
        elif name := last_name(child):
            yield name


def _compares_versions(function: Function) -> bool:
    return any(
        isinstance(operand, ast.Call)
        and _PARSED.search(f'{ast.unparse(operand.func)}(')
        for node in ast.walk(function)
        if isinstance(node, ast.Compare)
        for operand in (node.left, *node.comparators)
    )
