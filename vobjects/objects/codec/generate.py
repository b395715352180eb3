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
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from vobjects.objects.codec.coercion import TEST_NAMES
from vobjects.objects.codec.override_detection import Method

#: Returns a dict from a mapping, which is one of its parameters.
Mapper = Callable[..., dict[str, Any]]

#: Key in the source, key in the result, name of the field, the expression of
#: the value in the result, and the names in the expression. It is a template:
#: ``{v}`` stands for the value in the source, ``{name}`` for the field, and
#: ``{n}`` follows each of the names.
Item = tuple[str, str, str, str, Mapping[str, Any]]


def mapper(title: str, items: Iterable[Item], parameters: str) -> Mapper:
    """Return a function from one mapping to another.

    It maps the keys that the source has. If the source has all keys, which is
    the usual case, it looks up each key once.

    :param title: for tracebacks
    :param parameters: names of the function's parameters, one of which is
        ``source``
    """
    namespace = dict(TEST_NAMES)
    read, write, write_some = [], [], []
    for n, (key, new_key, name, template, values) in enumerate(items):
        namespace |= {f'{word}{n}': value for word, value in values.items()}
        expression = template.format(v=f'v{n}', n=n, name=repr(name))
        read.append(f'  v{n} = source[{key!r}]')
        write.append(f'  {new_key!r}: {expression},')
        write_some += [
            f' if {key!r} in source:',
            f'  v{n} = source[{key!r}]',
            f'  result[{new_key!r}] = {expression}',
        ]
    lines = [
        f'def map_items({parameters}):',
        ' try:',
        *(read or ['  pass']),
        ' except KeyError:',
        '  result = {}',
        ' else:',
        '  return {',
        *write,
        '  }',
        *write_some,
        ' return result',
    ]
    function: Mapper = _run(lines, namespace, title)['map_items']
    return function


def reader(
    title: str, items: Iterable[tuple[str, str, Any]]
) -> Callable[[Any, Any], dict[str, Any]]:
    """Return a function from a struct to the attributes of an object.

    Its parameters are the object and the struct. Attributes that are UNSET
    are skipped.

    :param items: attribute, name of the field, and a function ``(obj, name,
        value)`` that converts the value; None: keep the value
    """
    namespace: dict[str, Any] = {'UNSET': msgspec.UNSET}
    lines = ['def read(obj, struct):', ' d = {}']
    for n, (attribute, name, decode) in enumerate(items):
        namespace[f'decode{n}'] = decode
        value = f'None if v is None else decode{n}(obj, {name!r}, v)'
        lines += [
            f' v = struct.{attribute}',
            ' if v is not UNSET:',
            f'  d[{attribute!r}] = {value if decode else "v"}',
        ]
    lines.append(' return d')
    return _run(lines, namespace, f'{title}, read')['read']  # type: ignore[no-any-return]


def condition(methods: Iterable[Method]) -> Callable[[], bool]:
    """Return a function that tells whether methods are what they are now.

    Classes that inherit a method from the same class are tested at once, by
    a common subclass: it inherits the method that replaces it in any of them.
    """
    groups: dict[tuple[str, type], list[type]] = {}
    for owner, name in dict.fromkeys(methods):
        source = next(cls for cls in owner.__mro__ if name in vars(cls))
        groups.setdefault((name, source), []).append(owner)
    namespace: dict[str, Any] = {}
    terms = []
    for (name, _), owners in groups.items():
        for owner in _common_subclass(*owners):
            number = len(namespace)
            method = getattr(owner, name)
            bound = '.__func__' if hasattr(method, '__func__') else ''
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


@functools.lru_cache(maxsize=1024)
def _common_subclass(*classes: type) -> tuple[type, ...]:
    """Return a subclass of all classes; otherwise, the classes."""
    bases = tuple(
        cls
        for cls in classes
        if not any(cls in other.__mro__[1:] for other in classes)
    )
    if len(bases) == 1:
        return bases
    try:
        return (types.new_class('CommonSubclass', bases),)
    except TypeError:  # for example, they have different metaclasses
        return classes


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
