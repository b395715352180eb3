# SPDX-License-Identifier: Apache-2.0
"""Find what a method reads from the body of a request."""

from __future__ import annotations

import ast
import dataclasses
import re

from vobjects_releases.tree import Function, last_name

#: Functions that accept a text in place of a number or a boolean.
_CONVERTERS = frozenset(
    ('bool_from_string', 'float', 'int', 'validate_integer')
)


#: Functions that store an object, such as ``order_create``.
_STORES = re.compile(r'(\w+_)?(create|save|store|update)')


@dataclasses.dataclass(slots=True)
class BodyReads:
    """The keys that a method reads from the parameter ``body``.

    :ivar keys: at any depth
    :ivar defaults: keys that have a default other than null
    :ivar texts: keys whose value may be the text of a number or boolean
    :ivar stored: keys whose value another function stores as it is
    """

    keys: set[str] = dataclasses.field(default_factory=set)
    defaults: set[str] = dataclasses.field(default_factory=set)
    texts: set[str] = dataclasses.field(default_factory=set)
    stored: set[str] = dataclasses.field(default_factory=set)


def body_reads(function: Function) -> BodyReads:
    """Return what a function reads from its body and parts of it."""
    found = BodyReads()
    arguments = {item.arg for item in function.args.args}
    parts = arguments & {'body'}
    values: list[tuple[int, int, str, str]] = []
    # A name may have its value after its use in the order of the walk.
    for _ in range(2):
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if _is_part(value, parts):
                        parts.add(name)
                    place = node.end_lineno or 0, node.end_col_offset or 0
                    values.append((*place, name, _key(value, parts)))
    for node in ast.walk(function):
        if isinstance(node, ast.expr) and (key := _key(node, parts)):
            found.keys.add(key)
        match node:
            case ast.Compare(
                left=ast.Constant(value=str(key)),
                ops=[ast.In() | ast.NotIn()],
                comparators=[other],
            ) if _is_part(other, parts):
                found.keys.add(key)
            case ast.Call(
                func=ast.Attribute(value=part, attr='get' | 'pop'),
                args=[
                    ast.Constant(value=str(key)),
                    ast.Constant(value=default),
                ],
            ) if default is not None and _is_part(part, parts):
                found.defaults.add(key)
            case ast.Call(func=called, args=[value, *_]) if (
                last_name(called) in _CONVERTERS
            ):
                if isinstance(value, ast.Name):
                    found.texts.add(_latest(values, value))
                else:
                    found.texts.add(_key(value, parts))
            case ast.Call(func=called, args=passed) if _STORES.fullmatch(
                last_name(called)
            ):
                found.stored.update(
                    _latest(values, value)
                    for value in passed
                    if isinstance(value, ast.Name)
                )
    found.texts.discard('')
    return found


def _latest(values: list[tuple[int, int, str, str]], name: ast.Name) -> str:
    """Return the key whose value a name has, by the order of the code."""
    place = name.lineno, name.col_offset
    return max(
        (it for it in values if it[2] == name.id and it[:2] < place),
        default=(0, 0, '', ''),
    )[3]


def _is_part(node: ast.expr, parts: set[str]) -> bool:
    """Return whether an expression is the body or a part of it."""
    match node:
        case ast.Name(id=name):
            return name in parts
        case ast.BoolOp(values=[first, *_]):
            return _is_part(first, parts)
        case ast.Call(func=ast.Attribute(value=inner, attr='copy')):
            return _is_part(inner, parts)
    return bool(_key(node, parts))


def _key(node: ast.expr, parts: set[str]) -> str:
    """Return the key that an expression reads from a part, or ``''``."""
    match node:
        case (
            ast.Subscript(value=part, slice=ast.Constant(value=str(key)))
            | ast.Call(
                func=ast.Attribute(value=part, attr='get' | 'pop'),
                args=[ast.Constant(value=str(key)), *_],
            )
        ) if _is_part(part, parts):
            return key
    return ''
