# SPDX-License-Identifier: Apache-2.0
"""Methods of oslo.versionedobjects that use compiled classes.

Each method is equivalent to the method of the same name, and calls it where
the compiled codec does not apply. :func:`install` adds them to a class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects.objects.codec import lazy_list, override_detection
from vobjects.objects.codec.class_codec import (
    READERS,
    ClassCodec,
    Reader,
    class_codec,
)
from vobjects.objects.codec.override_detection import version_tuple

_ORIGINALS = override_detection.ORIGINALS
_new = object.__new__


def _init(self: Any, context: Any = None, **kwargs: Any) -> None:
    """``VersionedObject.__init__``: coerce and set the given fields."""
    codec = class_codec(self.__class__)
    if not codec.may_init():
        _ORIGINALS['__init__'](self, context, **kwargs)
        return
    changed: set[str] = set()
    self._changed_fields = changed
    self._context = context
    if not kwargs:
        return
    d = self.__dict__
    if len(kwargs) == codec.init_size and codec.init(self, d, kwargs):
        changed.update(kwargs)
        return
    settable = codec.settable
    for name, value in kwargs.items():
        setting = settable.get(name)
        if setting is None:
            setattr(self, name, value)
            continue
        attribute, unchanged_types, coerce = setting
        if value.__class__ in unchanged_types:
            d[attribute] = value
        else:
            d[attribute] = coerce(self, name, value)
        changed.add(name)


def obj_what_changed(self: Any) -> set[str]:
    """``VersionedObject.obj_what_changed``."""
    # A tree of objects calls this for every object, so the usual case is a
    # single check: a codec that these fields refer to is current and valid.
    try:
        codec = self.fields.codec
        is_current = codec.cls is self.__class__
    except AttributeError:
        is_current = False
    if not is_current:
        codec = class_codec(self.__class__)
        is_current = codec.tracks_changes and self.fields is codec.watched
    if is_current:
        changed: set[str] = codec.base_changes(self, self.__dict__)
        return changed
    return _ORIGINALS['obj_what_changed'](self)  # type: ignore[no-any-return]


override_detection.REPLACEABLE_LIST_CHANGES.add(lazy_list.list_what_changed)


def obj_attr_is_set(self: Any, attrname: str) -> bool:
    """``VersionedObject.obj_attr_is_set``, without building two lists."""
    if attrname in self.fields and (
        self.__class__.obj_fields is override_detection.ORIGINAL_FIELDS
    ):
        return hasattr(self, '_obj_' + attrname)
    return _ORIGINALS['obj_attr_is_set'](self, attrname)  # type: ignore[no-any-return]


def obj_to_primitive(
    self: Any,
    target_version: str | None = None,
    version_manifest: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """``VersionedObject.obj_to_primitive``."""
    codec = class_codec(self.__class__)
    d = self.__dict__
    if not (codec.may_encode() and codec.is_unpatched(d)):
        return _ORIGINALS['obj_to_primitive'](  # type: ignore[no-any-return]
            self, target_version, version_manifest
        )
    version = self.VERSION
    if target_version is None:
        target_version = version
    if version_tuple(target_version) > version_tuple(version):
        raise ovo_exception.InvalidTargetVersion(version=target_version)
    if target_version == version and not version_manifest:
        return codec.primitive(self, d)
    data = codec.data(self, d)
    self.obj_make_compatible_from_manifest(
        data, target_version, version_manifest
    )
    key = self._obj_primitive_key
    primitive = {
        key('name'): self.obj_name(),
        key('namespace'): self.OBJ_PROJECT_NAMESPACE,
        key('version'): target_version,
        key('data'): data,
    }
    changes = [name for name in self.obj_what_changed() if name in data]
    if changes:
        primitive[key('changes')] = changes
    return primitive


def obj_from_primitive(
    cls: Any, primitive: dict[str, Any], context: Any = None
) -> Any:
    """``VersionedObject.obj_from_primitive``."""
    codec = class_codec(cls)
    if codec.may_read():
        namespace = primitive[codec.namespace_key]
        name = primitive[codec.name_key]
        version = primitive[codec.version_key]
    else:
        field = cls._obj_primitive_field
        namespace = field(primitive, 'namespace')
        name = field(primitive, 'name')
        version = field(primitive, 'version')
    if namespace != cls.OBJ_PROJECT_NAMESPACE:
        raise ovo_exception.UnsupportedObjectError(
            objtype=f'{namespace}.{name}'
        )
    object_class = cls.obj_class_from_name(name, version)
    return object_class._obj_from_primitive(context, version, primitive)


def obj_class_from_name(cls: Any, objname: str, objver: str) -> Any:
    """``VersionedObject.obj_class_from_name``."""
    return override_detection.find_class(objname, objver)


def _obj_primitive_field(
    cls: Any,
    primitive: dict[str, Any],
    field: str,
    default: Any = ovo_fields.UnspecifiedDefault,
) -> Any:
    """``VersionedObject._obj_primitive_field``."""
    key = cls._obj_primitive_key(field)
    if default is ovo_fields.UnspecifiedDefault:
        return primitive[key]
    return primitive.get(key, default)


def _obj_from_primitive(
    cls: Any, context: Any, objver: str, primitive: dict[str, Any]
) -> Any:
    """``VersionedObject._obj_from_primitive``."""
    codec = class_codec(cls)
    if not codec.may_decode():
        return _ORIGINALS['_obj_from_primitive'](
            cls, context, objver, primitive
        )
    data = primitive.get(codec.data_key)
    if data.__class__ is not dict:
        return _ORIGINALS['_obj_from_primitive'](
            cls, context, objver, primitive
        )
    return hydrate(
        codec,
        context,
        objver,
        data,
        primitive.get(codec.changes_key, ()),
    )


def make_reader(
    codec: ClassCodec,
    version: str,
    label: str,
    otherwise: Callable[[Any, str, Any], Any],
    check: Callable[[Any, dict[str, Any]], None] | None = None,
    *,
    complete: bool = True,
) -> Reader:
    """Return ``_obj_from_primitive`` for many objects of one version.

    :param version: of the primitives
    :param label: the VERSION that the objects get
    :param otherwise: reads primitives whose data is not a dict
    :param check: handles unknown fields; called with the new object and the
        data
    :param complete: whether the version has all fields of the class
    """
    cls: Any = codec.cls
    decode_into, names = codec.decode_into, codec.names
    data_key, changes_key = codec.data_key, codec.changes_key
    is_list = codec.is_list
    size = len(names) if complete else -1

    def read(context: Any, primitive: Any) -> Any:
        data = primitive.get(data_key)
        if data.__class__ is not dict:
            return otherwise(context, version, primitive)
        obj = _new(cls)
        d = obj.__dict__
        d['_changed_fields'] = set()
        d['_context'] = context
        d['VERSION'] = label
        try:
            is_complete = decode_into(obj, d, data)
        except Exception:
            # An unknown field takes precedence over other errors.
            if check is not None:
                check(obj, data)
            raise
        if check is not None and not (is_complete and len(data) == size):
            check(obj, data)
        if is_list and '_obj_objects' not in d:
            obj.objects = []
        # Also reset without changes: a field's setter may have recorded some.
        d['_changed_fields'] = {
            name for name in primitive.get(changes_key, ()) if name in names
        }
        return obj

    return read


def _make_reader(codec: ClassCodec, version: str) -> Reader:
    return make_reader(codec, version, version, codec.cls._obj_from_primitive)


READERS[_obj_from_primitive] = _make_reader


def hydrate(
    codec: Any, context: Any, version: str, data: Any, changes: Any
) -> Any:
    """Return an object from the data of a primitive."""
    if codec.may_skip_init():
        obj = _new(codec.cls)
        d = obj.__dict__
        d['_changed_fields'] = set()
    else:
        obj = codec.cls()
        d = obj.__dict__
    obj._context = context
    obj.VERSION = version
    codec.decode_into(obj, d, data)
    if codec.is_list and '_obj_objects' not in d:
        obj.objects = []
    names = codec.names
    obj._changed_fields = {name for name in changes if name in names}
    return obj


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """``VersionedObject.__deepcopy__``."""
    codec = class_codec(self.__class__)
    if codec.may_copy() and codec.is_unpatched(self.__dict__):
        return codec.copy(self, memo)
    return _ORIGINALS['__deepcopy__'](self, memo)


_METHODS: dict[str, Any] = {
    '__init__': _init,
    '__deepcopy__': _deepcopy,
    'obj_what_changed': obj_what_changed,
    'obj_attr_is_set': obj_attr_is_set,
    'obj_to_primitive': obj_to_primitive,
}
_CLASS_METHODS: dict[str, Any] = {
    '_obj_from_primitive': _obj_from_primitive,
    '_obj_primitive_field': _obj_primitive_field,
    'obj_from_primitive': obj_from_primitive,
    'obj_class_from_name': obj_class_from_name,
}

for _name, _function in (*_METHODS.items(), *_CLASS_METHODS.items()):
    override_detection.REPLACEABLE[_name].add(_function)


def install(root: type, *, replace: bool = False) -> None:
    """Add the methods above to a class, unless it defines them itself.

    :param root: a subclass of VersionedObject, or VersionedObject itself
    :param replace: replace the methods that the class defines, too
    """
    for name, function in _METHODS.items():
        if replace or name not in vars(root):
            setattr(root, name, function)
    for name, function in _CLASS_METHODS.items():
        if replace or name not in vars(root):
            setattr(root, name, classmethod(function))
