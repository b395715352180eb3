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

from vobjects import exceptions
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
Envelope = Callable[..., dict[str, Any]]

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
_CLASS_SEARCH = ('obj_from_primitive', 'obj_class_from_name')
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
    :ivar has_context: whether the class itself has ``_context``
    :ivar must_be_complete: whether each primitive of an object must have the
        required fields, because a reader relies on them
    :ivar changes: ``obj_what_changed`` of the class; :func:`what_changed` if
        it does not override the method
    :ivar tracked: names and attributes of the fields whose values may be
        objects with their own changes
    :ivar nested: attributes of the fields whose values may contain objects
    :ivar parts: attribute -> field type, of these fields, unless their objects
        must be complete themselves
    """

    def __init__(self, cls: type[VersionedObject]) -> None:
        if hasattr(cls, '_plan_to') and not hasattr(cls, '_history'):
            raise exceptions.DeclarationError(
                f'{cls.__qualname__} is not registered; decorate the class'
                ' with @vobjects.register'
            )
        self.cls = cls
        self.watched = override_detection.watch_fields(cls)
        self.fields = {
            name: field_codecs.field_codec(
                field, encode_objects, decode_objects
            )
            for name, field in self.watched.items()
        }
        self.names = frozenset(self.fields)
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
        self.float_attributes = [
            attribute_of(name)
            for name, field in self.fields.items()
            if field.may_hold_float
        ]
        self.title = f'{cls.__module__}.{cls.__qualname__}'
        self.must_be_complete = not getattr(cls, 'REFUSE_LOSS', True)
        self.parts = {
            attribute_of(name): field.field._type
            for name, field in self.fields.items()
            if field.holds_objects and not _is_for_readers(field.field._type)
        }
        self.data = generate.data_function(
            self.title,
            self.fields,
            {},
            {},
            check=self.must_be_complete,
            parts=self.parts,
        )
        # The order of errors is that of the keywords, if that is all.
        self.coerces_any_order = self.keeps_in_dict and all(
            field.coerces_by_value and not field.field.read_only
            for field in self.fields.values()
        )
        # A service may define it as a property. Otherwise, __dict__ is faster.
        self.has_context = hasattr(cls, '_context')
        self.tracks_changes = self.keeps_in_dict and are_replaceable(
            cls, 'obj_attr_is_set'
        )
        self.tracked = [
            (name, attribute_of(name))
            for name, field in self.fields.items()
            if field.tracks_changes
        ]
        self.nested = [
            attribute_of(name)
            for name, field in self.fields.items()
            if field.holds_objects
        ]
        self.changes = _changes_of(cls)
        self.envelope = _envelope(self)
        self._set_conditions()
        # Caches of other modules of this package: version -> conversion.
        self.downgrades: dict[str, Any] = {}
        self.upgrades: dict[str, Any] = {}
        self._upgrades_data = hasattr(cls, '_upgrade_from')
        # Set by vobjects.objects.codec.list_decoding.
        self.list_reader: Any = None
        self.objects_reader: Any = None

    @functools.cached_property
    def coerce_from(self) -> generate.Transfer:
        """Functions that coerce and set the fields from keywords."""
        return generate.transfer(self.title, self.fields, 'coerce')

    @functools.cached_property
    def _decode_from(self) -> generate.Transfer:
        return generate.transfer(self.title, self.fields, 'decode')

    @functools.cached_property
    def _copy_from(self) -> generate.Transfer:
        return generate.transfer(
            self.title, self.fields, 'copy', attribute_of, 'memo'
        )

    @functools.cached_property
    def setters(self) -> dict[str, Callable[[Any, Any], None]]:
        """Functions ``(obj, value)`` that set a field, by its name."""
        settable = {
            name: field
            for name, field in self.fields.items()
            if self.keeps_in_dict and not field.field.read_only
        }
        return generate.setters(self.title, settable)

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
        self.may_decode_nested = condition(
            self.keeps_in_dict
            and are_replaceable(
                cls, '_obj_primitive_field', '_obj_from_primitive'
            ),
            (*_DECODING, *_CREATION, '_obj_from_primitive'),
            'coerce',
            'from_primitive',
        )
        self.may_find_class = condition(
            are_replaceable(cls, '_obj_primitive_field', *_CLASS_SEARCH),
            (*_DECODING, *_CLASS_SEARCH),
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

    def decode(
        self, context: Any, version: str, primitive: Mapping[str, Any]
    ) -> Any:
        """Return ``_obj_from_primitive``, which :meth:`may_decode` allows.

        :param version: of the primitive
        """
        cls: Any = self.cls
        data = primitive[self.data_key]
        changes = primitive.get(self.changes_key, ())
        if data.__class__ is not dict and not self._upgrades_data:
            return override_detection.ORIGINALS['_obj_from_primitive'](
                cls, context, version, primitive
            )
        upgrade = unknown = None
        if self._upgrades_data:
            upgrade = self.upgrades.get(version) or cls._upgrade_from(version)
            version = cls.VERSION
        obj = self.new(context, version)
        d = obj.__dict__
        # Usually, the data has exactly the fields of the newest version.
        may_have_all = data.__class__ is dict and (
            upgrade is None
            or (upgrade.keeps_all and len(data) == len(self.names))
        )
        if not (may_have_all and self._decode_from.all(obj, d, data)):
            if upgrade is not None:
                data, changes, unknown = upgrade.apply(data, changes)
            self._decode_from.some(obj, d, data)
        if self.is_list and '_obj_objects' not in d:
            obj.objects = []
        d['_changed_fields'] = (
            set(self.names.intersection(changes)) if changes != () else set()
        )
        if unknown:
            d[unknown_fields.ATTRIBUTE] = unknown
        return obj

    def primitive(self, obj: Any, d: Attributes) -> dict[str, Any]:
        """Return ``obj_to_primitive()``, at the object's own version."""
        return self.envelope(obj, obj.VERSION, self.data(obj, d))

    def new(self, context: Any, version: str) -> Any:
        """Return an object without fields."""
        if self.skips_init:
            obj = _new(self.cls)
            obj.__dict__['_changed_fields'] = set()
        else:
            obj = self.cls()
        if self.has_context:
            obj._context = context
        else:
            obj.__dict__['_context'] = context
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
        if self.has_context:
            copied._context = obj._context
        else:
            to['_context'] = obj._context
        if not self._copy_from.all(copied, to, d, memo):
            self._copy_from.some(copied, to, d, memo)
        if self.is_list and '_obj_objects' not in to:
            copied.objects = []
        to['_changed_fields'] = set(obj._changed_fields)
        return copied


def _is_for_readers(field_type: Any) -> bool:
    """Tell whether the objects of a field are resources."""
    while not hasattr(field_type, '_obj_name'):
        field_type = field_type._element_type._type
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    newest = next(iter(classes.get(field_type._obj_name, ())), None)
    return not getattr(newest, 'REFUSE_LOSS', True)


def _envelope(codec: ClassCodec) -> Envelope:
    """Return a function from an object's data to its primitive.

    Names of changed fields that are not in the data are omitted.
    """
    name_key, type_name = codec.name_key, codec.type_name
    namespace_key = codec.namespace_key
    namespace = codec.cls.OBJ_PROJECT_NAMESPACE
    version_key, data_key = codec.version_key, codec.data_key
    changes_key, changes_of = codec.changes_key, codec.changes
    # Most objects are sent without changes.
    looks_first = (
        changes_of is what_changed
        and codec.tracks_changes
        and not codec.tracked
    )

    def envelope(
        obj: Any,
        version: str,
        data: dict[str, Any],
        new_names: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        primitive = {
            name_key: type_name,
            namespace_key: namespace,
            version_key: version,
            data_key: data,
        }
        if looks_first and not obj._changed_fields:
            return primitive
        changes: Iterable[str] = changes_of(obj)
        if changes:
            if new_names:
                changes = [new_names.get(name, name) for name in changes]
            names = [name for name in changes if name in data]
            if names:
                primitive[changes_key] = names
        return primitive

    return envelope


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


def _keeps_in_dict(cls: type[VersionedObject]) -> bool:
    """Tell whether all fields are kept in ``__dict__``, and only there."""
    return (
        cls.__setattr__ in override_detection.REPLACEABLE_SETATTR
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, '__getattr__')
        and cls.obj_fields is override_detection.ORIGINAL_FIELDS
        and not any(
            hasattr(cls, attribute_of(name))
            or not generate.is_field_property(
                getattr(cls, name, None), name, field
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
    if codec.may_decode_nested():
        return codec.decode
    return cls._obj_from_primitive  # type: ignore[no-any-return]


def decode_objects(parent: Any, primitives: list[dict[str, Any]]) -> list[Any]:
    """Return the objects of primitives; look up each run of a type once.

    :param parent: the object that will contain them
    """
    codec, context = class_codec(parent.__class__), parent._context
    if not codec.may_find_class():
        return [parent.obj_from_primitive(p, context) for p in primitives]
    name_key, version_key = codec.name_key, codec.version_key
    namespace_key = codec.namespace_key
    objects = []
    namespace: Any = None
    name: Any = None
    version: Any = None
    read: Any = None
    for primitive in primitives:
        if (
            primitive[namespace_key] != namespace
            or primitive[name_key] != name
            or primitive[version_key] != version
        ):
            namespace, name = primitive[namespace_key], primitive[name_key]
            version = primitive[version_key]
            if namespace != codec.cls.OBJ_PROJECT_NAMESPACE:
                parent.obj_from_primitive(primitive)  # raises the error
            read = _reader_of(find_class(name, version))
        objects.append(read(context, version, primitive))
    return objects
