# SPDX-License-Identifier: Apache-2.0
"""Convert objects to a peer's version: one function per class and version.

The plan of :mod:`vobjects.objects.history` is compiled into the function. Most
fields that the version lacks are never converted, and renamed fields get their
old name directly. The cost does not depend on the number of versions.

Functions have the signature ``(obj, d, manifest, refuse_loss)``. Objects that
cannot be compiled (with a conversion written by hand, or of a class without
declared history) are passed to ``obj._child_slowly`` of
:class:`vobjects.objects.Object`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo

from vobjects import exceptions
from vobjects.objects import history
from vobjects.objects.codec import (
    copying,
    field_codecs,
    generate,
    lazy_list,
    override_detection,
)
from vobjects.objects.codec.compiled import Compiled, compiled
from vobjects.objects.codec.lazy_list import UnreadObjects
from vobjects.versions import Version

#: Maximum number of compiled versions per class. Versions come from the
#: manifests of peers, so there must be a limit; a fleet has far fewer.
MAX_VERSIONS = 64

At = Callable[[Any, dict[str, Any], Mapping[str, str] | None, bool], Any]
Convert = Callable[[Any, Any, Mapping[str, str], bool], Any]


def function_at(form: Compiled, version: str) -> At:
    """Return the function that converts objects of a class to a version.

    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """
    found: At | None = form.at.get(version)
    if found is None:
        found = _write(form, version)
        if len(form.at) < MAX_VERSIONS:
            form.at[version] = found
    return found


def _write(form: Compiled, version: str) -> At:
    cls: Any = form.cls
    plan: history.Plan = cls._plan_to(version)
    drops = {drop.name: drop for drop in plan.drops}
    carries = {carry.source: carry for carry in plan.carries}
    source = generate.Source(f'{form.cls.__qualname__} at {version}')
    plan_ = source.name(plan, 'plan')
    kept: list[tuple[str, str, str, str]] = []
    dropped: list[tuple[str, str, str]] = []
    converted: list[tuple[str, str, str]] = []
    for number, (name, handled) in enumerate(form.fields.items()):
        local = f'v{number}'
        term = _term(source, handled, name, local)
        carry = carries.get(name)
        if name in drops:
            if handled.holds_objects():
                # Nested objects are converted even if they are dropped.
                kept.append((name, local, term, _aside(name)))
            dropped.append((name, local, term))
        elif carry is not None and carry.converts:
            converted.append((name, local, term))
        else:
            kept.append((name, local, term, carry.target if carry else name))
    _write_kept(source, kept)
    source.add('def at(self, d, manifest, refuse):')
    source.add(' out = kept(self, d, manifest, refuse)')
    # As in the plan, check for losses before converting values.
    for name, local, term in dropped:
        if form.fields[name].holds_objects():
            source.add(f' {local} = out.pop({_aside(name)!r}, None)')
            term = local
        else:
            source.add(f' {local} = d.get({generate.storage(name)!r})')
        _write_drop(source, drops[name], local, term, plan_)
    for name, local, term in converted:
        held = generate.storage(name)
        carry = carries[name]
        source.add(f' if {held!r} in d:')
        source.add(f'  {local} = d[{held!r}]')
        source.add(
            f'  out[{carry.target!r}] ='
            f' {plan_}._converted({source.name(carry, "carry")}, {term})'
        )
    for fill in plan.fills:
        source.add(f' if {fill.name!r} not in out:')
        source.add(
            f'  out[{fill.name!r}] = {_constant(source, fill.primitive)}'
        )
    _write_envelope(source, form, version, carries)
    made: At = source.run()['at']
    return made


def _aside(name: str) -> str:
    """Return a temporary key for a value; it cannot be a field name."""
    return f'{name} aside'


def _write_kept(
    source: generate.Source, kept: list[tuple[str, str, str, str]]
) -> None:
    source.add('def kept(self, d, manifest, refuse):')
    if kept:
        source.add(' try:')
        for name, local, _, _ in kept:
            source.add(f'  {local} = d[{generate.storage(name)!r}]')
        source.add(' except KeyError:')
        source.add('  return some(self, d, manifest, refuse)')
    source.add(' return {')
    for _, _, term, target in kept:
        source.add(f'  {target!r}: {term},')
    source.add(' }')
    source.add('def some(self, d, manifest, refuse):')
    source.add(' out = {}')
    for name, local, term, target in kept:
        held = generate.storage(name)
        source.add(f' if {held!r} in d:')
        source.add(f'  {local} = d[{held!r}]')
        source.add(f'  out[{target!r}] = {term}')
    source.add(' return out')


def _write_drop(
    source: generate.Source,
    drop: history.Drop,
    local: str,
    term: str,
    plan: str,
) -> None:
    if drop.ignore:
        return
    source.add(f' if refuse and {local} is not None:')
    source.add(f'  {local} = {term}')
    harmless = [known for known in drop.harmless if known is not None]
    indent = '  '
    if harmless:
        default = source.name(harmless[0], 'default')
        source.add(
            f'  if not ({local}.__class__ is {default}.__class__'
            f' and {local} == {default}):'
        )
        indent = '   '
    # The plan checks again, so both agree, and raises the error.
    source.add(
        f'{indent}{plan}.apply({{{drop.name!r}: {local}}}, refuse_loss=True)'
    )


def _constant(source: generate.Source, primitive: Any) -> str:
    name = source.name(primitive, 'fill')
    if primitive.__class__ in copying.ATOMS:
        return name
    return f'{source.name(copy.deepcopy)}({name})'


def _write_envelope(
    source: generate.Source,
    form: Compiled,
    version: str,
    carries: Mapping[str, history.Carry],
) -> None:
    cls = form.cls
    key = cls._obj_primitive_key
    source.space['changed'] = form.changed
    source.add(' made = {')
    source.add(f'  {key("name")!r}: {cls.obj_name()!r},')
    source.add(f'  {key("namespace")!r}: {cls.OBJ_PROJECT_NAMESPACE!r},')
    source.add(f'  {key("version")!r}: {version!r},')
    source.add(f'  {key("data")!r}: out,')
    source.add(' }')
    source.add(' found = changed(self, d)')
    source.add(' if found:')
    renamed = {c.source: c.target for c in carries.values()}
    if any(old != new for old, new in renamed.items()):
        names = source.name(renamed, 'renamed')
        source.add(f'  found = [{names}.get(name, name) for name in found]')
    source.add('  found = [name for name in found if name in out]')
    source.add(f'  if found: made[{key("changes")!r}] = found')
    source.add(' return made')


def _term(
    source: generate.Source,
    handled: field_codecs.Handling,
    name: str,
    local: str,
) -> str:
    """Return an expression for a primitive, with nested objects converted."""
    if not handled.holds_objects():
        return generate.dump_term(source, handled, name, local)
    convert = source.name(_converter(handled.field._type), 'convert')
    if handled.dump is None:
        raise AssertionError(name)
    plain = source.name(handled.dump)
    return (
        f'None if {local} is None'
        f' else {plain}({local}) if manifest is None'
        f' else {convert}(self, {local}, manifest, refuse)'
    )


def _converter(kind: Any) -> Convert:
    if isinstance(kind, ovo.Object):
        return _child
    if isinstance(kind, ovo.Dict):
        inner = _converter(kind._element_type._type)
        return lambda obj, value, manifest, refuse: {
            key: None if item is None else inner(obj, item, manifest, refuse)
            for key, item in value.items()
        }
    if isinstance(kind._element_type._type, ovo.Object):
        each: Convert = _children
    else:
        deeper = _converter(kind._element_type._type)

        def each(obj: Any, value: Any, manifest: Any, refuse: bool) -> Any:
            return [
                None if item is None else deeper(obj, item, manifest, refuse)
                for item in value
            ]

    if isinstance(kind, ovo.Set):
        return lambda *arguments: tuple(each(*arguments))
    return each


def _function_for(
    cls: type[override_detection.VersionedObject], manifest: Mapping[str, str]
) -> tuple[Callable[[Any], bool], At] | None:
    """Return how to convert objects of a class; None: without compiling.

    :raises vobjects.exceptions.UnsupportedType: the manifest lacks the type
    """
    if not hasattr(cls, 'obj_to_primitive'):
        return None
    form = compiled(cls)
    if not form.may_convert():
        return None
    name = form.type_name
    version = manifest.get(name)
    if version is None:
        raise exceptions.UnsupportedType(name)
    return form.plain, function_at(form, version)


def _child(
    parent: Any, child: Any, manifest: Mapping[str, str], refuse: bool
) -> Any:
    found = _function_for(child.__class__, manifest)
    if found is not None:
        plain, at = found
        d = child.__dict__
        if plain(d) and is_newest(child, d):
            return at(child, d, manifest, refuse)
    return parent._child_slowly(child, manifest, refuse)


def is_newest(child: Any, d: dict[str, Any]) -> bool:
    """Tell whether an object has the version of its class."""
    return 'VERSION' not in d or d['VERSION'] == child.__class__.VERSION


def _children(
    parent: Any, objects: Any, manifest: Mapping[str, str], refuse: bool
) -> list[Any]:
    if objects.__class__ is UnreadObjects:
        form = lazy_list.form_of_waiting(objects)
        if (
            form is not None
            and manifest.get(form.type_name) == form.cls.VERSION
            and form.may_convert()
        ):
            return lazy_list.primitives(
                objects, lambda some: _children(parent, some, manifest, refuse)
            )
    made: list[Any] = []
    last: Any = None
    found: tuple[Callable[[Any], bool], At] | None = None
    for child in objects:
        if child is None:
            made.append(None)
            continue
        kind = child.__class__
        if kind is not last:
            last, found = kind, _function_for(kind, manifest)
        if found is not None:
            d = child.__dict__
            if found[0](d) and is_newest(child, d):
                made.append(found[1](child, d, manifest, refuse))
                continue
        made.append(parent._child_slowly(child, manifest, refuse))
    return made


class Upgrade:
    """How to convert data of an older version to the newest; see the plan."""

    __slots__ = ('empty', 'known', 'names', 'plan', 'source')

    def __init__(self, cls: Any, version: str) -> None:
        self.source = Version.parse(version)
        timeline: history.History = cls._history
        self.known = frozenset(timeline.fields_at(self.source))
        self.plan = timeline.plan(self.source, timeline.version)
        plan = self.plan
        self.empty = not (plan.drops or plan.carries or plan.fills)
        self.names = {c.source: c.target for c in plan.carries}


def upgrade_from(form: Compiled, version: str) -> Upgrade:
    """Return how to read a version of a class.

    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """
    found: Upgrade | None = form.up.get(version)
    if found is None:
        found = Upgrade(form.cls, version)
        if len(form.up) < MAX_VERSIONS:
            form.up[version] = found
    return found


def convert(
    obj: Any,
    version: str | None,
    manifest: Mapping[str, str] | None,
    refuse: bool,
) -> dict[str, Any] | None:
    """Return the primitive of an object at a version; None: not compiled.

    :raises oslo_versionedobjects.exception.InvalidTargetVersion: the version
        is newer than the object's
    :raises vobjects.exceptions.ConversionError: the object cannot be
        represented at that version
    """
    form = compiled(obj.__class__)
    d = obj.__dict__
    if not (form.may_convert() and form.plain(d) and is_newest(obj, d)):
        return None
    newest = form.cls.VERSION
    if version is None or version == newest:
        # oslo.versionedobjects ignores an empty manifest, unless the version
        # differs.
        if not manifest:
            return form.primitive(obj, d)
        version = newest
    elif manifest is None and form.holds_objects:
        # Nested versions come from obj_relationships, if at all.
        return None
    elif override_detection.version_tuple(
        version
    ) > override_detection.version_tuple(newest):
        raise ovo_exception.InvalidTargetVersion(version=version)
    made: dict[str, Any] = function_at(form, version)(obj, d, manifest, refuse)
    return made
