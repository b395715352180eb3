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


def words_versions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the versions of the words, if a node declares an enum by them."""
    if isinstance(node, ast.Call) and _called(node) == WORDS:
        for argument in node.args[:1]:
            if isinstance(argument, ast.Dict):
                yield from argument.values


def _called(node: ast.AST | None) -> str:
    if not isinstance(node, ast.Call):
        return ''
    return ast.unparse(node.func).rpartition('.')[2]
