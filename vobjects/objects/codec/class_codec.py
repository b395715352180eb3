# SPDX-License-Identifier: Apache-2.0
"""ClassCodec: the compiled functions of one class.

If a class overrides a method, or its instances do not keep their fields in
``__dict__``, the affected functions are not used; the methods of
oslo.versionedobjects apply instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects.objects import unknown_fields
from vobjects.objects.codec import (
    field_codecs,
    generate,
    lazy_list,
    override_detection,
)
from vobjects.objects.codec.generate import attribute_of
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import (
    VersionedObject,
    are_replaceable,
    find_class,
    get_function,
    is_unpatched,
    version_tuple,
)

#: The ``__dict__`` of an object.
Attributes = dict[str, Any]
Condition = Callable[[], bool]
Envelope = Callable[[str, dict[str, Any], Iterable[str]], dict[str, Any]]

_new = object.__new__
_lock = threading.RLock()

#: Methods that encoding an object calls or replaces.
_ENCODING = (
    'obj_attr_is_set',
    'obj_name',
    '_obj_primitive_key',
    'OBJ_SERIAL_NAMESPACE',
    'OBJ_PROJECT_NAMESPACE',
    'obj_what_changed',
)
_DECODING = (
    '_obj_primitive_field',
    '_obj_primitive_key',
    'OBJ_SERIAL_NAMESPACE',
)
_CREATION = ('__init__', '__new__', 'obj_attr_is_set')
_CONVERSION = ('obj_to_primitive', *override_detection.CONVERSIONS)


def never() -> bool:
    """Return False, as a condition that never holds."""
    return False


class ClassCodec:
    """The compiled functions of one class.

    Each ``may_...()`` tells whether a group of functions may run, which is
    not the case while a class or a test overrides a method that they replace.

    :ivar keeps_in_dict: whether instances keep every field in ``__dict__``
    :ivar skips_init: whether instances can be created without ``__init__``
    :ivar tracking: which ``obj_what_changed`` the class has: 'base' of
        VersionedObject, 'list' of ObjectListBase, or 'custom'
    :ivar changes: ``obj_what_changed`` of the class
    :ivar tracked: names and attributes of the fields whose values may be
        objects with their own changes
    """

    def __init__(self, cls: type[VersionedObject]) -> None:
        self.cls = cls
        self.watched = override_detection.watch_fields(cls)
        self.fields = {
            name: field_codecs.field_codec(
                field, encode_objects, decode_objects
            )
            for name, field in self.watched.items()
        }
        self.names = frozenset(self.fields)
        self.tracking = _tracking_of(cls)
        self.is_list = _has_list_init(cls)
        self.holds_objects = any(
            field.holds_objects for field in self.fields.values()
        )
        self.keeps_in_dict = _keeps_in_dict(cls)
        self.skips_init = (
            self.keeps_in_dict
            and (self.is_list or are_replaceable(cls, '__init__'))
            and cls.__new__ is object.__new__
        )
        key = cls._obj_primitive_key
        self.data_key, self.changes_key = key('data'), key('changes')
        self.version_key, self.name_key = key('version'), key('name')
        self.namespace_key = key('namespace')
        self.type_name: str = cls.obj_name()
        self.settable = {
            name: (
                attribute_of(name),
                field.unchanged_types,
                field.coerce,
                generate.condition(field.methods('coerce')),
            )
            for name, field in self.fields.items()
            if self.keeps_in_dict and not field.field.read_only
        }
        self.float_attributes = [
            attribute_of(name)
            for name, field in self.fields.items()
            if field.may_hold_float
        ]
        title = f'{cls.__module__}.{cls.__qualname__}'
        self.data = generate.data_function(title, self.fields, {})
        self._read_into = generate.transfer_function(
            title, self.fields, {name: name for name in self.fields}, 'decode'
        )
        self._copy_into = generate.transfer_function(
            title,
            self.fields,
            {name: attribute_of(name) for name in self.fields},
            'copy',
            'memo',
        )
        self.tracks_changes = self.keeps_in_dict and are_replaceable(
            cls, 'obj_attr_is_set'
        )
        self.tracked = [
            (name, attribute_of(name))
            for name, field in self.fields.items()
            if field.tracks_changes
        ]
        self.changes = _changes_of(self)
        self.envelope = _envelope(self)
        self.primitive = _primitive(self)
        self._set_conditions()
        # Caches of other modules of this package: version -> conversion.
        self.downgrades: dict[str, Any] = {}
        self.upgrades: dict[str, Any] = {}
        # Set by vobjects.objects.codec.list_decoding.
        self.list_reader: Any = None
        self.objects_reader: Any = None

    def _set_conditions(self) -> None:
        cls = self.cls

        def condition(
            is_possible: bool, names: Iterable[str], *field_methods: str
        ) -> Condition:
            if not is_possible:
                return never
            methods = [(cls, name) for name in names]
            for method in field_methods:
                for field in self.fields.values():
                    methods += field.methods(method)
            return generate.condition(methods)

        self.may_init = condition(self.keeps_in_dict, (), 'coerce')
        self.may_decode = condition(
            self.keeps_in_dict
            and are_replaceable(cls, '_obj_primitive_field'),
            (*_DECODING, *_CREATION),
            'coerce',
            'from_primitive',
        )
        self.may_copy = condition(self.tracks_changes, _CREATION, 'coerce')
        self.may_encode = condition(
            self.tracks_changes, _ENCODING, 'to_primitive'
        )
        self.may_nest = condition(
            self.tracks_changes and are_replaceable(cls, 'obj_to_primitive'),
            (*_ENCODING, 'obj_to_primitive'),
            'to_primitive',
        )
        self.may_convert = condition(
            self.tracks_changes
            and are_replaceable(cls, *_CONVERSION)
            and all(
                f.encodes for f in self.fields.values() if f.holds_objects
            ),
            (*_ENCODING, *_CONVERSION),
            'to_primitive',
        )

    def may_read(self) -> bool:
        """Tell whether ``obj_from_primitive`` is the original."""
        return (
            are_replaceable(
                self.cls, 'obj_from_primitive', 'obj_class_from_name'
            )
            and self.may_decode()
        )

    def decode(
        self, context: Any, version: str, primitive: Mapping[str, Any]
    ) -> Any:
        """Return ``_obj_from_primitive``, which :meth:`may_decode` allows.

        :param version: of the primitive
        """
        cls: Any = self.cls
        data = primitive[self.data_key]
        changes = primitive.get(self.changes_key, ())
        if not hasattr(cls, '_upgrade_from'):
            if data.__class__ is dict:
                return self.read(context, version, data, changes)
            return override_detection.ORIGINALS['_obj_from_primitive'](
                cls, context, version, primitive
            )
        upgrade = self.upgrades.get(version) or cls._upgrade_from(version)
        data, changes, unknown = upgrade.apply(data, changes)
        obj = self.read(context, cls.VERSION, data, changes)
        if unknown:
            obj.__dict__[unknown_fields.ATTRIBUTE] = unknown
        return obj

    def read(
        self,
        context: Any,
        version: str,
        data: Mapping[str, Any],
        changes: Iterable[str],
    ) -> Any:
        """Return an object from the data of a primitive.

        :param version: the ``VERSION`` of the object
        """
        obj = self.new(context, version)
        d = obj.__dict__
        self._read_into(obj, d, data)
        if self.is_list and '_obj_objects' not in d:
            obj.objects = []
        names = self.names
        d['_changed_fields'] = {name for name in changes if name in names}
        return obj

    def new(self, context: Any, version: str) -> Any:
        """Return an object without fields."""
        if self.skips_init:
            obj = _new(self.cls)
            obj.__dict__['_changed_fields'] = set()
        else:
            obj = self.cls()
        obj._context = context  # may be a property of the service
        obj.__dict__['VERSION'] = version
        return obj

    def copy(self, obj: Any, memo: dict[int, Any]) -> Any:
        """Return ``__deepcopy__``."""
        if self.skips_init:
            copied = _new(obj.__class__)
            copied.__dict__['_changed_fields'] = set()
        else:
            copied = obj.__class__()
        memo[id(obj)] = copied
        d, to = obj.__dict__, copied.__dict__
        copied._context = obj._context
        self._copy_into(copied, to, d, memo)
        if self.is_list and '_obj_objects' not in to:
            copied.objects = []
        to['_changed_fields'] = set(obj._changed_fields)
        return copied


def _envelope(codec: ClassCodec) -> Envelope:
    """Return a function from version, data and changes to a primitive.

    Names of changed fields that are not in the data are omitted.
    """
    name_key, type_name = codec.name_key, codec.type_name
    namespace_key = codec.namespace_key
    namespace = codec.cls.OBJ_PROJECT_NAMESPACE
    version_key, data_key = codec.version_key, codec.data_key
    changes_key = codec.changes_key

    def envelope(
        version: str, data: dict[str, Any], changes: Iterable[str]
    ) -> dict[str, Any]:
        primitive = {
            name_key: type_name,
            namespace_key: namespace,
            version_key: version,
            data_key: data,
        }
        if changes:
            names = [name for name in changes if name in data]
            if names:
                primitive[changes_key] = names
        return primitive

    return envelope


def _primitive(
    codec: ClassCodec,
) -> Callable[[Any, Attributes], dict[str, Any]]:
    """Return ``obj_to_primitive()``, at the object's own version."""
    data, changes, envelope = codec.data, codec.changes, codec.envelope
    return lambda obj, d: envelope(obj.VERSION, data(obj, d), changes(obj))


def what_changed(obj: Any) -> set[str]:
    """``VersionedObject.obj_what_changed``."""
    # A tree of objects calls this for every object, so the usual case is a
    # single look-up.
    try:
        codec: ClassCodec = obj.fields.codecs[obj.__class__]
    except (AttributeError, KeyError):
        codec = class_codec(obj.__class__)
        if obj.fields is not codec.watched:
            return override_detection.ORIGINALS['obj_what_changed'](obj)  # type: ignore[no-any-return]
    if not codec.tracks_changes:
        return override_detection.ORIGINALS['obj_what_changed'](obj)  # type: ignore[no-any-return]
    changed = obj._changed_fields
    changed = set(codec.names.intersection(changed)) if changed else set()
    for name, attribute in codec.tracked:
        value = obj.__dict__.get(attribute)
        if isinstance(value, VersionedObject) and value.obj_what_changed():
            changed.add(name)
    return changed


def _changes_of(codec: ClassCodec) -> Callable[[Any], set[str]]:
    if codec.tracking == 'base':
        if codec.tracked or not codec.tracks_changes:
            return what_changed
        # Most objects are sent without changes.
        return lambda obj: obj._changed_fields and what_changed(obj)
    if codec.tracking == 'list':
        return lazy_list.list_what_changed
    return lambda obj: obj.obj_what_changed()


def _tracking_of(cls: type) -> str:
    """Return which ``obj_what_changed`` a class has."""
    if are_replaceable(cls, 'obj_what_changed'):
        return 'base'
    if (
        get_function(cls, 'obj_what_changed')
        in override_detection.REPLACEABLE_LIST_CHANGES
    ):
        return 'list'
    return 'custom'


def _has_list_init(cls: type) -> bool:
    """Tell whether ``__init__`` is ObjectListBase's, before a known one."""
    if cls.__init__ is not ovo_base.ObjectListBase.__init__:  # type: ignore[misc]
        return False
    after: Any = super(ovo_base.ObjectListBase, cls)
    return after.__init__ in override_detection.REPLACEABLE['__init__']


def _keeps_in_dict(cls: type[VersionedObject]) -> bool:
    """Tell whether all fields are kept in ``__dict__``, and only there."""
    return (
        cls.__setattr__ in override_detection.REPLACEABLE_SETATTR
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, '__getattr__')
        and cls.obj_fields is override_detection.ORIGINAL_FIELDS
        and not any(
            hasattr(cls, attribute_of(name))
            or not override_detection.is_field_property(
                getattr(cls, name, None), field
            )
            for name, field in cls.fields.items()
        )
    )


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


def encode_objects(objects: Any) -> list[Any]:
    """Return the primitives of objects; look up each run of a class once."""
    if objects.__class__ is LazyObjectList:
        return lazy_list.primitives(objects, encode_objects)
    primitives: list[Any] = []
    last_cls: Any = None
    to_primitive = None
    for obj in objects:
        cls = obj.__class__
        if cls is not last_cls:
            last_cls, to_primitive = cls, None
            if issubclass(cls, VersionedObject):
                codec = class_codec(cls)
                if codec.may_nest():
                    version_tuple(cls.VERSION)
                    to_primitive = codec.primitive
        if to_primitive is not None:
            d = obj.__dict__
            if is_unpatched(d) and 'VERSION' not in d:
                primitives.append(to_primitive(obj, d))
                continue
        primitives.append(None if obj is None else obj.obj_to_primitive())
    return primitives


def _reader_of(cls: Any) -> Callable[[Any, str, Any], Any]:
    """Return ``_obj_from_primitive`` of a class, to call it many times."""
    codec = class_codec(cls)
    if are_replaceable(cls, '_obj_from_primitive') and codec.may_decode():
        return codec.decode
    return cls._obj_from_primitive  # type: ignore[no-any-return]


def decode_objects(parent: Any, primitives: list[dict[str, Any]]) -> list[Any]:
    """Return the objects of primitives; look up each run of a type once.

    :param parent: the object that will contain them
    """
    codec, context = class_codec(parent.__class__), parent._context
    if not codec.may_read():
        return [parent.obj_from_primitive(p, context) for p in primitives]
    name_key, version_key = codec.name_key, codec.version_key
    namespace_key = codec.namespace_key
    objects = []
    last: Any = None
    read: Any = None
    for primitive in primitives:
        version = primitive[version_key]
        label = primitive[namespace_key], primitive[name_key], version
        if label != last:
            last = label
            if label[0] != codec.cls.OBJ_PROJECT_NAMESPACE:
                parent.obj_from_primitive(primitive)  # raises the error
            read = _reader_of(find_class(label[1], version))
        objects.append(read(context, version, primitive))
    return objects
