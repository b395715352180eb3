# SPDX-License-Identifier: Apache-2.0
"""Check the texts that code expects in stored or received data.

Only data of another release often has, or lacks, such a text, so that tests
of one release do not show the mistake.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.tree import Class, Function, Module, Tree, is_name

DEFAULT_KNOWN = Rule(
    'DEFAULT_KNOWN',
    'The default for a key that other releases do not send is not misspelled.',
)
STATE_KNOWN = Rule(
    'STATE_KNOWN',
    'A table of the states that may follow each state has an entry for every'
    ' one of them, or its reader has a default.',
)

RULES = (DEFAULT_KNOWN, STATE_KNOWN)

#: Shorter texts are too similar to others.
_SHORTEST = 4

#: How similar two texts are, from 0 to 1, of which one is misspelled.
_SIMILAR = 0.75


def check(tree: Tree) -> Iterator[Finding]:
    """Yield the findings for the newer release."""
    for module in tree.modules.values():
        defaults = {
            id(call): call for call in module.nodes.calls if _default(call)
        }
        for function in module.nodes.functions if defaults else ():
            yield from _misspelled(module, function)
    for cls in tree.classes.values():
        yield from _states(tree, cls)


# Defaults


def _default(node: ast.AST | None) -> str:
    """Return the default of ``get(key, default)``, or ``''``."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr='get' | 'pop'),
            args=[ast.Constant(value=str()), ast.Constant(value=str(text))],
        ) if len(text) >= _SHORTEST:
            return text
    return ''


def _misspelled(module: Module, function: Function) -> Iterator[Finding]:
    """Check the defaults that a function compares with other texts."""
    defaults: dict[str, ast.Assign] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if _default(
                node.value
            ):
                defaults[name] = node
    for name, assignment in defaults.items():
        text = _default(assignment.value)
        compared = set(_compared(function, name))
        if text not in compared:
            for other in sorted(compared):
                if _is_similar(text, other):
                    yield Finding(
                        DEFAULT_KNOWN,
                        function.name,
                        name,
                        f'has the default {text!r}, but the code compares it'
                        f' with {other!r}',
                        f'{module.path}:{assignment.lineno}',
                    )


def _compared(function: Function, name: str) -> Iterator[str]:
    """Yield the texts that a variable is compared with."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and is_name(node.left, name):
            for child in ast.walk(node):
                if isinstance(child, ast.Constant) and isinstance(
                    child.value, str
                ):
                    yield child.value


def _is_similar(text: str, other: str) -> bool:
    """Return whether one of two texts may be the other, misspelled.

    A plural or another ending is not.
    """
    return (
        len(text) == len(other)
        and text[-1:] == other[-1:]
        and difflib.SequenceMatcher(None, text, other).ratio() >= _SIMILAR
    )


# States


def _states(tree: Tree, cls: Class) -> Iterator[Finding]:
    """Check the tables of states in a class."""
    for item in cls.node.body:
        match item:
            case ast.Assign(
                targets=[ast.Name(id=table)],
                value=ast.Dict(keys=keys, values=values),
            ):
                states = {tree.inherited(cls, cls, key) for key in keys}
                following = {
                    tree.inherited(cls, cls, node)
                    for value in values
                    for node in getattr(value, 'elts', [value])
                } - {None}
                missing = {text for text in following if text not in states}
                if (
                    len(following & states) > 1
                    and len(missing) <= len(following & states)
                    and all(isinstance(text, str) for text in following)
                    and _is_required(tree, cls, table)
                ):
                    for text in sorted(map(str, missing)):
                        yield Finding(
                            STATE_KNOWN,
                            cls.name,
                            text,
                            f'is no key of {table}, so that code which reads'
                            ' an object in this state fails',
                            f'{cls.module.path}:{item.lineno}',
                        )


def _is_required(tree: Tree, cls: Class, table: str) -> bool:
    """Return whether a method requires the key that it reads."""
    for each in tree.bases(cls):
        for function in each.functions():
            reads = False
            for node in ast.walk(function):
                match node:
                    case ast.Subscript(
                        value=ast.Attribute(value=ast.Name(), attr=name),
                        slice=ast.Name() | ast.Attribute(),
                        ctx=ast.Load(),
                    ) if name == table:
                        reads = True
                    case ast.Compare(
                        ops=[ast.In() | ast.NotIn()],
                        comparators=[ast.Attribute(attr=name)],
                    ) if name == table:
                        break
                    case ast.ExceptHandler():
                        break
            else:
                if reads:
                    return True
    return False
