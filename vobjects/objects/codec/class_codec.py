# SPDX-License-Identifier: Apache-2.0
"""ClassCodec: the compiled functions of one class.

If a class overrides a method, or its instances do not keep their fields in
``__dict__``, the affected functions are not used; the methods of
oslo.versionedobjects apply instead.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects.objects.codec import (
    coercion,
    field_codecs,
    field_properties,
    generate,
    lazy_list,
    override_detection,
)
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import (
    MethodCheck,
    VersionedObject,
    get_function,
    version_tuple,
)

#: The ``__dict__`` of an object.
Attributes = dict[str, Any]

#: Returns an object from a context and a primitive.
Reader = Callable[[Any, Any], Any]

#: Attribute of a class that holds its compiled codec.
ATTRIBUTE = '_vobjects_compiled'

_lock = threading.RLock()


def never() -> bool:
    """Return False, as a condition that never holds."""
    return False


#: The functions that vobjects.objects.codec.generate writes.
_GENERATED = (
    'base_changes',
    'changes',
    'copy',
    'data',
    'decode_into',
    'init',
    'is_unpatched',
    'primitive',
)


class ClassCodec:
    """The compiled functions of one class.

    :mod:`vobjects.objects.codec.generate` describes the functions. Each
    ``may_...()`` tells whether a group of them may run, which is not the case
    while a class or a test overrides a method that they replace.

    :ivar keeps_in_dict: whether instances keep every field in ``__dict__``
    :ivar skips_init: whether instances can be created without ``__init__``
    :ivar tracking: which ``obj_what_changed`` the class has: 'base' of
        VersionedObject, 'list' of ObjectListBase, or 'custom'
    :ivar base_changes: ``obj_what_changed`` of VersionedObject
    :ivar changes: ``obj_what_changed`` of the class
    :ivar is_unpatched: tells whether no attribute of an instance (its
        ``__dict__`` is the argument) replaces a method
    """

    base_changes: Callable[[Any, Attributes], set[str]]
    changes: Callable[[Any, Attributes], set[str]]
    copy: Callable[[Any, dict[int, Any]], Any]
    data: Callable[[Any, Attributes], dict[str, Any]]
    decode_into: Callable[[Any, Attributes, dict[str, Any]], bool]
    init: Callable[[Any, Attributes, dict[str, Any]], bool]
    is_unpatched: Callable[[Attributes], bool]
    primitive: Callable[[Any, Attributes], dict[str, Any]]

    def __init__(self, cls: type[VersionedObject]) -> None:
        self.cls = cls
        self.watched = override_detection.watch_fields(cls)
        self.revision = self.watched.revision
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
            field.holds_objects() for field in self.fields.values()
        )
        self.keeps_in_dict = _keeps_in_dict(cls, self.fields)
        self.skips_init = (
            self.keeps_in_dict
            and (
                self.is_list
                or override_detection.are_replaceable(cls, '__init__')
            )
            and cls.__new__ is object.__new__
        )
        self._generate()
        self._compile_checks()
        self.type_name: str = cls.obj_name()
        # Set by vobjects.objects.codec.nan_check and
        # vobjects.objects.codec.downgrade.
        self.float_attributes: tuple[str, ...] | None = None
        self.downgraders: dict[str, Any] = {}
        self.upgrades: dict[str, Any] = {}
        # Set by vobjects.objects.version_readers: version -> reader.
        self.readers: dict[str, Any] = {}
        # Set by vobjects.objects.codec.list_decoding.
        self.list_reader: Any = None
        self.objects_reader: Any = None
        # Last, because other threads may use the codec from here on.
        if self.is_current() and self.tracks_changes:
            self.watched.codec = self

    def _generate(self) -> None:
        cls, fields = self.cls, self.fields
        module = generate.GeneratedModule(
            f'{cls.__module__}.{cls.__qualname__}'
        )
        generate.write_data(module, generate.data_entries(module, fields))
        generate.write_changes(module, fields, 'base', 'base_changes')
        generate.write_changes(module, fields, self.tracking, 'changes')
        generate.write_primitive(module, cls, len(fields), self.tracking)
        generate.write_decode_into(module, fields)
        generate.write_copy(
            module, fields, skips_init=self.skips_init, is_list=self.is_list
        )
        generate.write_init(module, fields)
        module.add('def is_unpatched(d):')
        module.add(f' return {generate.unpatched_expression()}')
        functions = module.run()
        for name in _GENERATED:
            setattr(self, name, functions[name])
        # -1: the order of the keywords may matter.
        self.init_size = (
            len(fields)
            if all(
                coercion.is_pure(field_codec.field)
                and not field_codec.field.read_only
                for field_codec in fields.values()
            )
            else -1
        )
        self.settable = {
            name: (
                generate.attribute_of(name),
                field_codec.unchanged_types,
                field_codec.coerce,
            )
            for name, field_codec in fields.items()
            if not field_codec.field.read_only
        }
        key = cls._obj_primitive_key
        self.data_key, self.changes_key = key('data'), key('changes')
        self.version_key, self.name_key = key('version'), key('name')
        self.namespace_key = key('namespace')

    def _compile_checks(self) -> None:
        """Create the checks of methods; they run now and at each call."""
        cls, fields = self.cls, list(self.fields.values())
        are_replaceable = functools.partial(
            override_detection.are_replaceable, cls
        )
        coerce = generate.distinct_checks(fields, lambda f: f.coerce_checks)
        decode = generate.distinct_checks(fields, lambda f: f.decode_checks)
        encode = [
            *_checks(
                cls,
                'obj_attr_is_set',
                'obj_name',
                '_obj_primitive_key',
                'OBJ_SERIAL_NAMESPACE',
                'OBJ_PROJECT_NAMESPACE',
                'obj_what_changed',
            ),
            *generate.distinct_checks(fields, lambda f: f.encode_checks),
        ]
        read = _checks(
            cls,
            '_obj_primitive_field',
            '_obj_primitive_key',
            'OBJ_SERIAL_NAMESPACE',
        )
        find_class = ('obj_from_primitive', 'obj_class_from_name')
        convert = ('obj_to_primitive', *override_detection.CONVERSIONS)
        init = _checks(cls, '__init__', '__new__', 'obj_attr_is_set')
        self.tracks_changes = self.keeps_in_dict and are_replaceable(
            'obj_attr_is_set'
        )
        self.may_read = _condition(
            are_replaceable('_obj_primitive_field'), read
        )
        self.may_read_classes = _condition(
            are_replaceable(*find_class), _checks(cls, *find_class)
        )
        self.may_encode = _condition(self.tracks_changes, encode)
        self.may_nest = _condition(
            self.tracks_changes and are_replaceable('obj_to_primitive'),
            [*encode, *_checks(cls, 'obj_to_primitive')],
        )
        self.may_convert = _condition(
            self.tracks_changes
            and are_replaceable(*convert)
            and all(
                field.encode is not None
                for field in fields
                if field.holds_objects()
            ),
            [*encode, *_checks(cls, *convert)],
        )
        self.may_init = _condition(self.keeps_in_dict, coerce)
        self.may_decode = _condition(
            self.keeps_in_dict and are_replaceable('_obj_primitive_field'),
            [*read, *coerce, *decode],
        )
        self.may_skip_init = _condition(self.skips_init, init)
        self.may_copy = _condition(self.tracks_changes, [*init, *coerce])

    def is_current(self) -> bool:
        """Tell whether the fields of the class are still the same."""
        return (
            self.cls.fields is self.watched
            and self.watched.revision == self.revision
        )


def _condition(
    is_possible: bool, checks: list[MethodCheck]
) -> Callable[[], bool]:
    """Return a function that tells whether all checks hold, if possible."""
    return override_detection.compile_checks(checks) if is_possible else never


def _tracking_of(cls: type) -> str:
    """Return which ``obj_what_changed`` a class has."""
    if override_detection.are_replaceable(cls, 'obj_what_changed'):
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


def _checks(cls: type, *names: str) -> list[MethodCheck]:
    return list(override_detection.method_checks(cls, *names))


def _keeps_in_dict(
    cls: type[VersionedObject],
    fields: dict[str, field_codecs.FieldCodec],
) -> bool:
    """Tell whether all fields are kept in ``__dict__``, and only there."""
    return (
        cls.__setattr__ in override_detection.REPLACEABLE_SETATTR
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, '__getattr__')
        and cls.obj_fields is override_detection.ORIGINAL_FIELDS
        and not any(
            hasattr(cls, generate.attribute_of(name))
            or field_properties.field_of(getattr(cls, name, None))
            is not field_codec.field
            for name, field_codec in fields.items()
        )
    )


def class_codec(cls: type[VersionedObject]) -> ClassCodec:
    """Return the compiled codec of a class; create it if necessary."""
    codec: ClassCodec | None = getattr(cls, ATTRIBUTE, None)
    if (
        codec is not None
        and codec.cls is cls
        and cls.fields is codec.watched
        and codec.watched.revision == codec.revision
    ):
        return codec
    with _lock:
        codec = vars(cls).get(ATTRIBUTE)
        if codec is None or not codec.is_current():
            codec = ClassCodec(cls)
            setattr(cls, ATTRIBUTE, codec)
        return codec


#: ``_obj_from_primitive`` -> a function that returns an equivalent reader for
#: a class and a version; other modules add theirs.
READERS: dict[Any, Callable[[ClassCodec, str], Reader]] = {}


def decode_objects(parent: Any, primitives: list[Any]) -> list[Any]:
    """Return the objects of primitives; look up each run of a type once.

    :param parent: the object that will contain them
    """
    context = parent._context
    read_one = parent.obj_from_primitive
    codec = class_codec(parent.__class__)
    is_direct = (
        codec.may_read()
        and codec.may_read_classes()
        and getattr(read_one, '__self__', None) is parent.__class__
    )
    name_key, version_key = codec.name_key, codec.version_key
    namespace_key = codec.namespace_key
    objects: list[Any] = []
    name = version = namespace = None
    read: Reader | None = None
    for item in primitives:
        if item.__class__ is not dict or not is_direct:
            objects.append(
                item
                if item is None or isinstance(item, VersionedObject)
                else read_one(item, context)
            )
            continue
        if (
            item.get(name_key) != name
            or item.get(version_key) != version
            or item.get(namespace_key) != namespace
        ):
            name, version = item.get(name_key), item.get(version_key)
            namespace = item.get(namespace_key)
            read = _reader_for(codec, (namespace, name, version))
        if read is None:
            objects.append(read_one(item, context))
        else:
            objects.append(read(context, item))
    return objects


def _reader_for(codec: ClassCodec, label: tuple[Any, ...]) -> Reader | None:
    namespace, name, version = label
    if namespace != codec.cls.OBJ_PROJECT_NAMESPACE or not (
        isinstance(name, str) and isinstance(version, str)
    ):
        return None
    item_codec = class_codec(override_detection.find_class(name, version))
    make = READERS.get(get_function(item_codec.cls, '_obj_from_primitive'))
    if make is None or not (
        item_codec.may_decode() and item_codec.may_skip_init()
    ):
        return None
    return make(item_codec, version)


def encode_objects(objects: Any) -> list[Any]:
    """Return the primitives of objects; look up each run of a class once."""
    if objects.__class__ is LazyObjectList:
        return lazy_list.primitives(objects, encode_objects)
    primitives: list[Any] = []
    last_cls: Any = None
    is_unpatched = to_primitive = None
    for obj in objects:
        cls = obj.__class__
        if cls is not last_cls:
            last_cls, is_unpatched, to_primitive = cls, None, None
            if issubclass(cls, VersionedObject):
                codec = class_codec(cls)
                if codec.may_nest():
                    version_tuple(cls.VERSION)
                    is_unpatched, to_primitive = (
                        codec.is_unpatched,
                        codec.primitive,
                    )
        if is_unpatched is not None and to_primitive is not None:
            d = obj.__dict__
            if is_unpatched(d) and 'VERSION' not in d:
                primitives.append(to_primitive(obj, d))
                continue
        primitives.append(None if obj is None else obj.obj_to_primitive())
    return primitives
