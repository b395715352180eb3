# SPDX-License-Identifier: Apache-2.0
"""Generate the source of the functions of one class.

Each function reads an instance's ``__dict__`` and contains the name of every
field, which avoids look-ups at run time. For the behaviour, see the methods
of oslo.versionedobjects that the functions replace.

::

    data(obj, d)               the data part of obj_to_primitive
    primitive(obj, d)          obj_to_primitive, at the object's own version
    changes(obj, d)            obj_what_changed
    decode_into(obj, d, data)  the fields of _obj_from_primitive
    init(obj, d, keywords)     the fields of __init__
    copy(obj, memo)            __deepcopy__

``d`` is the ``__dict__`` of ``obj``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from vobjects import _codegen
from vobjects.objects.codec import (
    coercion,
    copying,
    encoders,
    field_codecs,
    lazy_list,
)
from vobjects.objects.codec.override_detection import (
    INSTANCE_HOOKS,
    VersionedObject,
)

#: Stands for "no such key"; no field has this value.
UNSET: Any = object()


class GeneratedModule:
    """The lines of a generated module, and the names that they use."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = {
            'UNSET': UNSET,
            'VO': VersionedObject,
        }

    def add(self, text: str) -> None:
        self.lines.append(text)

    def bind(self, value: Any, prefix: str = 'g') -> str:
        """Return a global name for a value."""
        for known, existing in self.namespace.items():
            if existing is value:
                return known
        name = f'{prefix}{len(self.namespace)}'
        self.namespace[name] = value
        return name

    def run(self) -> dict[str, Any]:
        """Compile and run the source, and return its namespace."""
        text = '\n'.join(self.lines) + '\n'
        return _codegen.run(
            text, self.namespace, f'<vobjects codec: {self.title}>'
        )


def attribute_of(name: str) -> str:
    """Return the instance attribute that holds a field's value."""
    return '_obj_' + name


def encode_expression(
    module: GeneratedModule,
    field_codec: field_codecs.FieldCodec,
    name: str,
    local: str,
) -> str:
    """Return an expression for the primitive of a value."""
    if field_codec.is_identity:
        return local
    if field_codec.encode is None:
        field = module.bind(field_codec.field, 'f')
        return f'{field}.to_primitive(self, {name!r}, {local})'
    if field_codec.encode is encoders.encode_scalar_list:
        expression = f'[*{local}]'
    elif field_codec.encode is encoders.encode_scalar_dict:
        dicts = module.bind(coercion.DICTS, 'dicts')
        expression = (
            f'{{**{local}}} if {local}.__class__ in {dicts}'
            f' else dict({local}.items())'
        )
    else:
        expression = f'{module.bind(field_codec.encode)}({local})'
    return f'None if {local} is None else {expression}'


def unpatched_expression() -> str:
    """Return a test that no instance attribute replaces a method."""
    tests = ' or '.join(f'{hook!r} in d' for hook in INSTANCE_HOOKS)
    return f'not ({tests})'


class DataEntry(NamedTuple):
    """An entry of the data of a primitive, for generated code.

    :ivar field: name of the field
    :ivar variable: local variable for the value of the field
    :ivar expression: primitive of that value
    :ivar key: name of the field at the version of the primitive
    """

    field: str
    variable: str
    expression: str
    key: str


def data_entries(
    module: GeneratedModule, fields: dict[str, field_codecs.FieldCodec]
) -> list[DataEntry]:
    """Return an entry for each field, at the version of the class."""
    return [
        DataEntry(
            name,
            f'v{number}',
            encode_expression(module, field_codec, name, f'v{number}'),
            name,
        )
        for number, (name, field_codec) in enumerate(fields.items())
    ]


def write_data(
    module: GeneratedModule,
    entries: Sequence[DataEntry],
    parameters: str = 'self, d',
) -> None:
    """Write ``data(self, d)``: the primitives of the set fields.

    :param parameters: of the function; ``self, d`` come first
    """
    module.add(f'def data({parameters}):')
    if entries:
        module.add(' try:')
        for field, variable, _, _ in entries:
            module.add(f'  {variable} = d[{attribute_of(field)!r}]')
        module.add(' except KeyError:')
        module.add(f'  return set_fields({parameters})')
    module.add(' return {')
    for _, _, expression, key in entries:
        module.add(f'  {key!r}: {expression},')
    module.add(' }')
    module.add(f'def set_fields({parameters}):')
    module.add(' out = {}')
    for field, variable, expression, key in entries:
        module.add(f' if {attribute_of(field)!r} in d:')
        module.add(f'  {variable} = d[{attribute_of(field)!r}]')
        module.add(f'  out[{key!r}] = {expression}')
    module.add(' return out')


def write_changes(
    module: GeneratedModule,
    fields: dict[str, field_codecs.FieldCodec],
    tracking: str,
    name: str,
) -> None:
    """Write ``changes(self, d)`` under the given name.

    :param tracking: the obj_what_changed to replace: 'base' of
        VersionedObject, 'list' of ObjectListBase, 'custom' of the class
    """
    names = module.bind(frozenset(fields), 'names')
    module.add(f'def {name}(self, d):')
    if tracking == 'custom':
        module.add(' return self.obj_what_changed()')
        return
    if tracking == 'list':
        list_changes = module.bind(lazy_list.list_what_changed)
        module.add(f' return {list_changes}(self)')
        return
    module.add(' changed = self._changed_fields')
    module.add(
        f' changed = set({names}.intersection(changed)) if changed else set()'
    )
    for field, field_codec in fields.items():
        if field_codec.tracks_changes:
            module.add(f' v = d.get({attribute_of(field)!r})')
            module.add(
                ' if v is not None and isinstance(v, VO)'
                ' and v.obj_what_changed():'
            )
            module.add(f'  changed.add({field!r})')
    module.add(' return changed')


def write_primitive(
    module: GeneratedModule,
    cls: type[VersionedObject],
    size: int,
    tracking: str,
) -> None:
    """Write ``primitive(self, d)``: the data in its envelope."""
    key = cls._obj_primitive_key
    module.add('def primitive(self, d):')
    module.add(' data_ = data(self, d)')
    module.add(' out = {')
    module.add(f'  {key("name")!r}: {cls.obj_name()!r},')
    module.add(f'  {key("namespace")!r}: {cls.OBJ_PROJECT_NAMESPACE!r},')
    module.add(f'  {key("version")!r}: self.VERSION,')
    module.add(f'  {key("data")!r}: data_,')
    module.add(' }')
    module.add(' names = changes(self, d)')
    module.add(' if names:')
    # If all fields are in the data and every change is a field, there is
    # nothing to filter.
    module.add(f'  if {tracking != "base"} or len(data_) != {size}:')
    module.add('   names = [name for name in names if name in data_]')
    module.add(f'  if names: out[{key("changes")!r}] = [*names]')
    module.add(' return out')


def write_decode_into(
    module: GeneratedModule, fields: dict[str, field_codecs.FieldCodec]
) -> None:
    """Write ``decode_into(self, d, data)``: set each field in the data.

    The function returns whether the data has all fields.
    """
    steps = [
        (
            name,
            f'v{number}',
            _decode_step(module, field_codec, name, f'v{number}'),
        )
        for number, (name, field_codec) in enumerate(fields.items())
    ]
    module.add('def decode_into(self, d, data):')
    module.add(' try:')
    for name, local, _ in steps:
        module.add(f'  {local} = data[{name!r}]')
    module.add('  pass')
    module.add(' except KeyError:')
    module.add('  decode_some(self, d, data)')
    module.add('  return False')
    for _, _, step in steps:
        module.add(f' {step}')
    module.add(' return True')
    module.add('def decode_some(self, d, data):')
    module.add(' pass')
    for name, local, step in steps:
        module.add(f' if {name!r} in data:')
        module.add(f'  {local} = data[{name!r}]')
        module.add(f'  {step}')


def write_init(
    module: GeneratedModule, fields: dict[str, field_codecs.FieldCodec]
) -> None:
    """Write ``init(self, d, keywords)``: set every field from keywords.

    There must be as many keywords as fields. The function returns whether it
    has set them. It follows the order of the fields. If a field rejects a
    value, it sets nothing; the caller then follows the order of the keywords,
    and raises the error of the first invalid one.
    """
    module.add('def init(self, d, keywords):')
    module.add(' try:')
    for number, name in enumerate(fields):
        module.add(f'  v{number} = keywords[{name!r}]')
    for number, (name, field_codec) in enumerate(fields.items()):
        local = f'v{number}'
        coerce = module.bind(field_codec.coerce, 'coerce')
        value = _unless_unchanged(
            module, field_codec, f'{coerce}(self, {name!r}, {local})', local
        )
        module.add(f'  {local} = {value}')
    module.add('  pass')
    # The second attempt of the caller raises the error.
    module.add(' except Exception:')
    module.add('  return False')
    for number, name in enumerate(fields):
        module.add(f' d[{attribute_of(name)!r}] = v{number}')
    module.add(' return True')


def _decode_step(
    module: GeneratedModule,
    field_codec: field_codecs.FieldCodec,
    name: str,
    local: str,
) -> str:
    if field_codec.decode is None or field_codec.field.read_only:
        field = module.bind(field_codec.field, 'f')
        return (
            f'setattr(self, {name!r},'
            f' {field}.from_primitive(self, {name!r}, {local}))'
        )
    decode = module.bind(field_codec.decode, 'load')
    call = f'{decode}(self, {name!r}, {local})'
    value = _unless_unchanged(module, field_codec, call, local)
    return f'd[{attribute_of(name)!r}] = {value}'


def _unless_unchanged(
    module: GeneratedModule,
    field_codec: field_codecs.FieldCodec,
    call: str,
    local: str = 'v',
) -> str:
    """Return an expression that keeps values that need no coercion."""
    keep = coercion.keep_expression(field_codec.field, local, module.bind)
    if keep is not None:
        call = f'{local} if {keep} else {call}'
    if not field_codec.unchanged_types:
        return call
    unchanged_types = module.bind(field_codec.unchanged_types, 'unchanged')
    return f'{local} if {local}.__class__ in {unchanged_types} else {call}'


def write_copy(
    module: GeneratedModule,
    fields: dict[str, field_codecs.FieldCodec],
    *,
    skips_init: bool,
    is_list: bool,
) -> None:
    """Write ``copy(self, memo)``.

    :param bare: skip ``__init__``, which has no effect here
    :param as_list: ``__init__`` is that of ObjectListBase
    """
    module.namespace['new'] = object.__new__
    module.namespace['deepcopy'] = copying.deep_copy
    module.add('def copy(self, memo):')
    create = 'new(self.__class__)' if skips_init else 'self.__class__()'
    module.add(f' copied = {create}')
    module.add(' memo[id(self)] = copied')
    module.add(' d = self.__dict__')
    module.add(' to = copied.__dict__')
    if skips_init:
        module.add(" to['_changed_fields'] = set()")
    module.add(" to['_context'] = self._context")
    for name, field_codec in fields.items():
        attribute = attribute_of(name)
        module.add(f' if {attribute!r} in d:')
        module.add(f'  v = d[{attribute!r}]')
        if field_codec.copy is None or field_codec.field.read_only:
            module.add(f'  setattr(copied, {name!r}, deepcopy(v, memo))')
            continue
        copy = module.bind(field_codec.copy, 'copy')
        call = f'{copy}(copied, {name!r}, v, memo)'
        value = _unless_unchanged(module, field_codec, call)
        module.add(f'  to[{attribute!r}] = {value}')
    if 'objects' in fields and is_list:
        module.add(" if '_obj_objects' not in d: copied.objects = []")
    module.add(" to['_changed_fields'] = set(self._changed_fields)")
    module.add(' return copied')


def distinct_checks(
    fields: Iterable[field_codecs.FieldCodec],
    checks_of: Callable[[field_codecs.FieldCodec], Iterable[Any]],
) -> list[Any]:
    """Return the distinct checks of some fields."""
    return list(
        dict.fromkeys(check for field in fields for check in checks_of(field))
    )
