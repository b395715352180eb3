# SPDX-License-Identifier: Apache-2.0
"""A list that creates each of its objects on first access.

Until then, the item is *pending*: a msgspec struct whose data has been
validated (:mod:`vobjects.objects.codec.prevalidation`), so no error is delayed
until access. The length, primitives and changes are available without
creating objects. An index creates one object, a slice its part, and any other
operation all of them.

Several threads may read the list at once, and get the same objects.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Collection, Iterable
from typing import Any, SupportsIndex

import msgspec
from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import json_text

_get, _set, _len = list.__getitem__, list.__setitem__, list.__len__
_encode = msgspec.json.Encoder().encode


class LazySource:
    """How to create the objects of one list.

    :param schema: the ``StructSchema`` of the objects
    :param context: the context of the objects
    :param pending: number of pending items
    """

    __slots__ = (
        'context',
        'item_type',
        'lock',
        'pending',
        'schema',
    )

    def __init__(self, schema: Any, context: Any, pending: int) -> None:
        self.schema = schema
        self.item_type = schema.envelope
        self.context = context
        self.pending = pending
        # Reentrant, because methods of field types run while it is held.
        self.lock = threading.RLock()


class LazyObjectList(ovo.CoercedList[Any]):
    """A list with pending items; see the module.

    Operations that are not methods of a list are functions below.
    """

    _source: LazySource | None = None  # None: all objects are created

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice):
            _create(self, range(*index.indices(_len(self))))
        elif hasattr(index, '__index__'):
            _create(self, (index,))
        return _get(self, index)

    def __radd__(self, left: list[Any]) -> list[Any]:
        # list.__add__ would copy pending items.
        _create_all(self)
        return left + _items(self)


def new_list(
    element: Any, obj: Any, name: str, items: Any, source: LazySource
) -> LazyObjectList:
    """Return a list of pending items for a field of an object.

    :param element: the field of the items
    :param items: instances of ``source.item_type``, or objects
    """
    objects = list.__new__(LazyObjectList)
    objects._element_type, objects._obj, objects._field = element, obj, name
    objects._source = source
    list.extend(objects, items)
    return objects


# Operations that create no objects


def primitives(
    objects: LazyObjectList, encode: Callable[[list[Any]], list[Any]]
) -> list[Any]:
    """Return the primitives of the objects in a list.

    :param encode: returns the primitives of objects
    """
    source = _valid_source_of(objects)
    if source is None:
        return encode([*objects])
    primitives: list[Any] = []
    for index, item in enumerate(_items(objects)):
        if item.__class__ is not source.item_type:
            primitives += encode([item])
        elif item.changes is msgspec.UNSET:
            primitives.append(to_primitives(item))
        else:
            primitives += encode([objects[index]])
    return primitives


def text_of(objects: LazyObjectList) -> bytes | None:
    """Return the JSON text of the primitives; None: use the objects."""
    items = _all_pending(objects)
    return None if items is None else encode(items)


def data_of(
    objects: LazyObjectList, without: Collection[str]
) -> list[Any] | None:
    """Return the data of the objects' primitives; None: use the objects.

    :param without: fields to omit
    :returns: structs, for :func:`encode` and :func:`to_primitives`
    """
    items = _all_pending(objects)
    if items is None:
        return None
    data = [item.data for item in items]
    if without:
        data = [copy.copy(struct) for struct in data]
        for name in without:
            for struct in data:
                setattr(struct, f'_obj_{name}', msgspec.UNSET)
    return data


def _all_pending(objects: LazyObjectList) -> list[Any] | None:
    """Return the items if all are pending and their class is unchanged."""
    source = _valid_source_of(objects)
    if source is None:
        return None
    items = _items(objects)
    if any(item.__class__ is not source.item_type for item in items):
        return None
    return items


def encode(items: list[Any]) -> bytes | None:
    """Return the JSON text of pending items; None: use the objects."""
    try:
        return _encode(items)
    except UnicodeEncodeError:
        return None  # a lone surrogate, which only json can write


def list_what_changed(self: Any) -> set[str]:
    """``ObjectListBase.obj_what_changed``, without creating objects."""
    objects = items = self.objects
    item_type = None
    if objects.__class__ is LazyObjectList:
        source = _valid_source_of(objects)
        if source is not None:
            items, item_type = _items(objects), source.item_type
    changes = set(self._changed_fields)
    if any(
        item.changes
        if item.__class__ is item_type
        else item.obj_what_changed()
        for item in items
    ):
        changes.add('objects')
    return changes


def created_objects(objects: LazyObjectList) -> list[Any]:
    """Return the objects of a list that have already been created."""
    source = objects._source
    item_type = None if source is None else source.item_type
    return [
        item for item in _items(objects) if item.__class__ is not item_type
    ]


def codec_of(objects: LazyObjectList) -> Any:
    """Return the compiled codec of pending items; None: use the objects."""
    source = _valid_source_of(objects)
    return None if source is None else source.schema.codec


def to_primitives(items: Any) -> Any:
    """Return pending items as primitives."""
    return msgspec.to_builtins(items, enc_hook=json_text.decode_raw)


def _items(objects: LazyObjectList) -> list[Any]:
    """Return the content of a list: objects and pending items."""
    return list.copy(objects)


def _valid_source_of(objects: LazyObjectList) -> LazySource | None:
    """Return the source, if the class of its objects is unchanged."""
    source = objects._source
    return (
        source
        if source is not None and source.schema.equals_objects()
        else None
    )


# Creation of objects


def _create(objects: LazyObjectList, indexes: Iterable[SupportsIndex]) -> None:
    """Create the objects at indexes, unless they are created.

    :raises IndexError: an index is out of range
    """
    source = objects._source
    if source is None:
        return
    with source.lock:
        pending = [
            index
            for index in indexes
            if _get(objects, index).__class__ is source.item_type
        ]
        items = [_get(objects, index) for index in pending]
        created = source.schema.create(source.context, items)
        for index, obj in zip(pending, created, strict=True):
            _set(objects, index, obj)
        source.pending -= len(pending)
        if not source.pending:
            objects._source = None


def _create_all(objects: LazyObjectList) -> None:
    _create(objects, range(_len(objects)))


#: All other methods of a list. They create all objects first, and then call
#: the method of CoercedList.
_LIST_METHODS = (
    *('__add__', '__contains__', '__delitem__', '__eq__', '__ge__', '__gt__'),
    *('__iadd__', '__imul__', '__iter__', '__le__', '__lt__', '__mul__'),
    *('__ne__', '__reduce_ex__', '__repr__', '__reversed__', '__rmul__'),
    *('__setitem__', 'append', 'clear', 'copy', 'count', 'extend', 'index'),
    *('insert', 'pop', 'remove', 'reverse', 'sort'),
)


def _create_all_then(name: str) -> Callable[..., Any]:
    method = getattr(ovo.CoercedList, name)

    def call(self: LazyObjectList, *args: Any, **kwargs: Any) -> Any:
        _create_all(self)
        return method(self, *args, **kwargs)

    call.__name__ = name
    return call


for _name in _LIST_METHODS:
    setattr(LazyObjectList, _name, _create_all_then(_name))
