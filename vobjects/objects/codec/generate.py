# SPDX-License-Identifier: Apache-2.0
"""Generate the functions that run for every object of a tree.

Their source names every field or method, which replaces a loop with look-ups
at each call. As in :mod:`dataclasses`, only identifiers and values quoted with
``repr`` are inserted; other values are passed in the namespace. This is the
only use of ``exec`` in this package.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vobjects.objects.codec.field_codecs import FieldCodec
from vobjects.objects.codec.override_detection import Method

#: ``(obj, d, manifest, refuse_loss)``: returns the data of the primitive of an
#: object; ``d`` is its ``__dict__``.
Data = Callable[..., dict[str, Any]]


def attribute_of(name: str) -> str:
    """Return the instance attribute that holds a field's value."""
    return '_obj_' + name


def data_function(
    title: str,
    fields: Mapping[str, FieldCodec],
    converters: Mapping[str, Any],
) -> Data:
    """Return a function from object to the data of its primitive.

    :param title: for tracebacks
    :param converters: field name -> function ``(obj, manifest, refuse_loss,
        value)``, which encodes values if there is a manifest
    """
    namespace: dict[str, Any] = {}
    read, write, write_some = [], [], []
    for number, (name, field) in enumerate(fields.items()):
        value, encode = f'v{number}', f'encode{number}'
        namespace[encode] = field.encode
        expression = f'None if {value} is None else {encode}({value})'
        if field.encode is list:
            expression = f'None if {value} is None else [*{value}]'
        elif field.encode is dict:
            expression = f'None if {value} is None else {{**{value}}}'
        if not field.encodes:
            namespace[encode] = field.field.to_primitive
            expression = f'{encode}(obj, {name!r}, {value})'
        elif field.encode is None:
            expression = value
        elif name in converters:
            namespace[f'convert{number}'] = converters[name]
            expression = (
                f'None if {value} is None else {encode}({value})'
                f' if manifest is None'
                f' else convert{number}(obj, manifest, refuse_loss, {value})'
            )
        attribute = attribute_of(name)
        read.append(f'  {value} = d[{attribute!r}]')
        write.append(f' {name!r}: {expression},')
        write_some += [
            f' if {attribute!r} in d:',
            f'  {value} = d[{attribute!r}]',
            f'  data[{name!r}] = {expression}',
        ]
    lines = [
        'def data_of(obj, d, manifest=None, refuse_loss=False):',
        ' try:',
        *read,
        '  pass',
        ' except KeyError:',
        '  return data_of_some(obj, d, manifest, refuse_loss)',
        ' return {',
        *write,
        ' }',
        'def data_of_some(obj, d, manifest, refuse_loss):',
        ' data = {}',
        *write_some,
        ' return data',
    ]
    function: Data = _run(lines, namespace, title)['data_of']
    return function


def transfer_function(
    title: str,
    fields: Mapping[str, FieldCodec],
    keys: Mapping[str, str],
    function: str,
    extra: str = '',
) -> Any:
    """Return a function that sets the fields of an object from a mapping.

    Its parameters are the object, its ``__dict__``, the mapping and
    ``extra``.

    :param keys: field name -> key in the mapping
    :param function: attribute of a FieldCodec: ``(obj, name, value, extra)``
        converts the values that cannot be stored unchanged
    :param extra: another parameter, if the function has one
    """
    namespace: dict[str, Any] = {}
    lines = [f'def transfer(obj, d, source, {extra}):', ' pass']
    for number, (name, field) in enumerate(fields.items()):
        namespace[f'unchanged{number}'] = field.unchanged_types
        namespace[f'convert{number}'] = getattr(field, function)
        value = f'convert{number}(obj, {name!r}, value, {extra})'
        if field.unchanged_types and not field.field.read_only:
            value = f'value if type(value) in unchanged{number} else {value}'
        lines += [
            f' if {keys[name]!r} in source:',
            f'  value = source[{keys[name]!r}]',
            f'  d[{attribute_of(name)!r}] = {value}',
        ]
    return _run(lines, namespace, f'{title}, {function}')['transfer']


def condition(methods: Iterable[Method]) -> Callable[[], bool]:
    """Return a function that tells whether methods are what they are now."""
    current = []
    for owner, name in dict.fromkeys(methods):
        method = getattr(owner, name)
        current.append((owner, name, hasattr(method, '__func__'), method))
    return _are_current(tuple(current))


@functools.lru_cache(maxsize=1024)
def _are_current(
    methods: tuple[tuple[type, str, bool, Any], ...],
) -> Callable[[], bool]:
    namespace: dict[str, Any] = {}
    terms = []
    for number, (owner, name, is_bound, method) in enumerate(methods):
        bound = '.__func__' if is_bound else ''
        namespace[f'owner{number}'] = owner
        namespace[f'method{number}'] = getattr(method, '__func__', method)
        terms.append(f'owner{number}.{name}{bound} is method{number}')
    lines = [
        'def holds():',
        ' try:',
        f'  return {" and ".join(terms) or True}',
        # A function has replaced a class method.
        ' except AttributeError:',
        '  return False',
    ]
    holds: Callable[[], bool] = _run(lines, namespace, '')['holds']
    return holds


def _run(
    lines: list[str], namespace: dict[str, Any], title: str
) -> dict[str, Any]:
    """Run source in a namespace, and return the namespace."""
    text = '\n'.join(lines) + '\n'
    filename = f'<vobjects codec: {title}>'
    if title:
        # Tracebacks show the source.
        shown = text.splitlines(keepends=True)
        linecache.cache[filename] = (len(text), None, shown, filename)
    exec(compile(text, filename, 'exec'), namespace)  # noqa: S102 - see above
    return namespace
