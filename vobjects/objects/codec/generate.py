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
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
from oslo_versionedobjects import base as ovo_base

from vobjects.objects.codec.coercion import TEST_NAMES, Coercer
from vobjects.objects.codec.field_codecs import FieldCodec
from vobjects.objects.codec.override_detection import Method, VersionedObject

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
    drops: Mapping[str, Any] | None,
    apply: Callable[..., None] | None = None,
    nulls: Collection[str] = (),
    check: bool = False,
    parts: Mapping[str, Any] | None = None,
) -> Data:
    """Return a function from object to the data of its primitive.

    :param title: for tracebacks
    :param converters: field name -> function ``(obj, manifest, refuse_loss,
        value)``, which encodes values if there is a manifest
    :param drops: field name -> primitive. Omit these fields while they are
        null or have that primitive; otherwise, call ``apply``. None: call
        ``apply`` for all data
    :param apply: ``(data, refuse_loss=...)``: converts data in place
    :param check: whether the object must have its required fields
    :param parts: what the check passes to ``obj.check_parts``, if anything
    :param nulls: fields in ``drops`` whose default is not null
    """
    namespace: dict[str, Any] = {'apply': apply, 'parts': parts}
    read, write, write_some, add_drops = [], [], [], ['']
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
        if drops and name in drops:
            default = f'default{number}'
            namespace[default] = drops[name]
            add_drops += [
                f' {value} = d.get({attribute!r})',
                f' if {value} is not None:',
                f'  {value} = {expression}',
                f'  if type({value}) is not type({default})'
                f' or {value} != {default}:',
                f'   data[{name!r}] = {value}',
                '   is_lossy = True',
            ]
            if name in nulls:
                add_drops += [
                    f' elif refuse_loss == "null" and {attribute!r} in d:',
                    f'  data[{name!r}] = None',
                    '  is_lossy = True',
                ]
            continue
        read.append(f'  {value} = d[{attribute!r}]')
        write.append(f'  {name!r}: {expression},')
        write_some += [
            f' if {attribute!r} in d:',
            f'  {value} = d[{attribute!r}]',
            f'  data[{name!r}] = {expression}',
        ]
    lines = [
        'def data_of(obj, d, manifest=None, refuse_loss=False):',
        *([' obj.check_parts(parts)'] if check and parts else []),
        f' is_lossy = {drops is None}',
        ' try:',
        *read,
        '  pass',
        ' except KeyError:',
        '  data = data_of_some(obj, d, manifest, refuse_loss)',
        ' else:',
        '  data = {',
        *write,
        '  }',
        *add_drops,
        ' if is_lossy:',
        '  apply(data, refuse_loss=refuse_loss)',
        ' return data',
        'def data_of_some(obj, d, manifest, refuse_loss):',
        *([' obj.check_complete()'] if check else []),
        ' data = {}',
        *write_some,
        ' return data',
    ]
    function: Data = _run(lines, namespace, title)['data_of']
    return function


class Transfer(NamedTuple):
    """Functions that set the fields of an object from a mapping.

    Their parameters are the object, its ``__dict__`` and the mapping.

    :ivar all: sets all fields, and returns True; returns False, without
        setting any, if the mapping lacks one
    :ivar some: sets the fields that the mapping has
    """

    all: Callable[..., bool]
    some: Callable[..., None]


def transfer(
    title: str,
    fields: Mapping[str, FieldCodec],
    function: str,
    key_of: Callable[[str], str] = str,
    extra: str = '',
) -> Transfer:
    """Return functions that set the fields of an object from a mapping.

    :param function: attribute of a FieldCodec: ``(obj, name, value, extra)``
        converts the values that cannot be stored unchanged
    :param key_of: returns the key of a field in the mapping
    :param extra: another parameter, if the function has one
    """
    namespace: dict[str, Any] = dict(TEST_NAMES)
    read, write, write_some = [], [], []
    for number, (name, field) in enumerate(fields.items()):
        value, key = f'v{number}', key_of(name)
        namespace[f'valid{number}'] = field.valid
        namespace[f'convert{number}'] = getattr(field, function)
        expression = f'convert{number}(obj, {name!r}, {value}, {extra})'
        test = (
            field.decode_unchanged if function == 'decode' else field.unchanged
        ).format(v=value, valid=f'valid{number}')
        if test:
            expression = f'{value} if {test} else {expression}'
        read.append(f'  {value} = source[{key!r}]')
        write.append(f' d[{attribute_of(name)!r}] = {expression}')
        write_some += [
            f' if {key!r} in source:',
            f'  {value} = source[{key!r}]',
            f' {write[-1]}',
        ]
    lines = [
        f'def set_all(obj, d, source, {extra}):',
        ' try:',
        *read,
        '  pass',
        ' except KeyError:',
        '  return False',
        *write,
        ' return True',
        f'def set_some(obj, d, source, {extra}):',
        *write_some,
        ' pass',
    ]
    _run(lines, namespace, f'{title}, {function}')
    return Transfer(namespace['set_all'], namespace['set_some'])


def struct_reader(
    title: str, decoders: Mapping[str, Coercer | None]
) -> Callable[[Any, Any, Any], None]:
    """Return a function that sets the fields of an object from a struct.

    Its parameters are the object, its ``__dict__`` and the struct, which has
    the attributes of the object. Attributes that are UNSET are skipped.

    :param decoders: field name -> converts the value; None: keep the value
    """
    namespace: dict[str, Any] = {'UNSET': msgspec.UNSET}
    lines = ['def read(obj, d, struct):', ' pass']
    for number, (name, decode) in enumerate(decoders.items()):
        attribute, value = attribute_of(name), 'value'
        if decode is not None:
            namespace[f'decode{number}'] = decode
            value = (
                f'None if value is None else'
                f' decode{number}(obj, {name!r}, value)'
            )
        lines += [
            f' value = struct.{attribute}',
            ' if value is not UNSET:',
            f'  d[{attribute!r}] = {value}',
        ]
    return _run(lines, namespace, f'{title}, read')['read']  # type: ignore[no-any-return]


def setters(
    title: str, fields: Mapping[str, FieldCodec]
) -> dict[str, Callable[[Any, Any], None]]:
    """Return functions ``(obj, value)`` that set fields, as properties do."""
    namespace: dict[str, Any] = dict(TEST_NAMES)
    lines = []
    for number, (name, field) in enumerate(fields.items()):
        namespace[f'valid{number}'] = field.valid
        namespace[f'coerce{number}'] = field.coerce
        namespace[f'field{number}'] = field.field
        test = field.unchanged.format(v='value', valid=f'valid{number}')
        lines += [
            f'def set{number}(obj, value):',
            f' if not ({_are_current(field.methods("coerce"), namespace)}):',
            f'  value = field{number}.coerce(obj, {name!r}, value)',
            f' elif not ({test or False}):',
            f'  value = coerce{number}(obj, {name!r}, value)',
            ' d = obj.__dict__',
            f' d["_changed_fields"].add({name!r})',
            f' d[{attribute_of(name)!r}] = value',
        ]
    _run(lines, namespace, f'{title}, set')
    return {
        name: namespace[f'set{number}'] for number, name in enumerate(fields)
    }


def _get(self: Any) -> Any:
    """Return the field FIELD: the template of getters."""
    try:
        return self._obj_FIELD
    except AttributeError:
        pass
    self.obj_load_attr('FIELD')
    return self._obj_FIELD


def _get_nullable(self: Any) -> Any:
    """Return the field FIELD, or None: the template for nullable fields."""
    try:
        return self._obj_FIELD
    except AttributeError:
        pass
    self.obj_load_attr('FIELD')
    return getattr(self, '_obj_FIELD', None)


def _getter(
    name: str, template: Callable[[Any], Any] = _get
) -> Callable[[Any], Any]:
    """Return a getter of a field, which reads one attribute."""

    def put_name(names: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(n and n.replace('FIELD', name) for n in names)

    code = template.__code__
    code = code.replace(
        co_names=put_name(code.co_names), co_consts=put_name(code.co_consts)
    )
    return types.FunctionType(
        code, {'AttributeError': AttributeError, 'getattr': getattr}
    )


def _code_in(function: Any, name: str) -> types.CodeType:
    constants: Iterable[Any] = function.__code__.co_consts
    (code,) = (c for c in constants if getattr(c, 'co_name', '') == name)
    return code  # type: ignore[no-any-return]


_GETTER = _code_in(ovo_base._make_class_properties, 'getter')
_SETTER = _code_in(ovo_base._make_class_properties, 'setter')


def install_getters(
    cls: type[VersionedObject], *, null_while_unset: bool = False
) -> None:
    """Read the fields of a class with one look-up instead of two.

    :param null_while_unset: whether a nullable field that is neither set nor
        loaded is read as null, unlike in oslo.versionedobjects
    """
    for name, field in cls.fields.items():
        current: Any = vars(cls).get(name)
        if is_field_property(current, name, field):
            is_null = null_while_unset and field.nullable
            getter = _getter(name, _get_nullable if is_null else _get)
            setattr(cls, name, property(getter, current.fset, current.fdel))


def is_field_property(value: Any, name: str, field: Any) -> bool:
    """Tell whether a class attribute is the property of a field.

    A property that a class defines itself may do more than that.
    """
    if not isinstance(value, property):
        return False
    getter: Any = value.fget
    setter: Any = value.fset
    return (
        getattr(getter, '__code__', None)
        in (
            _GETTER,
            _getter(name).__code__,
            _getter(name, _get_nullable).__code__,
        )
        and getattr(setter, '__code__', None) is _SETTER
        # (name, field) are the defaults of the last parameters.
        and setter.__defaults__[-1] is field
    )


def condition(methods: Iterable[Method]) -> Callable[[], bool]:
    """Return a function that tells whether methods are what they are now."""
    namespace: dict[str, Any] = {}
    lines = [
        'def holds():',
        ' try:',
        f'  return {_are_current(methods, namespace)}',
        # A function has replaced a class method.
        ' except AttributeError:',
        '  return False',
    ]
    holds: Callable[[], bool] = _run(lines, namespace, '')['holds']
    return holds


def _are_current(methods: Iterable[Method], namespace: dict[str, Any]) -> str:
    """Return an expression: methods are what they are now.

    Classes that inherit a method from the same class are tested at once, by
    a common subclass: it inherits the method that replaces it in any of them.
    """
    groups: dict[tuple[str, type], list[type]] = {}
    for owner, name in dict.fromkeys(methods):
        source = next(cls for cls in owner.__mro__ if name in vars(cls))
        groups.setdefault((name, source), []).append(owner)
    terms = []
    for (name, _), owners in groups.items():
        for owner in _common_subclass(*owners):
            number = len(namespace)
            method = getattr(owner, name)
            bound = '.__func__' if hasattr(method, '__func__') else ''
            namespace[f'owner{number}'] = owner
            namespace[f'method{number}'] = getattr(method, '__func__', method)
            terms.append(f'owner{number}.{name}{bound} is method{number}')
    return ' and '.join(terms) or 'True'


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
