# SPDX-License-Identifier: Apache-2.0
"""Convert declarations between a dictionary ``fields`` and annotations.

The advice of the lock is derived for a dictionary. :func:`as_annotation`
writes it for a class that uses annotations, and :func:`as_field` reads those
of its source.
"""

from __future__ import annotations

import ast
import inspect
import typing
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import fields
from vobjects.lock.source_code import FIELDS, function_of
from vobjects.objects import annotated_fields


def as_field(value: ast.expr | None, field: ast.expr) -> ast.expr:
    """Return the value beside an annotation as a value of a dictionary.

    :param field: the field, without its history
    """
    function = function_of(value)
    if not function:
        return field
    assert isinstance(value, ast.Call)
    count = FIELDS[function][1]
    inner = as_field(next(iter(value.args[count:]), None), field)
    keywords = [k for k in value.keywords if k.arg != 'default']
    return ast.Call(value.func, [*value.args[:count], inner], keywords)


def as_annotation(
    name: str,
    code: str,
    module: Any = None,
    written: tuple[str, str] = ('', ''),
) -> str:
    """Return a value of a dictionary as an annotated field.

    :param code: of the field with its history
    :param module: the module of the class, which may define field classes
    :param written: code of the field and its annotation in the source
    """
    node = ast.parse(code, mode='eval').body
    calls: list[ast.Call] = []
    while function_of(node):
        assert isinstance(node, ast.Call)
        calls.append(node)
        node = node.args[FIELDS[function_of(node)][1]]
    annotation, default = _annotation(node, module)
    if ast.unparse(node) == written[0]:
        annotation = written[1]
    value = ''
    for number, call in reversed(list(enumerate(calls))):
        leading = call.args[: FIELDS[function_of(call)][1]]
        parts = [*map(ast.unparse, leading), *filter(None, [value])]
        parts += map(ast.unparse, call.keywords)
        if (
            number == 0
            and default
            and (default != 'UNSET' or function_of(call) != 'added')
        ):
            parts.append(f'default={default}')
        value = f'{function_of(call)}({", ".join(parts)})'
    value = value or default
    return f'{name}: {annotation}{f" = {value}" if value else ""}'


def _annotation(node: ast.expr, module: Any) -> tuple[str, str]:
    """Return annotation and default of the code of a field."""
    if not isinstance(node, ast.Call):
        return f'Annotated[Any, {ast.unparse(node)}]', ''
    options = {
        k.arg: ast.unparse(k.value)
        for k in node.keywords
        if k.arg in ('nullable', 'default')
    }
    kept = [k for k in node.keywords if k.arg not in options]
    annotation = _type(ast.Call(node.func, node.args, kept), module)
    default = options.get('default', '')
    if options.get('nullable') == 'True':
        return f'{annotation} | None', default or 'UNSET'
    return annotation, default


def _type(call: ast.Call, module: Any) -> str:
    """Return the annotation of a field without options."""
    code = ast.unparse(call)
    name = ast.unparse(call.func).rpartition('.')[2]
    if name in ('ObjectField', 'ListOfObjectsField') and len(call.args) == 1:
        inner = str(ast.literal_eval(call.args[0]))
        return inner if name == 'ObjectField' else f'list[{inner}]'
    cls = getattr(fields, name, None) or getattr(module, name, None)
    value = _value_type(cls) if isinstance(cls, type) else Any
    text = inspect.formatannotation(value).replace('typing.', '')
    if not call.args and not call.keywords and isinstance(cls, type):
        plain = annotated_fields.plain_field(value)
        if plain is not None and repr(plain) == repr(cls()):
            return text
    return f'Annotated[{text}, {code}]'


def _value_type(cls: type) -> Any:
    """Return the type of the values of a field class."""
    if issubclass(cls, ovo_fields.BaseEnumField):
        return str
    for parent in cls.__mro__:
        for base in vars(parent).get('__orig_bases__', ()):
            arguments = typing.get_args(base)
            if len(arguments) == 1 and not isinstance(
                arguments[0], (typing.TypeVar, typing.ForwardRef)
            ):
                return arguments[0]
    return Any
