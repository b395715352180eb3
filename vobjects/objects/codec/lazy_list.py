# SPDX-License-Identifier: Apache-2.0
"""A list of objects that makes each object on first access.

The data of all objects has been validated
(:mod:`vobjects.objects.codec.prevalidation`), so no error is delayed until
access. The length, copies, primitives and changes are available without making
objects. An index makes one object, a slice its part, and any other operation
all of them. When the last object has been made, the list becomes an ordinary
``CoercedList``.

Several threads may read the list at once, and get the same objects.
"""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable, Collection
from typing import Any, SupportsIndex

import msgspec
from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import json_text

_get, _set, _len = list.__getitem__, list.__setitem__, list.__len__
_encode = msgspec.json.Encoder().encode


class Waiting:
    """How to make the objects of one list.

    :param kind: the class of the unread items
    :param form: the compiled form of the objects' class
    :param read: converts primitives to objects
    :param is_known: tells whether the class of the objects is unchanged, so
        that unread items are equivalent to objects
    :param number: of unread items
    """

    __slots__ = ('form', 'is_known', 'kind', 'lock', 'number', 'read')

    def __init__(
        self,
        kind: Any,
        form: Any,
        read: Callable[[list[Any]], list[Any]],
        is_known: Callable[[], bool],
        number: int,
    ) -> None:
        self.kind = kind
        self.form = form
        self.read = read
        self.is_known = is_known
        self.number = number
        # Reentrant, because methods of field types run while it is held.
        self.lock = threading.RLock()


class UnreadObjects(ovo.CoercedList[Any]):
    """A list with unread items; see the module.

    Another thread may turn the list into a ``CoercedList`` at any time, so
    operations that are not methods of a list are functions below.
    """

    _waiting: Waiting

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        waiting = _waiting_in(self)
        if waiting is not None:
            if isinstance(index, slice):
                for each in range(*index.indices(_len(self))):
                    _made(self, each, waiting)
            elif hasattr(index, '__index__'):
                return _made(self, index, waiting)
        return _get(self, index)

    def __copy__(self) -> Any:
        _make_all(self)
        return copy.copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        _make_all(self)
        return copy.deepcopy(self, memo)

    def __radd__(self, before: list[Any]) -> list[Any]:
        # list.__add__ would copy unread items.
        _make_all(self)
        return before + self


def holding(
    element: Any, obj: Any, name: str, items: Any, waiting: Waiting
) -> UnreadObjects:
    """Return a list of unread items for a field of an object.

    :param element: the field of the items
    :param items: instances of ``waiting.kind``, or objects
    """
    made = list.__new__(UnreadObjects)
    made._element_type, made._obj, made._field = element, obj, name
    made._waiting = waiting
    list.extend(made, items)
    return made


# Operations that make no objects


def primitives(
    objects: UnreadObjects, dump: Callable[[list[Any]], list[Any]]
) -> list[Any]:
    """Return the primitives of the objects in a list.

    :param dump: returns the primitives of objects
    """
    waiting = _known_in(objects)
    if waiting is None:
        return dump([*objects])
    made: list[Any] = []
    for index, item in enumerate(_held(objects)):
        if item.__class__ is not waiting.kind:
            made += dump([item])
        elif item.changes is msgspec.UNSET:
            made.append(_plain(item))
        else:
            made += dump([_made(objects, index, waiting)])
    return made


def data_of(objects: UnreadObjects) -> list[dict[str, Any]] | None:
    """Return the data of the objects' primitives; None: use the objects."""
    items = _all_waiting(objects)
    if items is None:
        return None
    data: list[dict[str, Any]] = _plain([item.data for item in items])
    return data


def text_of(objects: UnreadObjects) -> bytes | None:
    """Return the JSON text of the primitives; None: use the objects."""
    items = _all_waiting(objects)
    return None if items is None else _written(items)


def data_text_of(
    objects: UnreadObjects, without: Collection[str]
) -> bytes | None:
    """Return the JSON text of :func:`data_of`; None: use the objects.

    :param without: fields to omit
    """
    items = _all_waiting(objects)
    if items is None:
        return None
    data = [item.data for item in items]
    if without:
        data = [copy.copy(one) for one in data]
        for name in without:
            for one in data:
                setattr(one, name, msgspec.UNSET)
    return _written(data)


def _all_waiting(objects: UnreadObjects) -> list[Any] | None:
    """Return the items if all are unread and their class is unchanged."""
    waiting = _known_in(objects)
    if waiting is None:
        return None
    items = _held(objects)
    if any(item.__class__ is not waiting.kind for item in items):
        return None
    return items


def _written(items: list[Any]) -> bytes | None:
    try:
        return _encode(items)
    except UnicodeEncodeError:
        return None  # a lone surrogate, which only json can write


def have_changes(objects: UnreadObjects) -> bool:
    """Tell whether an object in a list has changes."""
    waiting = _known_in(objects)
    if waiting is None:
        return any(item.obj_what_changed() for item in objects)
    return any(
        item.changes
        if item.__class__ is waiting.kind
        else item.obj_what_changed()
        for item in _held(objects)
    )


def made_objects(objects: UnreadObjects) -> list[Any]:
    """Return the objects of a list that have already been made."""
    waiting = _waiting_in(objects)
    kind = None if waiting is None else waiting.kind
    return [item for item in _held(objects) if item.__class__ is not kind]


def copy_for(
    objects: UnreadObjects,
    obj: Any,
    name: str,
    deep_copy: Callable[[Any], Any],
) -> UnreadObjects | None:
    """Return a deep copy of a list for a field; None: no item is unread.

    :param deep_copy: copies an object
    """
    waiting = _waiting_in(objects)
    if waiting is None:
        return None
    with waiting.lock:
        items, number = _held(objects), waiting.number
    if not number:
        return None
    # Unread items are never handed out, so both lists can share them.
    copies = [
        item if item.__class__ is waiting.kind else deep_copy(item)
        for item in items
    ]
    again = Waiting(
        waiting.kind,
        waiting.form,
        functools.partial(_read_copies, waiting.read),
        waiting.is_known,
        number,
    )
    return holding(objects._element_type, obj, name, copies, again)


def form_of_waiting(objects: UnreadObjects) -> Any:
    """Return the compiled form of unread items; None: use the objects."""
    waiting = _known_in(objects)
    return None if waiting is None else waiting.form


def _plain(items: Any) -> Any:
    """Return unread items as primitives."""
    return msgspec.to_builtins(items, enc_hook=json_text.unwritten)


def _held(objects: UnreadObjects) -> list[Any]:
    """Return the content of a list: objects and unread items."""
    return list.copy(objects)


def _waiting_in(objects: UnreadObjects) -> Waiting | None:
    """Return how to make the objects; None: all are made."""
    return objects.__dict__.get('_waiting')


def _known_in(objects: UnreadObjects) -> Waiting | None:
    """Return how to make the objects, if their class is unchanged."""
    waiting = _waiting_in(objects)
    return waiting if waiting is not None and waiting.is_known() else None


# Making objects


def _made(objects: Any, index: SupportsIndex, waiting: Waiting) -> Any:
    """Return the object at an index; make it if necessary.

    :raises IndexError: the index is out of range
    """
    item = _get(objects, index)
    if item.__class__ is not waiting.kind:
        return item
    with waiting.lock:
        item = _get(objects, index)
        if item.__class__ is not waiting.kind:
            return item
        (made,) = waiting.read([_plain(item)])
        _set(objects, index, made)
        waiting.number -= 1
        if not waiting.number:
            _end(objects)
    return made


def _make_all(objects: UnreadObjects) -> None:
    waiting = _waiting_in(objects)
    if waiting is None:
        return
    with waiting.lock:
        items = list.copy(objects)
        indexes = [
            index
            for index, item in enumerate(items)
            if item.__class__ is waiting.kind
        ]
        if not indexes:
            return  # another thread has made them
        made = waiting.read(_plain([items[index] for index in indexes]))
        for index, one in zip(indexes, made, strict=True):
            _set(objects, index, one)
        waiting.number = 0
        _end(objects)


def _end(objects: Any) -> None:
    objects.__dict__.pop('_waiting', None)
    objects.__class__ = ovo.CoercedList


def _read_copies(
    read: Callable[[list[Any]], list[Any]], primitives: list[Any]
) -> list[Any]:
    made = read(primitives)
    for one in made:
        # Copies of objects do not keep the VERSION that reading has set.
        one.__dict__.pop('VERSION', None)
    return made


#: All other methods of a list. They make all objects first, and then call the
#: method of CoercedList.
_OTHERS = (
    *('__add__', '__contains__', '__delitem__', '__eq__', '__ge__', '__gt__'),
    *(
        '__iadd__',
        '__imul__',
        '__iter__',
        '__le__',
        '__lt__',
        '__mul__',
        '__ne__',
    ),
    *('__reduce_ex__', '__repr__', '__reversed__', '__rmul__'),
    *('__setitem__', 'append', 'clear', 'copy', 'count', 'extend', 'index'),
    *('insert', 'pop', 'remove', 'reverse', 'sort'),
)


def _after_making(name: str) -> Callable[..., Any]:
    method = getattr(ovo.CoercedList, name)

    def call(self: UnreadObjects, *args: Any, **kwargs: Any) -> Any:
        _make_all(self)
        return method(self, *args, **kwargs)

    call.__name__ = name
    return call


for _name in _OTHERS:
    setattr(UnreadObjects, _name, _after_making(_name))
