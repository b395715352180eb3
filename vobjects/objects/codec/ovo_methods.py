# SPDX-License-Identifier: Apache-2.0
"""Methods of oslo.versionedobjects that use compiled classes.

Each method is equivalent to the method of the same name, and calls it where
the compiled form does not apply. :func:`install` adds them to a class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects.objects.codec import lazy_list, override_detection
from vobjects.objects.codec.compiled import Compiled, compiled
from vobjects.objects.codec.lazy_list import UnreadObjects

_ORIGINALS = override_detection.ORIGINALS
_new = object.__new__


def _init(self: Any, context: Any = None, **kwargs: Any) -> None:
    """``VersionedObject.__init__``: coerce and set the given fields."""
    form = compiled(self.__class__)
    if not form.may_build():
        _ORIGINALS['__init__'](self, context, **kwargs)
        return
    changed: set[str] = set()
    self._changed_fields = changed
    self._context = context
    if not kwargs:
        return
    d = self.__dict__
    if len(kwargs) == form.builds and form.build(self, d, kwargs):
        changed.update(kwargs)
        return
    table = form.table
    for name, value in kwargs.items():
        entry = table.get(name)
        if entry is None:
            setattr(self, name, value)
            continue
        held, stored, coerce = entry
        if value.__class__ in stored:
            d[held] = value
        else:
            d[held] = coerce(self, name, value)
        changed.add(name)


def obj_what_changed(self: Any) -> set[str]:
    """``VersionedObject.obj_what_changed``."""
    # A tree of objects calls this for every object, so the usual case is a
    # single check: a form that these fields refer to is current and valid.
    try:
        form = self.fields.form
        right = form.cls is self.__class__
    except AttributeError:
        right = False
    if not right:
        form = compiled(self.__class__)
        right = form.tracks and self.fields is form.watched
    if right:
        changed: set[str] = form.tracked(self, self.__dict__)
        return changed
    return _ORIGINALS['obj_what_changed'](self)  # type: ignore[no-any-return]


def list_what_changed(self: Any) -> set[str]:
    """``ObjectListBase.obj_what_changed``, without making unread items."""
    changed = set(self._changed_fields)
    objects = self.objects
    if objects.__class__ is UnreadObjects:
        if lazy_list.have_changes(objects):
            changed.add('objects')
        return changed
    for item in objects:
        if item.obj_what_changed():
            changed.add('objects')
    return changed


override_detection.LIST_CHANGES.add(list_what_changed)


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
    form = compiled(self.__class__)
    d = self.__dict__
    if not (form.may_dump() and form.plain(d)):
        return _ORIGINALS['obj_to_primitive'](  # type: ignore[no-any-return]
            self, target_version, version_manifest
        )
    own = self.VERSION
    if target_version is None:
        target_version = own
    if override_detection.version_tuple(
        target_version
    ) > override_detection.version_tuple(own):
        raise ovo_exception.InvalidTargetVersion(version=target_version)
    if target_version == own and not version_manifest:
        return form.primitive(self, d)
    data = form.data(self, d)
    self.obj_make_compatible_from_manifest(
        data, target_version, version_manifest
    )
    key = self._obj_primitive_key
    made = {
        key('name'): self.obj_name(),
        key('namespace'): self.OBJ_PROJECT_NAMESPACE,
        key('version'): target_version,
        key('data'): data,
    }
    changes = [name for name in self.obj_what_changed() if name in data]
    if changes:
        made[key('changes')] = changes
    return made


def obj_from_primitive(
    cls: Any, primitive: dict[str, Any], context: Any = None
) -> Any:
    """``VersionedObject.obj_from_primitive``."""
    form = compiled(cls)
    if form.may_read():
        namespace = primitive[form.namespace_key]
        name = primitive[form.name_key]
        version = primitive[form.version_key]
    else:
        field = cls._obj_primitive_field
        namespace = field(primitive, 'namespace')
        name = field(primitive, 'name')
        version = field(primitive, 'version')
    if namespace != cls.OBJ_PROJECT_NAMESPACE:
        raise ovo_exception.UnsupportedObjectError(
            objtype=f'{namespace}.{name}'
        )
    found = cls.obj_class_from_name(name, version)
    return found._obj_from_primitive(context, version, primitive)


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
    form = compiled(cls)
    if not form.may_load():
        return _ORIGINALS['_obj_from_primitive'](
            cls, context, objver, primitive
        )
    data = primitive.get(form.data_key)
    if data.__class__ is not dict:
        return _ORIGINALS['_obj_from_primitive'](
            cls, context, objver, primitive
        )
    return hydrate(
        form,
        context,
        objver,
        data,
        primitive.get(form.changes_key, ()),
    )


Reader = Callable[[Any, Any], Any]


def reader(
    form: Compiled,
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
    cls: Any = form.cls
    fill, names = form.fill, form.names
    data_key, changes_key = form.data_key, form.changes_key
    is_list = form.is_list
    size = len(names) if complete else -1

    def read(context: Any, primitive: Any) -> Any:
        data = primitive.get(data_key)
        if data.__class__ is not dict:
            return otherwise(context, version, primitive)
        made = _new(cls)
        d = made.__dict__
        d['_changed_fields'] = set()
        d['_context'] = context
        d['VERSION'] = label
        try:
            whole = fill(made, d, data)
        except Exception:
            # An unknown field takes precedence over other errors.
            if check is not None:
                check(made, data)
            raise
        if check is not None and not (whole and len(data) == size):
            check(made, data)
        if is_list and '_obj_objects' not in d:
            made.objects = []
        # Also reset without changes: a field's setter may have recorded some.
        d['_changed_fields'] = {
            name for name in primitive.get(changes_key, ()) if name in names
        }
        return made

    return read


def _reader(form: Compiled, version: str) -> Reader:
    return reader(form, version, version, form.cls._obj_from_primitive)


#: ``_obj_from_primitive`` -> a function that returns an equivalent reader.
READERS: dict[Any, Callable[[Compiled, str], Reader]] = {
    _obj_from_primitive: _reader
}


def load_objects(parent: Any, primitives: list[Any]) -> list[Any]:
    """Return the objects of primitives; look up each run of a type once.

    :param parent: the object that will contain them
    """
    context = parent._context
    build = parent.obj_from_primitive
    form = compiled(parent.__class__)
    direct = (
        form.may_read()
        and form.may_read_classes()
        and getattr(build, '__self__', None) is parent.__class__
    )
    name_key, version_key = form.name_key, form.version_key
    namespace_key = form.namespace_key
    made: list[Any] = []
    name = version = namespace = None
    read: Reader | None = None
    for item in primitives:
        if item.__class__ is not dict or not direct:
            made.append(
                item
                if item is None
                or isinstance(item, override_detection.VersionedObject)
                else build(item, context)
            )
            continue
        if (
            item.get(name_key) != name
            or item.get(version_key) != version
            or item.get(namespace_key) != namespace
        ):
            name, version = item.get(name_key), item.get(version_key)
            namespace = item.get(namespace_key)
            read = _reader_for(form, (namespace, name, version))
        if read is None:
            made.append(build(item, context))
        else:
            made.append(read(context, item))
    return made


def _reader_for(form: Compiled, label: tuple[Any, ...]) -> Reader | None:
    namespace, name, version = label
    if namespace != form.cls.OBJ_PROJECT_NAMESPACE or not (
        isinstance(name, str) and isinstance(version, str)
    ):
        return None
    found = compiled(override_detection.find_class(name, version))
    make = READERS.get(
        override_detection.function_of(found.cls, '_obj_from_primitive')
    )
    if make is None or not (found.may_load() and found.may_make()):
        return None
    return make(found, version)


def hydrate(
    form: Any, context: Any, version: str, data: Any, changes: Any
) -> Any:
    """Return an object from the data of a primitive."""
    if form.may_make():
        made = _new(form.cls)
        d = made.__dict__
        d['_changed_fields'] = set()
    else:
        made = form.cls()
        d = made.__dict__
    made._context = context
    made.VERSION = version
    form.fill(made, d, data)
    if form.is_list and '_obj_objects' not in d:
        made.objects = []
    names = form.names
    made._changed_fields = {name for name in changes if name in names}
    return made


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """``VersionedObject.__deepcopy__``."""
    form = compiled(self.__class__)
    if form.may_copy() and form.plain(self.__dict__):
        return form.copy(self, memo)
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
    override_detection.KNOWN[_name].add(_function)


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


def dump_objects(objects: Any) -> list[Any]:
    """Return the primitives of objects; look up each run of a class once."""
    if objects.__class__ is UnreadObjects:
        return lazy_list.primitives(objects, dump_objects)
    made: list[Any] = []
    last: Any = None
    plain = primitive = None
    for obj in objects:
        kind = obj.__class__
        if kind is not last:
            last, plain, primitive = kind, None, None
            if issubclass(kind, override_detection.VersionedObject):
                form = compiled(kind)
                if form.may_nest():
                    override_detection.version_tuple(kind.VERSION)
                    plain, primitive = form.plain, form.primitive
        if plain is not None and primitive is not None:
            d = obj.__dict__
            if plain(d) and 'VERSION' not in d:
                made.append(primitive(obj, d))
                continue
        made.append(None if obj is None else obj.obj_to_primitive())
    return made
