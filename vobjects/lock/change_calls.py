# SPDX-License-Identifier: Apache-2.0
"""Find calls that declare the changes of a field, in source code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

#: Function that declares a change -> positions of the older and newer field.
FIELDS: Mapping[str, tuple[int, int]] = {
    'added': (1, 1),
    'removed': (1, 1),
    'renamed': (2, 2),
    'changed': (1, 2),
}

#: Function that declares an enum whose words exist since different versions.
WORDS = 'words'


def function_of(node: ast.AST | None) -> str:
    """Return the function of a call that declares a change, or ``''``."""
    name = _called(node)
    return name if name in FIELDS else ''


def versions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the versions that a call names, if it declares changes."""
    if not isinstance(node, ast.Call) or not node.args:
        return
    first = node.args[0]
    if function_of(node):
        yield first
        for keyword in node.keywords:
            if keyword.arg == 'dropped':
                yield keyword.value
    elif _called(node) == WORDS and isinstance(first, ast.Dict):
        yield from first.values


def is_words(node: ast.AST) -> bool:
    """Return whether a call declares an enum by the versions of its words."""
    return _called(node) == WORDS


def _called(node: ast.AST | None) -> str:
    if not isinstance(node, ast.Call):
        return ''
    return ast.unparse(node.func).rpartition('.')[2]
