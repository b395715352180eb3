# SPDX-License-Identifier: Apache-2.0
"""Methods of oslo.versionedobjects that use compiled classes.

Each method is equivalent to the method of the same name, and calls it where
the compiled codec does not apply. :func:`install` adds them to a class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oslo_versionedobjects import exception as ovo_exception

from vobjects.objects.codec import lazy_list, override_detection
from vobjects.objects.codec.class_codec import class_codec, what_changed
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import (
    VersionedObject,
    are_replaceable,
    is_unpatched,
    version_tuple,
)

_ORIGINALS = override_detection.ORIGINALS


def _init(self: Any, context: Any = None, **kwargs: Any) -> None:
    """``VersionedObject.__init__``: coerce and set the given fields."""
    codec = class_codec(self.__class__)
    values = None
    if codec.may_init():
        try:
            values = codec.coerce(self, kwargs)
        except Exception:  # noqa: BLE001
            values = None  # the first wrong keyword raises the error below
    if values is None or len(values) != len(kwargs):
        _ORIGINALS['__init__'](self, context, **kwargs)
        return
    object.__setattr__(self, '_context', context)
    d = self.__dict__
    d.update(values)
    d['_changed_fields'] = set(kwargs)


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
    if not (codec.may_encode() and is_unpatched(self.__dict__)):
        return _ORIGINALS['obj_to_primitive'](  # type: ignore[no-any-return]
            self, target_version, version_manifest
        )
    version = self.VERSION
    if target_version is None:
        target_version = version
    if version_tuple(target_version) > version_tuple(version):
        raise ovo_exception.InvalidTargetVersion(version=target_version)
    if target_version == version and not version_manifest:
        return codec.primitive(self)
    primitive = codec.primitive(self)
    data = primitive[codec.data_key]
    self.obj_make_compatible_from_manifest(
        data, target_version, version_manifest
    )
    return codec.envelope(self, target_version, data)


def obj_class_from_name(cls: Any, objname: str, objver: str) -> Any:
    """``VersionedObject.obj_class_from_name``."""
    return override_detection.find_class(objname, objver)


def _obj_from_primitive(
    cls: Any, context: Any, objver: str, primitive: dict[str, Any]
) -> Any:
    """``VersionedObject._obj_from_primitive``."""
    codec = class_codec(cls)
    if codec.may_decode():
        return codec.decode(context, objver, primitive)
    return _ORIGINALS['_obj_from_primitive'](cls, context, objver, primitive)


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """``VersionedObject.__deepcopy__``."""
    codec = class_codec(self.__class__)
    if codec.may_copy() and is_unpatched(self.__dict__):
        return codec.copy(self, memo)
    return _ORIGINALS['__deepcopy__'](self, memo)


_METHODS: dict[str, Any] = {
    '__init__': _init,
    '__deepcopy__': _deepcopy,
    'obj_what_changed': what_changed,
    'obj_attr_is_set': obj_attr_is_set,
    'obj_to_primitive': obj_to_primitive,
    '_obj_from_primitive': classmethod(_obj_from_primitive),
    'obj_class_from_name': classmethod(obj_class_from_name),
}

for _name, _method in _METHODS.items():
    override_detection.REPLACEABLE[_name].add(
        getattr(_method, '__func__', _method)
    )


def install(root: type, *, replace: bool = False) -> None:
    """Add the methods above to a class, unless it defines them itself.

    :param root: a subclass of VersionedObject, or VersionedObject itself
    :param replace: replace the methods that the class defines, too
    """
    for name, method in _METHODS.items():
        if replace or name not in vars(root):
            setattr(root, name, method)


def reset_changes(entity: Any) -> None:
    """Reset the changes of an object, or of the objects in a list or dict.

    It is ``obj_reset_changes(recursive=True)``, but visits only the fields
    that may contain objects. Objects inside of other values, and pending items
    of lists, have no changes.
    """
    if isinstance(entity, VersionedObject):
        codec = class_codec(entity.__class__)
        if not codec.tracks_changes or not are_replaceable(
            codec.cls, 'obj_reset_changes'
        ):
            entity.obj_reset_changes(recursive=bool(codec.nested))
            return
        attributes = entity.__dict__
        attributes['_changed_fields'].clear()
        for name in codec.nested:
            reset_changes(attributes.get(name))
    elif entity.__class__ is LazyObjectList:
        for item in lazy_list.created_objects(entity):
            reset_changes(item)
    elif isinstance(entity, (list, tuple, set)):
        for item in entity:
            reset_changes(item)
    elif isinstance(entity, dict):
        for item in entity.values():
            reset_changes(item)
