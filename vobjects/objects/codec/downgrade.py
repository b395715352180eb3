# SPDX-License-Identifier: Apache-2.0
"""Convert objects to a peer's version: one function per class and version.

The plan of :mod:`vobjects.objects.history` is compiled into the function. Most
fields that the version lacks are never converted, and renamed fields get their
old name directly. The cost does not depend on the number of versions.

Functions have the signature ``(obj, d, manifest, refuse_loss)``. Objects that
cannot be compiled (with a conversion written by hand, or of a class without
declared history) are passed to ``obj._downgrade_uncompiled`` of
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
)
from vobjects.objects.codec.class_codec import ClassCodec, class_codec
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import (
    VersionedObject,
    version_tuple,
)
from vobjects.versions import Version

#: Maximum number of compiled versions per class. Versions come from the
#: manifests of peers, so there must be a limit; a fleet has far fewer.
MAX_VERSIONS = 64

Downgrader = Callable[
    [Any, dict[str, Any], Mapping[str, str] | None, bool], Any
]
Converter = Callable[[Any, Any, Mapping[str, str], bool], Any]


def downgrader(codec: ClassCodec, version: str) -> Downgrader:
    """Return the function that converts objects of a class to a version.

    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """
    function: Downgrader | None = codec.downgraders.get(version)
    if function is None:
        function = _compile(codec, version)
        if len(codec.downgraders) < MAX_VERSIONS:
            codec.downgraders[version] = function
    return function


def _compile(codec: ClassCodec, version: str) -> Downgrader:
    cls: Any = codec.cls
    plan: history.ConversionPlan = cls._plan_to(version)
    drops = {drop.name: drop for drop in plan.drops}
    carries = {carry.source: carry for carry in plan.carries}
    module = generate.GeneratedModule(f'{codec.cls.__qualname__} at {version}')
    plan_name = module.bind(plan, 'plan')
    entries: list[generate.DataEntry] = []
    dropped: list[generate.DataEntry] = []
    converted: list[generate.DataEntry] = []
    for number, (name, field_codec) in enumerate(codec.fields.items()):
        local = f'v{number}'
        entry = generate.DataEntry(
            name,
            local,
            _downgrade_expression(module, field_codec, name, local),
            carries[name].target if name in carries else name,
        )
        if name in drops:
            if field_codec.holds_objects():
                # Nested objects are converted even if they are dropped.
                entries.append(entry._replace(key=_temporary_key(name)))
            dropped.append(entry)
        elif name in carries and carries[name].converts:
            converted.append(entry)
        else:
            entries.append(entry)
    parameters = 'self, d, manifest, refuse_loss'
    generate.write_data(module, entries, parameters)
    module.add(f'def downgrade({parameters}):')
    module.add(f' out = data({parameters})')
    # As in the plan, check for losses before converting values.
    for name, local, expression, _ in dropped:
        if codec.fields[name].holds_objects():
            module.add(f' {local} = out.pop({_temporary_key(name)!r}, None)')
            expression = local
        else:
            module.add(f' {local} = d.get({generate.attribute_of(name)!r})')
        _write_drop(module, drops[name], local, expression, plan_name)
    for name, local, expression, key in converted:
        attribute = generate.attribute_of(name)
        module.add(f' if {attribute!r} in d:')
        module.add(f'  {local} = d[{attribute!r}]')
        module.add(
            f'  out[{key!r}] = {plan_name}._converted('
            f'{module.bind(carries[name], "carry")}, {expression})'
        )
    for fill in plan.fills:
        module.add(f' if {fill.name!r} not in out:')
        constant = _constant_expression(module, fill.primitive)
        module.add(f'  out[{fill.name!r}] = {constant}')
    _write_envelope(module, codec, version, carries)
    function: Downgrader = module.run()['downgrade']
    return function


def _temporary_key(name: str) -> str:
    """Return a temporary key for a value; it cannot be a field name."""
    return f'{name} dropped'


def _write_drop(
    module: generate.GeneratedModule,
    drop: history.Drop,
    local: str,
    expression: str,
    plan_name: str,
) -> None:
    if drop.ignore:
        return
    module.add(f' if refuse_loss and {local} is not None:')
    module.add(f'  {local} = {expression}')
    harmless = [value for value in drop.harmless if value is not None]
    indent = '  '
    if harmless:
        default = module.bind(harmless[0], 'default')
        module.add(
            f'  if not ({local}.__class__ is {default}.__class__'
            f' and {local} == {default}):'
        )
        indent = '   '
    # The plan checks again, so both agree, and raises the error.
    module.add(
        f'{indent}{plan_name}.apply('
        f'{{{drop.name!r}: {local}}}, refuse_loss=True)'
    )


def _constant_expression(
    module: generate.GeneratedModule, primitive: Any
) -> str:
    name = module.bind(primitive, 'fill')
    if primitive.__class__ in copying.ATOMS:
        return name
    return f'{module.bind(copy.deepcopy)}({name})'


def _write_envelope(
    module: generate.GeneratedModule,
    codec: ClassCodec,
    version: str,
    carries: Mapping[str, history.Carry],
) -> None:
    cls = codec.cls
    key = cls._obj_primitive_key
    module.namespace['changes'] = codec.changes
    module.add(' primitive = {')
    module.add(f'  {key("name")!r}: {cls.obj_name()!r},')
    module.add(f'  {key("namespace")!r}: {cls.OBJ_PROJECT_NAMESPACE!r},')
    module.add(f'  {key("version")!r}: {version!r},')
    module.add(f'  {key("data")!r}: out,')
    module.add(' }')
    module.add(' names = changes(self, d)')
    module.add(' if names:')
    renamed = {c.source: c.target for c in carries.values()}
    if any(old != new for old, new in renamed.items()):
        new_names = module.bind(renamed, 'renamed')
        module.add(
            f'  names = [{new_names}.get(name, name) for name in names]'
        )
    module.add('  names = [name for name in names if name in out]')
    module.add(f'  if names: primitive[{key("changes")!r}] = names')
    module.add(' return primitive')


def _downgrade_expression(
    module: generate.GeneratedModule,
    field_codec: field_codecs.FieldCodec,
    name: str,
    local: str,
) -> str:
    """Return an expression for a primitive, with nested objects converted."""
    if not field_codec.holds_objects():
        return generate.encode_expression(module, field_codec, name, local)
    convert = module.bind(_converter(field_codec.field._type), 'convert')
    if field_codec.encode is None:
        raise AssertionError(name)
    encode = module.bind(field_codec.encode)
    return (
        f'None if {local} is None'
        f' else {encode}({local}) if manifest is None'
        f' else {convert}(self, {local}, manifest, refuse_loss)'
    )


def _converter(field_type: Any) -> Converter:
    if isinstance(field_type, ovo.Object):
        return _downgrade_child
    if isinstance(field_type, ovo.Dict):
        convert_item = _converter(field_type._element_type._type)
        return lambda obj, value, manifest, refuse_loss: {
            key: None
            if item is None
            else convert_item(obj, item, manifest, refuse_loss)
            for key, item in value.items()
        }
    if isinstance(field_type._element_type._type, ovo.Object):
        convert_items: Converter = _downgrade_children
    else:
        convert_item = _converter(field_type._element_type._type)

        def convert_items(
            obj: Any, value: Any, manifest: Any, refuse_loss: bool
        ) -> Any:
            return [
                None
                if item is None
                else convert_item(obj, item, manifest, refuse_loss)
                for item in value
            ]

    if isinstance(field_type, ovo.Set):
        return lambda *arguments: tuple(convert_items(*arguments))
    return convert_items


def _downgrader_for(
    cls: type[VersionedObject], manifest: Mapping[str, str]
) -> tuple[Callable[[Any], bool], Downgrader] | None:
    """Return how to convert objects of a class; None: without compiling.

    :raises vobjects.exceptions.UnsupportedType: the manifest lacks the type
    """
    if not hasattr(cls, 'obj_to_primitive'):
        return None
    codec = class_codec(cls)
    if not codec.may_convert():
        return None
    name = codec.type_name
    version = manifest.get(name)
    if version is None:
        raise exceptions.UnsupportedType(name)
    return codec.is_unpatched, downgrader(codec, version)


def _downgrade_child(
    parent: Any, child: Any, manifest: Mapping[str, str], refuse_loss: bool
) -> Any:
    pair = _downgrader_for(child.__class__, manifest)
    if pair is not None:
        is_unpatched, downgrade = pair
        d = child.__dict__
        if is_unpatched(d) and is_newest(child, d):
            return downgrade(child, d, manifest, refuse_loss)
    return parent._downgrade_uncompiled(child, manifest, refuse_loss)


def is_newest(child: Any, d: dict[str, Any]) -> bool:
    """Tell whether an object has the version of its class."""
    return 'VERSION' not in d or d['VERSION'] == child.__class__.VERSION


def _downgrade_children(
    parent: Any, objects: Any, manifest: Mapping[str, str], refuse_loss: bool
) -> list[Any]:
    if objects.__class__ is LazyObjectList:
        codec = lazy_list.codec_of(objects)
        if (
            codec is not None
            and manifest.get(codec.type_name) == codec.cls.VERSION
            and codec.may_convert()
        ):
            return lazy_list.primitives(
                objects,
                lambda some: _downgrade_children(
                    parent, some, manifest, refuse_loss
                ),
            )
    primitives: list[Any] = []
    last_cls: Any = None
    pair: tuple[Callable[[Any], bool], Downgrader] | None = None
    for child in objects:
        if child is None:
            primitives.append(None)
            continue
        cls = child.__class__
        if cls is not last_cls:
            last_cls, pair = cls, _downgrader_for(cls, manifest)
        if pair is not None:
            d = child.__dict__
            if pair[0](d) and is_newest(child, d):
                primitives.append(pair[1](child, d, manifest, refuse_loss))
                continue
        primitives.append(
            parent._downgrade_uncompiled(child, manifest, refuse_loss)
        )
    return primitives


class Upgrade:
    """How to convert data of an older version to the newest; see the plan."""

    __slots__ = ('is_noop', 'known_fields', 'new_names', 'plan', 'source')

    def __init__(self, cls: Any, version: str) -> None:
        self.source = Version.parse(version)
        timeline: history.History = cls._history
        self.known_fields = frozenset(timeline.fields_at(self.source))
        self.plan = timeline.plan(self.source, timeline.version)
        plan = self.plan
        self.is_noop = not (plan.drops or plan.carries or plan.fills)
        self.new_names = {c.source: c.target for c in plan.carries}


def upgrade_from(codec: ClassCodec, version: str) -> Upgrade:
    """Return how to read a version of a class.

    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """
    upgrade: Upgrade | None = codec.upgrades.get(version)
    if upgrade is None:
        upgrade = Upgrade(codec.cls, version)
        if len(codec.upgrades) < MAX_VERSIONS:
            codec.upgrades[version] = upgrade
    return upgrade


def convert(
    obj: Any,
    version: str | None,
    manifest: Mapping[str, str] | None,
    refuse_loss: bool,
) -> dict[str, Any] | None:
    """Return the primitive of an object at a version; None: not compiled.

    :raises oslo_versionedobjects.exception.InvalidTargetVersion: the version
        is newer than the object's
    :raises vobjects.exceptions.ConversionError: the object cannot be
        represented at that version
    """
    codec = class_codec(obj.__class__)
    d = obj.__dict__
    if not (
        codec.may_convert() and codec.is_unpatched(d) and is_newest(obj, d)
    ):
        return None
    newest = codec.cls.VERSION
    if version is None or version == newest:
        # oslo.versionedobjects ignores an empty manifest, unless the version
        # differs.
        if not manifest:
            return codec.primitive(obj, d)
        version = newest
    elif manifest is None and codec.holds_objects:
        # Nested versions come from obj_relationships, if at all.
        return None
    elif version_tuple(version) > version_tuple(newest):
        raise ovo_exception.InvalidTargetVersion(version=version)
    primitive: dict[str, Any] = downgrader(codec, version)(
        obj, d, manifest, refuse_loss
    )
    return primitive
