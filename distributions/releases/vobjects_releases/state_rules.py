# SPDX-License-Identifier: Apache-2.0
"""Check the tables of states that may follow each state of an object."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.tree import Class, Function, Tree, last_name

KNOWN = Rule(
    'STATE_KNOWN',
    'A table of the states that may follow each state has an entry for every'
    ' one of them, or its reader has a default.',
)

RULES = (KNOWN,)


def check(tree: Tree) -> Iterator[Finding]:
    """Yield the states without an entry."""
    for cls in tree.classes.values():
        for item in cls.node.body:
            match item:
                case ast.Assign(
                    targets=[ast.Name(id=table)], value=ast.Dict() as states
                ) if missing := _missing(tree, cls, states):
                    methods = tree.methods(cls).values()
                    if any(_requires(it, table) for _, it in methods):
                        for state in sorted(missing):
                            yield Finding(
                                KNOWN,
                                cls.name,
                                state,
                                f'is no key of {table}, so that code which'
                                ' reads an object in this state fails',
                                f'{cls.module.path}:{item.lineno}',
                            )


def _missing(tree: Tree, cls: Class, table: ast.Dict) -> set[str]:
    """Return the few texts in the values of a table that are no keys."""
    keys = {tree.inherited(cls, cls, key) for key in table.keys if key}
    texts = set()
    for value in table.values:
        for node in getattr(value, 'elts', [value]):
            text = tree.inherited(cls, cls, node)
            if isinstance(text, str):
                texts.add(text)
            elif not (isinstance(node, ast.Constant) and text is None):
                return set()
    if all(len(getattr(value, 'elts', ())) < 2 for value in table.values):
        return set()  # each key has one value: it does not name states
    missing = {text for text in texts if text not in keys}
    return missing if 1 < len(texts) >= 2 * len(missing) else set()


def _requires(function: Function, table: str) -> bool:
    """Return whether a function requires the key that it reads."""
    is_required = False
    for node in ast.walk(function):
        match node:
            case ast.Subscript(
                value=ast.Attribute(attr=name),
                slice=ast.Name() | ast.Attribute(),
            ) if name == table:
                is_required = True
            case ast.ExceptHandler():
                return False
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[it]):
                if last_name(it) == table:
                    return False
    return is_required
