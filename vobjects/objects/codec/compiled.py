# SPDX-License-Identifier: Apache-2.0
"""The compiled form of one class, created at its first use.

If a class overrides a method, or its instances do not keep their fields in
``__dict__``, the affected functions are not used; the methods of
oslo.versionedobjects apply instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects.objects.codec import (
    coercion,
    field_codecs,
    field_properties,
    generate,
    override_detection,
)

#: Attribute of a class that holds its compiled form.
ATTRIBUTE = '_vobjects_compiled'

_lock = threading.RLock()


def never() -> bool:
    """Return False, as a guard that never holds."""
    return False


class Compiled:
    """The compiled functions of one class, with a guard for each group.

    :ivar keeps: whether instances keep every field in ``__dict__``
    """

    def __init__(self, cls: type[override_detection.VersionedObject]) -> None:
        self.cls = cls
        self.watched = override_detection.watched(cls)
        self.stamp = self.watched.stamp
        self.fields = {
            name: field_codecs.handling(field)
            for name, field in self.watched.items()
        }
        self.names = frozenset(self.fields)
        self.tracking = _tracking(cls)
        self.is_list = _is_made_as_list(cls)
        self.holds_objects = any(
            field.holds_objects() for field in self.fields.values()
        )
        self.keeps = _keeps_in_dict(cls, self.fields)
        self.bare = (
            self.keeps
            and (self.is_list or override_detection.are_known(cls, '__init__'))
            and cls.__new__ is object.__new__
        )
        self._generate()
        self._guard()
        self.type_name: str = cls.obj_name()
        # Set by vobjects.objects.codec.nan_check and
        # vobjects.objects.codec.downgrade.
        self.floating: tuple[str, ...] | None = None
        self.at: dict[str, Any] = {}
        self.up: dict[str, Any] = {}
        # Set by vobjects.objects: version -> the reader of that version.
        self.readers: dict[str, Any] = {}
        # Set by vobjects.objects.codec.list_decoding.
        self.list_reader: Any = None
        self.items_reader: Any = None
        # Last, because other threads may use the form from here on.
        if self.is_current() and self.tracks:
            self.watched.form = self

    def _generate(self) -> None:
        cls, fields = self.cls, self.fields
        source = generate.Source(f'{cls.__module__}.{cls.__qualname__}')
        generate.write_data(source, fields)
        generate.write_changed(source, fields, 'plain', 'tracked')
        generate.write_changed(source, fields, self.tracking, 'changed')
        generate.write_primitive(source, cls, len(fields), self.tracking)
        generate.write_fill(source, fields)
        generate.write_copy(
            source, fields, bare=self.bare, as_list=self.is_list
        )
        generate.write_build(source, fields)
        source.add('def plain(d):')
        source.add(f' return {generate.plain_instance()}')
        made = source.run()
        self.data: Callable[[Any, dict[str, Any]], dict[str, Any]] = made[
            'data'
        ]
        self.changed: Callable[[Any, dict[str, Any]], set[str]] = made[
            'changed'
        ]
        self.tracked: Callable[[Any, dict[str, Any]], set[str]] = made[
            'tracked'
        ]
        self.primitive: Callable[[Any, dict[str, Any]], dict[str, Any]] = made[
            'primitive'
        ]
        self.fill: Callable[[Any, dict[str, Any], dict[str, Any]], bool] = (
            made['fill']
        )
        self.copy: Callable[[Any, dict[int, Any]], Any] = made['copy']
        self.build: Callable[[Any, dict[str, Any], dict[str, Any]], bool] = (
            made['build']
        )
        # The number of keywords that build() takes; -1 where their order
        # may matter.
        self.builds = (
            len(fields)
            if all(
                coercion.is_pure(handling.field)
                and not handling.field.read_only
                for handling in fields.values()
            )
            else -1
        )
        self.plain: Callable[[dict[str, Any]], bool] = made['plain']
        self.table = {
            name: (
                generate.storage(name),
                handling.stored,
                handling.coerce,
            )
            for name, handling in fields.items()
            if not handling.field.read_only
        }
        key = cls._obj_primitive_key
        self.data_key, self.changes_key = key('data'), key('changes')
        self.version_key, self.name_key = key('version'), key('name')
        self.namespace_key = key('namespace')

    def _guard(self) -> None:
        """Create the guards; they are checked now and at each call."""
        cls, fields = self.cls, list(self.fields.values())
        named = _guards(
            cls,
            'obj_attr_is_set',
            'obj_name',
            '_obj_primitive_key',
            'OBJ_SERIAL_NAMESPACE',
            'OBJ_PROJECT_NAMESPACE',
        )
        coerce = generate.guards_of(fields, lambda f: f.coerce_guards)
        load = generate.guards_of(fields, lambda f: f.load_guards)
        dump = generate.guards_of(fields, lambda f: f.dump_guards)
        tracks = _guards(cls, 'obj_what_changed')
        known = (
            override_detection.are_known(cls, 'obj_attr_is_set') and self.keeps
        )
        reads = _guards(
            cls,
            '_obj_primitive_field',
            '_obj_primitive_key',
            'OBJ_SERIAL_NAMESPACE',
        )
        self.may_read = self._made(
            override_detection.are_known(cls, '_obj_primitive_field'),
            reads,
        )
        self.may_read_classes = self._made(
            override_detection.are_known(
                cls, 'obj_from_primitive', 'obj_class_from_name'
            ),
            _guards(cls, 'obj_from_primitive', 'obj_class_from_name'),
        )
        self.tracks = known
        dumps = known
        self.may_dump = self._made(
            dumps,
            [*named, *tracks, *dump],
        )
        self.may_nest = self._made(
            dumps and override_detection.are_known(cls, 'obj_to_primitive'),
            [*named, *tracks, *dump, *_guards(cls, 'obj_to_primitive')],
        )
        self.may_convert = self._made(
            dumps
            and override_detection.are_known(
                cls, 'obj_to_primitive', *override_detection.CONVERSIONS
            )
            and all(
                field.dump is not None
                for field in fields
                if field.holds_objects()
            ),
            [
                *named,
                *tracks,
                *dump,
                *_guards(
                    cls, 'obj_to_primitive', *override_detection.CONVERSIONS
                ),
            ],
        )
        self.may_build = self._made(self.keeps, coerce)
        makes = _guards(cls, '__init__', '__new__', 'obj_attr_is_set')
        self.may_load = self._made(
            self.keeps
            and override_detection.are_known(cls, '_obj_primitive_field'),
            [*reads, *coerce, *load],
        )
        self.may_make = self._made(self.bare, makes)
        self.may_copy = self._made(known, [*makes, *coerce])

    def _made(
        self, right: bool, guards: list[override_detection.Guard]
    ) -> Callable[[], bool]:
        if not right:
            return never
        return override_detection.compile_guard(guards)

    def is_current(self) -> bool:
        """Tell whether the fields of the class are still the same."""
        return (
            self.cls.fields is self.watched
            and self.watched.stamp == self.stamp
        )


def _tracking(cls: type) -> str:
    """Return which ``obj_what_changed`` a class has."""
    if override_detection.are_known(cls, 'obj_what_changed'):
        return 'plain'
    if (
        override_detection.function_of(cls, 'obj_what_changed')
        in override_detection.LIST_CHANGES
    ):
        return 'list'
    return 'own'


def _is_made_as_list(cls: type) -> bool:
    """Tell whether ``__init__`` is ObjectListBase's, then a known one."""
    if cls.__init__ is not ovo_base.ObjectListBase.__init__:  # type: ignore[misc]
        return False
    after: Any = super(ovo_base.ObjectListBase, cls)
    return after.__init__ in override_detection.KNOWN['__init__']


def _guards(cls: type, *names: str) -> list[override_detection.Guard]:
    return list(override_detection.method_guards(cls, *names))


def _keeps_in_dict(
    cls: type[override_detection.VersionedObject],
    fields: dict[str, field_codecs.Handling],
) -> bool:
    """Tell whether all fields are kept in ``__dict__``, and only there."""
    return (
        cls.__setattr__ in override_detection.SETATTR
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, '__getattr__')
        and cls.obj_fields is override_detection.ORIGINAL_FIELDS
        and not any(
            hasattr(cls, generate.storage(name))
            or field_properties.field_of(getattr(cls, name, None))
            is not handling.field
            for name, handling in fields.items()
        )
    )


def compiled(cls: type[override_detection.VersionedObject]) -> Compiled:
    """Return the compiled form of a class; create it if necessary."""
    found: Compiled | None = getattr(cls, ATTRIBUTE, None)
    if (
        found is not None
        and found.cls is cls
        and cls.fields is found.watched
        and found.watched.stamp == found.stamp
    ):
        return found
    with _lock:
        found = vars(cls).get(ATTRIBUTE)
        if found is None or not found.is_current():
            found = Compiled(cls)
            setattr(cls, ATTRIBUTE, found)
        return found
