# SPDX-License-Identifier: Apache-2.0
"""Read the annotations of fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vobjects_releases.tree import last_name


def alternatives(node: ast.expr) -> Iterator[str]:
    """Yield the alternatives of an annotation, in one spelling."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from alternatives(left)
            yield from alternatives(right)
        case ast.Subscript(value=generic, slice=arguments):
            items = (
                arguments.elts
                if isinstance(arguments, ast.Tuple)
                else [arguments]
            )
            match last_name(generic):
                case 'Optional':
                    yield 'None'
                    yield from alternatives(items[0])
                case 'Union':
                    for item in items:
                        yield from alternatives(item)
                case 'Annotated':
                    yield from alternatives(items[0])
                case 'Literal':
                    for item in items:
                        yield ast.unparse(item)
                case name:
                    inner = (
                        '|'.join(sorted(alternatives(item))) for item in items
                    )
                    yield f'{name.lower()}[{",".join(inner)}]'
        case ast.Constant(value=str(text)):
            try:
                yield from alternatives(ast.parse(text, mode='eval').body)
            except SyntaxError:
                yield text
        case ast.Constant(value=value):
            yield str(value)
        case ast.Attribute() | ast.Name():
            yield last_name(node)
        case _:
            yield ast.unparse(node)
