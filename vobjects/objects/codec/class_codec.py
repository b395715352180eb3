# SPDX-License-Identifier: Apache-2.0
"""ClassCodec: the compiled functions of one class.

If a class overrides a method, or its instances do not keep their fields in
``__dict__``, the affected functions are not used; the methods of
oslo.versionedobjects apply instead.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects import unregistered
from vobjects.objects import nested_downgrade, unknown_fields
from vobjects.objects.codec import (
    field_codecs,
    field_properties,
    generate,
    lazy_list,
    override_detection,
)
from vobjects.objects.codec.field_properties import attribute_of
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import (
    VersionedObject,
    are_replaceable,
    get_function,
    is_convertible,
    is_unpatched,
)
from vobjects.objects.conversion_plan import ConversionPlan, RefuseLoss
from vobjects.objects.nested_downgrade import Manifest
from vobjects.objects.upgrade import Upgrade

#: The ``__dict__`` of an object.
Attributes = dict[str, Any]
Condition = Callable[[], bool]

#: Returns the primitive of an object: ``(obj, manifest, refuse_loss)``.
Writer = Callable[[Any, Manifest | None, RefuseLoss], Any]

#: Maximum number of conversions kept per class. Versions come from the
#: manifests of peers, so there must be a limit; a fleet has far fewer.
MAX_VERSIONS = 64

_new = object.__new__
_lock = threading.RLock()

#: Methods that encoding an object calls or replaces.
_ENCODING = (
    'obj_attr_is_set',
    'obj_name',
    'obj_to_primitive',
    'obj_what_changed',
    '_obj_primitive_key',
    'OBJ_SERIAL_NAMESPACE',
    'OBJ_PROJECT_NAMESPACE',
)
_CLASS_SEARCH = (
    '_obj_from_primitive',
    'obj_from_primitive',
    'obj_class_from_name',
)
_CREATION = ('__init__', '__new__', 'obj_attr_is_set')
_DECODING = (
    '_obj_primitive_field',
    '_obj_primitive_key',
    'OBJ_SERIAL_NAMESPACE',
    *_CREATION,
    *_CLASS_SEARCH,
)


def _never() -> bool:
    return False


class ClassCodec:
    """The compiled functions of one class.

    Each ``may_...()`` tells whether a group of functions may run, which is
    not the case while a class or a test overrides a method that they replace.

    :ivar keeps_in_dict: whether instances keep every field in ``__dict__``
    :ivar skips_init: whether instances can be created without ``__init__``
    :ivar must_be_complete: whether each primitive of an object must have the
        required fields, because a reader relies on them
    :ivar changes: ``obj_what_changed`` of the class; :func:`what_changed` if
        it does not override the method
    :ivar tracked: names and attributes of the fields whose values may be
        objects with their own changes
    :ivar nested: attribute -> field type, of the fields whose values may
        contain objects
    :ivar writer_at: returns how to write objects of the class at a version
    :ivar upgrade_from: returns how to convert data of a version to the newest
    :ivar encode: ``(obj, source, manifest, refuse_loss)``: returns the data of
        an object's primitive from its ``__dict__``
    """

    def __init__(self, cls: type[VersionedObject]) -> None:
        if hasattr(cls, '_plan_to'):
            unregistered.check_class(cls)
        self.cls = cls
        self.watched = override_detection.watch_fields(cls)
        self.fields = {
            name: field_codecs.field_codec(
                field, encode_object, encode_objects
            )
            for name, field in self.watched.items()
        }
        self.names = frozenset(self.fields)
        self.title = f'{cls.__module__}.{cls.__qualname__}'
        self.type_name: str = cls.obj_name()
        key = cls._obj_primitive_key
        self.data_key, self.changes_key = key('data'), key('changes')
        self.version_key, self.name_key = key('version'), key('name')
        self.namespace_key = key('namespace')
        self.is_list = _has_list_init(cls)
        self.keeps_in_dict = field_properties.keep_all_in_dict(cls)
        self.skips_init = (
            self.keeps_in_dict
            and (self.is_list or are_replaceable(cls, '__init__'))
            and cls.__new__ is object.__new__
        )
        self.tracks_changes = self.keeps_in_dict and are_replaceable(
            cls, 'obj_attr_is_set'
        )
        self.must_be_complete = not getattr(cls, 'REFUSE_LOSS', True)
        self.tracked = [
            (name, attribute_of(name))
            for name, field in self.fields.items()
            if field.tracks_changes
        ]
        self.nested = {
            attribute_of(name): field.field._type
            for name, field in self.fields.items()
            if field.holds_objects
        }
        self.changes = _changes_of(cls)
        self._has_plain_changes = (
            self.changes is what_changed
            and self.tracks_changes
            and not self.tracked
        )
        self.encode = field_codecs.encoder(self.title, self.fields)
        self._set_conditions()
        # A service may define it as a property. Otherwise, __dict__ is faster.
        self._has_context = hasattr(cls, '_context')
        self._has_history = hasattr(cls, '_history')
        self.writer_at = functools.lru_cache(MAX_VERSIONS)(self._new_writer)
        self.upgrade_from = functools.lru_cache(MAX_VERSIONS)(
            functools.partial(Upgrade, cls)
        )
        self.readers: dict[Any, Any] = {}  # of lists, see list_decoding

    def _set_conditions(self) -> None:
        def condition(
            is_possible: bool, names: Iterable[str], *field_methods: str
        ) -> Condition:
            if not is_possible:
                return _never
            methods = [(self.cls, name) for name in names]
            for method in field_methods:
                for field in self.fields.values():
                    methods += field.methods(method)
            return generate.condition(methods)

        replaces = functools.partial(are_replaceable, self.cls)
        encodes = self.tracks_changes
        nests = replaces('obj_to_primitive')
        converts = replaces(*override_detection.CONVERSIONS) and all(
            f.encode for f in self.fields.values() if f.holds_objects
        )
        self.may_init = condition(self.keeps_in_dict, (), 'coerce')
        self.may_copy = condition(encodes, _CREATION, 'coerce')
        self.may_decode = condition(
            self.keeps_in_dict and replaces('_obj_primitive_field'),
            _DECODING,
            'coerce',
            'from_primitive',
        )
        self.may_decode_nested = (
            self.may_decode if replaces(*_CLASS_SEARCH) else _never
        )
        self.may_encode = condition(encodes, _ENCODING, 'to_primitive')
        self.may_nest = self.may_encode if nests else _never
        self.may_convert = condition(
            encodes and nests and converts,
            (*_ENCODING, *override_detection.CONVERSIONS),
            'to_primitive',
        )

    @functools.cached_property
    def coerce(self) -> generate.Mapper:
        """``(obj, source)``: returns the attributes for keywords."""
        return field_codecs.setter(self.title, self.fields, 'coerce')

    @functools.cached_property
    def _decode(self) -> generate.Mapper:
        return field_codecs.setter(self.title, self.fields, 'decode')

    @functools.cached_property
    def _copy(self) -> generate.Mapper:
        return field_codecs.setter(self.title, self.fields, 'copy')

    def decode(
        self, context: Any, version: str, primitive: Mapping[str, Any]
    ) -> Any:
        """Return ``_obj_from_primitive``, which :meth:`may_decode` allows.

        :param version: of the primitive
        """
        cls: Any = self.cls
        data = primitive[self.data_key]
        changes = primitive.get(self.changes_key, ())
        unknown = None
        if self._has_history:
            upgrade = self.upgrade_from(version)
            version = cls.VERSION
            # Usually, the data has exactly the fields of the newest version.
            if (
                data.__class__ is not dict
                or not upgrade.keeps_all
                or self.names != data.keys()
            ):
                data, changes, unknown = upgrade.apply(data, changes)
        elif data.__class__ is not dict:
            return override_detection.ORIGINALS['_obj_from_primitive'](
                cls, context, version, primitive
            )
        obj = self.new(context, version)
        values = self._decode(obj, data)
        self.fill(obj, values, self.names.intersection(changes))
        if unknown:
            obj.__dict__[unknown_fields.ATTRIBUTE] = unknown
        return obj

    def primitive(
        self,
        obj: Any,
        manifest: Manifest | None = None,
        refuse_loss: RefuseLoss = False,
    ) -> dict[str, Any]:
        """Return ``obj_to_primitive()``, at the object's own version."""
        if self.must_be_complete:
            obj.check_complete()
        data = self.encode(obj, obj.__dict__, manifest, refuse_loss)
        return self.envelope(obj, obj.VERSION, data)

    def writer(self, manifest: Manifest | None) -> Writer | None:
        """Return how to write nested objects of the class, if compiled.

        :raises vobjects.exceptions.UnsupportedType: the manifest lacks a type
        """
        if manifest is None:
            return self.primitive if self.may_nest() else None
        if not self.may_convert():
            return None
        return self.writer_at(
            nested_downgrade.version_in(manifest, self.type_name)
        )

    def _new_writer(self, version: str) -> Writer:
        """Return how to write objects of the class at a version.

        The result raises ConversionError if an object cannot be represented.

        :raises vobjects.exceptions.InvalidVersion: the version is malformed
        """
        cls: Any = self.cls
        plan: ConversionPlan = cls._plan_to(version)
        encode = field_codecs.encoder(
            f'{self.title} at {version}', self.fields, plan.converted
        )
        new_names, new_objects = plan.new_names, plan.new_objects

        def write(
            obj: Any, manifest: Manifest | None, refuse_loss: RefuseLoss
        ) -> dict[str, Any]:
            if self.must_be_complete:
                obj.check_complete()
            data = encode(obj, obj.__dict__, manifest, refuse_loss)
            plan.apply(data, refuse_loss=refuse_loss)
            if new_objects and manifest is not None:
                nested_downgrade.downgrade_written(
                    obj, new_objects, data, manifest, refuse_loss
                )
            return self.envelope(obj, version, data, new_names)

        return write

    def envelope(
        self,
        obj: Any,
        version: str,
        data: dict[str, Any],
        new_names: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return the primitive of an object with the given data.

        Names of changed fields that are not in the data are omitted.

        :param new_names: name of a field -> its name in the data
        """
        primitive = {
            self.name_key: self.type_name,
            self.namespace_key: self.cls.OBJ_PROJECT_NAMESPACE,
            self.version_key: version,
            self.data_key: data,
        }
        # Most objects are sent without changes.
        if self._has_plain_changes and not obj._changed_fields:
            return primitive
        changes: Iterable[str] = self.changes(obj)
        if changes:
            if new_names:
                changes = [new_names.get(name, name) for name in changes]
            names = [name for name in changes if name in data]
            if names:
                primitive[self.changes_key] = names
        return primitive

    def new(self, context: Any, version: str | None = None) -> Any:
        """Return an object without fields, with the version of its text."""
        obj = _new(self.cls) if self.skips_init else self.cls()
        d = obj.__dict__
        d['_changed_fields'] = set()
        if version is not None:
            d['VERSION'] = version
        if self._has_context:
            obj._context = context
        else:
            d['_context'] = context
        return obj

    def fill(self, obj: Any, values: Attributes, changes: Any) -> None:
        """Set the attributes of fields, and which of them have changes."""
        d = obj.__dict__
        d.update(values)
        if self.is_list and '_obj_objects' not in d:
            obj.objects = []
        # Last, because setting a field adds it to the changes.
        d['_changed_fields'] = set(changes)

    def copy(self, obj: Any, memo: dict[int, Any]) -> Any:
        """Return ``__deepcopy__``."""
        copied = memo[id(obj)] = self.new(obj._context)
        values = self._copy(copied, obj.__dict__, memo)
        self.fill(copied, values, obj._changed_fields)
        return copied


def what_changed(obj: Any) -> set[str]:
    """``VersionedObject.obj_what_changed``."""
    # A tree of objects calls this for every object, so the usual case is a
    # single look-up.
    try:
        codec: ClassCodec = obj.fields.codecs[obj.__class__]
        is_current = True
    except (AttributeError, KeyError):
        codec = class_codec(obj.__class__)
        is_current = obj.fields is codec.watched
    if not (is_current and codec.tracks_changes):
        return override_detection.ORIGINALS['obj_what_changed'](obj)  # type: ignore[no-any-return]
    changed = obj._changed_fields
    changed = set(codec.names.intersection(changed)) if changed else set()
    for name, attribute in codec.tracked:
        value = obj.__dict__.get(attribute)
        if isinstance(value, VersionedObject) and value.obj_what_changed():
            changed.add(name)
    return changed


def _changes_of(cls: type) -> Callable[[Any], set[str]]:
    """Return ``obj_what_changed`` of a class."""
    if are_replaceable(cls, 'obj_what_changed'):
        return what_changed
    if (
        get_function(cls, 'obj_what_changed')
        in override_detection.REPLACEABLE_LIST_CHANGES
    ):
        return lazy_list.list_what_changed
    return lambda obj: obj.obj_what_changed()


def _has_list_init(cls: type) -> bool:
    """Tell whether ``__init__`` is ObjectListBase's, before a known one."""
    if cls.__init__ is not ovo_base.ObjectListBase.__init__:  # type: ignore[misc]
        return False
    after: Any = super(ovo_base.ObjectListBase, cls)
    return after.__init__ in override_detection.REPLACEABLE['__init__']


def class_codec(cls: type[VersionedObject]) -> ClassCodec:
    """Return the compiled codec of a class; create it if necessary."""
    try:
        return cls.fields.codecs[cls]  # type: ignore[attr-defined,no-any-return]
    except (AttributeError, KeyError):
        pass
    with _lock:
        fields = override_detection.watch_fields(cls)
        codec: ClassCodec | None = fields.codecs.get(cls)
        if codec is None:
            codecs = fields.codecs
            # Not kept if the fields change meanwhile.
            codec = codecs[cls] = ClassCodec(cls)
        return codec


def _writer(cls: type, manifest: Manifest | None) -> Writer | None:
    """Return how to write objects of a class, if they are compiled."""
    if not issubclass(cls, VersionedObject):
        return None
    return class_codec(cls).writer(manifest)


def encode_object(
    obj: Any, manifest: Manifest | None = None, refuse_loss: RefuseLoss = False
) -> Any:
    """Return the primitive of a nested object.

    :param manifest: type name -> version; None: the newest versions
    """
    write = _writer(obj.__class__, manifest)
    if write is None or not is_convertible(obj):
        write = nested_downgrade.write_uncompiled
    return write(obj, manifest, refuse_loss)


def encode_objects(
    objects: Any,
    manifest: Manifest | None = None,
    refuse_loss: RefuseLoss = False,
) -> list[Any]:
    """Return :func:`encode_object` of objects, and null for null."""
    if objects.__class__ is LazyObjectList:
        codec = lazy_list.codec_of(objects)
        if manifest is None or (
            codec is not None
            and manifest.get(codec.type_name) == codec.cls.VERSION
            and codec.may_convert()
        ):
            return lazy_list.primitives(
                objects,
                lambda each: encode_objects(each, manifest, refuse_loss),
            )
    primitives = []
    last_cls, compiled = None, None
    for obj in objects:
        cls = obj.__class__
        if cls is not last_cls:  # look up each run of a class once
            last_cls, compiled = cls, _writer(cls, manifest)
        write = compiled
        if (
            write is None
            or not is_unpatched(obj.__dict__)
            or obj.__dict__.get('VERSION', cls.VERSION) != cls.VERSION
        ):
            write = nested_downgrade.write_uncompiled
        primitives.append(write(obj, manifest, refuse_loss))
    return primitives
