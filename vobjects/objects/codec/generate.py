# SPDX-License-Identifier: Apache-2.0
"""Generate the source of the functions of one class.

Each function reads an instance's ``__dict__`` and contains the name of every
field, which avoids look-ups at run time. For the behaviour, see the methods
of oslo.versionedobjects that the functions replace.

::

    data(obj, d)           the data part of obj_to_primitive
    primitive(obj, d)      obj_to_primitive, at the object's own version
    changed(obj, d)        obj_what_changed
    fill(obj, d, data)     the fields of _obj_from_primitive
    build(obj, d, given)   the fields of __init__
    copy(obj, memo)        __deepcopy__

``d`` is the ``__dict__`` of ``obj``.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable
from typing import Any

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


class Source:
    """The lines of a generated module, and the names that they use."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.lines: list[str] = []
        self.space: dict[str, Any] = {'UNSET': UNSET, 'VO': VersionedObject}

    def add(self, text: str) -> None:
        self.lines.append(text)

    def name(self, value: Any, prefix: str = 'g') -> str:
        """Return a global name for a value."""
        for known, found in self.space.items():
            if found is value:
                return known
        name = f'{prefix}{len(self.space)}'
        self.space[name] = value
        return name

    def run(self) -> dict[str, Any]:
        """Compile and run the source, and return its namespace."""
        text = '\n'.join(self.lines) + '\n'
        name = f'<vobjects codec: {self.title}>'
        # Makes tracebacks show the lines.
        linecache.cache[name] = (
            len(text),
            None,
            text.splitlines(keepends=True),
            name,
        )
        exec(compile(text, name, 'exec'), self.space)  # noqa: S102 - generated text; names in it are quoted
        return self.space


def storage(name: str) -> str:
    """Return the instance attribute that holds a field's value."""
    return '_obj_' + name


def dump_term(
    source: Source, handling: field_codecs.Handling, name: str, local: str
) -> str:
    """Return an expression for the primitive of a value."""
    if handling.same:
        return local
    if handling.dump is None:
        field = source.name(handling.field, 'f')
        return f'{field}.to_primitive(self, {name!r}, {local})'
    if handling.dump is encoders.dump_scalar_list:
        made = f'[*{local}]'
    elif handling.dump is encoders.dump_scalar_dict:
        dicts = source.name(coercion.DICTS, 'dicts')
        made = (
            f'{{**{local}}} if {local}.__class__ in {dicts}'
            f' else dict({local}.items())'
        )
    else:
        made = f'{source.name(handling.dump)}({local})'
    return f'None if {local} is None else {made}'


def plain_instance() -> str:
    """Return a test that no instance attribute replaces a method."""
    tests = ' or '.join(f'{hook!r} in d' for hook in INSTANCE_HOOKS)
    return f'not ({tests})'


def write_data(
    source: Source, fields: dict[str, field_codecs.Handling]
) -> None:
    """Write ``data(self, d)``: the primitives of the set fields."""
    terms = [
        (name, f'v{number}', dump_term(source, handling, name, f'v{number}'))
        for number, (name, handling) in enumerate(fields.items())
    ]
    source.add('def data(self, d):')
    if terms:
        source.add(' try:')
        for name, local, _ in terms:
            source.add(f'  {local} = d[{storage(name)!r}]')
        source.add(' except KeyError:')
        source.add('  return some(self, d)')
    source.add(' return {')
    for name, _, term in terms:
        source.add(f'  {name!r}: {term},')
    source.add(' }')
    source.add('def some(self, d):')
    source.add(' out = {}')
    for name, local, term in terms:
        source.add(f' if {storage(name)!r} in d:')
        source.add(f'  {local} = d[{storage(name)!r}]')
        source.add(f'  out[{name!r}] = {term}')
    source.add(' return out')


def write_changed(
    source: Source,
    fields: dict[str, field_codecs.Handling],
    tracking: str,
    name: str,
) -> None:
    """Write ``changed(self, d)`` under the given name.

    :param tracking: the obj_what_changed to replace: 'plain' of
        VersionedObject, 'list' of ObjectListBase, 'own' of the class
    """
    names = source.name(frozenset(fields), 'names')
    source.add(f'def {name}(self, d):')
    if tracking == 'own':
        source.add(' return self.obj_what_changed()')
        return
    if tracking == 'list':
        source.add(' found = set(self._changed_fields)')
        source.add(' objects = self.objects')
        kind = source.name(lazy_list.UnreadObjects, 'unread')
        have = source.name(lazy_list.have_changes, 'have_changes')
        source.add(f' if objects.__class__ is {kind}:')
        source.add(f"  if {have}(objects): found.add('objects')")
        source.add('  return found')
        source.add(' for item in objects:')
        source.add('  if item.obj_what_changed():')
        source.add("   found.add('objects')")
        source.add(' return found')
        return
    source.add(' found = self._changed_fields')
    source.add(
        f' found = set({names}.intersection(found)) if found else set()'
    )
    for field, handling in fields.items():
        if handling.tracked:
            source.add(f' v = d.get({storage(field)!r})')
            source.add(
                ' if v is not None and isinstance(v, VO)'
                ' and v.obj_what_changed():'
            )
            source.add(f'  found.add({field!r})')
    source.add(' return found')


def write_primitive(
    source: Source,
    cls: type[VersionedObject],
    size: int,
    tracking: str,
) -> None:
    """Write ``primitive(self, d)``: the data in its envelope."""
    key = cls._obj_primitive_key
    source.add('def primitive(self, d):')
    source.add(' data_ = data(self, d)')
    source.add(' out = {')
    source.add(f'  {key("name")!r}: {cls.obj_name()!r},')
    source.add(f'  {key("namespace")!r}: {cls.OBJ_PROJECT_NAMESPACE!r},')
    source.add(f'  {key("version")!r}: self.VERSION,')
    source.add(f'  {key("data")!r}: data_,')
    source.add(' }')
    source.add(' found = changed(self, d)')
    source.add(' if found:')
    # If all fields are in the data and every change is a field, there is
    # nothing to filter.
    source.add(f'  if {tracking != "plain"} or len(data_) != {size}:')
    source.add('   found = [name for name in found if name in data_]')
    source.add(f'  if found: out[{key("changes")!r}] = [*found]')
    source.add(' return out')


def write_fill(
    source: Source, fields: dict[str, field_codecs.Handling]
) -> None:
    """Write ``fill(self, d, data)``: set each field that is in the data.

    The function returns whether the data has all fields.
    """
    steps = [
        (name, f'v{number}', _fill_step(source, handling, name, f'v{number}'))
        for number, (name, handling) in enumerate(fields.items())
    ]
    source.add('def fill(self, d, data):')
    source.add(' try:')
    for name, local, _ in steps:
        source.add(f'  {local} = data[{name!r}]')
    source.add('  pass')
    source.add(' except KeyError:')
    source.add('  fill_some(self, d, data)')
    source.add('  return False')
    for _, _, step in steps:
        source.add(f' {step}')
    source.add(' return True')
    source.add('def fill_some(self, d, data):')
    source.add(' pass')
    for name, local, step in steps:
        source.add(f' if {name!r} in data:')
        source.add(f'  {local} = data[{name!r}]')
        source.add(f'  {step}')


def write_build(
    source: Source, fields: dict[str, field_codecs.Handling]
) -> None:
    """Write ``build(self, d, given)``: set every field from keywords.

    There must be as many keywords as fields. The function returns whether it
    has set them. It follows the order of the fields. If a field rejects a
    value, it sets nothing; the caller then follows the order of the keywords,
    and raises the error of the first invalid one.
    """
    source.add('def build(self, d, given):')
    source.add(' try:')
    for number, name in enumerate(fields):
        source.add(f'  v{number} = given[{name!r}]')
    for number, (name, handling) in enumerate(fields.items()):
        local = f'v{number}'
        coerce = source.name(handling.coerce, 'coerce')
        value = _unless_stored(
            source, handling, f'{coerce}(self, {name!r}, {local})', local
        )
        source.add(f'  {local} = {value}')
    source.add('  pass')
    # The second attempt of the caller raises the error.
    source.add(' except Exception:')
    source.add('  return False')
    for number, name in enumerate(fields):
        source.add(f' d[{storage(name)!r}] = v{number}')
    source.add(' return True')


def _fill_step(
    source: Source, handling: field_codecs.Handling, name: str, local: str
) -> str:
    if handling.load is None or handling.field.read_only:
        field = source.name(handling.field, 'f')
        return (
            f'setattr(self, {name!r},'
            f' {field}.from_primitive(self, {name!r}, {local}))'
        )
    load = source.name(handling.load, 'load')
    call = f'{load}(self, {name!r}, {local})'
    value = _unless_stored(source, handling, call, local)
    return f'd[{storage(name)!r}] = {value}'


def _unless_stored(
    source: Source,
    handling: field_codecs.Handling,
    call: str,
    local: str = 'v',
) -> str:
    """Return an expression that keeps values that need no coercion."""
    kept = coercion.kept_if(handling.field, local, source.name)
    if kept is not None:
        call = f'{local} if {kept} else {call}'
    if not handling.stored:
        return call
    stored = source.name(handling.stored, 'stored')
    return f'{local} if {local}.__class__ in {stored} else {call}'


def write_copy(
    source: Source,
    fields: dict[str, field_codecs.Handling],
    *,
    bare: bool,
    as_list: bool,
) -> None:
    """Write ``copy(self, memo)``.

    :param bare: skip ``__init__``, which has no effect here
    :param as_list: ``__init__`` is that of ObjectListBase
    """
    source.space['new'] = object.__new__
    source.space['deepcopy'] = copying.deep_copy
    source.add('def copy(self, memo):')
    source.add(
        f' made = {"new(self.__class__)" if bare else "self.__class__()"}'
    )
    source.add(' memo[id(self)] = made')
    source.add(' d = self.__dict__')
    source.add(' to = made.__dict__')
    if bare:
        source.add(" to['_changed_fields'] = set()")
    source.add(" to['_context'] = self._context")
    for name, handling in fields.items():
        held = storage(name)
        source.add(f' if {held!r} in d:')
        source.add(f'  v = d[{held!r}]')
        if handling.copy is None or handling.field.read_only:
            source.add(f'  setattr(made, {name!r}, deepcopy(v, memo))')
            continue
        copy = source.name(handling.copy, 'copy')
        call = f'{copy}(made, {name!r}, v, memo)'
        source.add(
            f'  to[{held!r}] = {_unless_stored(source, handling, call)}'
        )
    if 'objects' in fields and as_list:
        source.add(" if '_obj_objects' not in d: made.objects = []")
    source.add(" to['_changed_fields'] = set(self._changed_fields)")
    source.add(' return made')


def guards_of(
    fields: Iterable[field_codecs.Handling],
    pick: Callable[[field_codecs.Handling], Iterable[Any]],
) -> list[Any]:
    """Return the distinct guards of some fields."""
    return list(
        dict.fromkeys(guard for field in fields for guard in pick(field))
    )
