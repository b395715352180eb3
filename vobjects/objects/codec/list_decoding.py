# SPDX-License-Identifier: Apache-2.0
"""Read lists of objects from JSON, and make each object on first access.

An item becomes an object when it is first accessed, from data that a parser in
C has validated. :mod:`vobjects.objects.codec.prevalidation` describes the
validation,
:mod:`vobjects.objects.codec.lazy_list` the operations that do not make
    objects.

A service that returns the rows of its tables has no JSON text, but the values
of each field. :func:`from_columns` makes a list of them that is serialized
without making any object, too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import (
    coercion,
    decoders,
    lazy_list,
    override_detection,
    ovo_methods,
    prevalidation,
)
from vobjects.objects.codec.compiled import Compiled, compiled
from vobjects.objects.codec.json_text import Written, unwritten
from vobjects.objects.codec.lazy_list import Waiting

_REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

#: The name at the start of a primitive's text, where serializers put it.
_NAME = rb'\s*\{\s*"%b\.name"\s*:\s*"(\w+)"' % (
    re.escape(override_detection.VersionedObject.OBJ_SERIAL_NAMESPACE).encode()
)
_name_in = re.compile(_NAME).match
_name_of_items_in = re.compile(rb'\s*\[' + _NAME).match


def read_list(text: bytes, context: Any) -> Any:
    """Return an object that is a list, with unread items.

    :param text: JSON in UTF-8
    :returns: None if the text is not such a list, or cannot be read lazily
    """
    form = _form_in(_name_in(text))
    if form is None:
        return None
    # False: the type has been checked, and is not a list.
    reader: ListReader | bool | None = form.list_reader
    if reader is None or (
        isinstance(reader, ListReader) and not reader.is_current()
    ):
        reader = form.list_reader = _list_reader(form) or False
    if not isinstance(reader, ListReader) or not reader.is_allowed():
        return None
    return reader.read(text, context)


def read_items(text: bytes, context: Any) -> list[Any] | None:
    """Return a list of objects of one type, all unread.

    :param text: JSON in UTF-8
    :returns: None if the text is not such a list, or cannot be read lazily
    """
    form = _form_in(_name_of_items_in(text))
    reader = None if form is None else _items_reader_of(form)
    return None if reader is None else reader.read(text, context)


def from_columns(
    cls: type[override_detection.VersionedObject],
    columns: Mapping[str, Sequence[Any]],
) -> list[Any]:
    """Return a list of unread objects from columns of values.

    :param columns: field -> one primitive per object. You can pass a JSON
        object as ``text.Written``, if its text is known to be valid. A field
        without a column stays unset
    :returns: objects without changes, as after reading
    :raises ValueError: a field rejects a value
    """
    reader = _items_reader_of(compiled(cls))
    made = None if reader is None else reader.hold(columns)
    if made is not None:
        return made
    return [from_row(cls, data) for data in _rows(columns)]


def from_row(
    cls: type[override_detection.VersionedObject], row: Mapping[str, Any]
) -> Any:
    """Return an object with the values of a row.

    :param row: field -> primitive; see :func:`from_columns`
    :raises ValueError: a field rejects a value
    """
    data = {
        name: unwritten(value) if value.__class__ is Written else value
        for name, value in row.items()
    }
    data_key = compiled(cls).data_key
    return _ask(cls, cls.VERSION, None, {data_key: data})


def _rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _items_reader_of(form: Compiled) -> ItemsReader | None:
    """Return a reader of lists of a type; None: read objects one by one."""
    reader: ItemsReader | bool | None = form.items_reader
    if reader is None:
        reader = form.items_reader = _items_reader(form) or False
    if not isinstance(reader, ItemsReader) or not reader.is_allowed():
        return None
    return reader


def _form_in(found: re.Match[bytes] | None) -> Compiled | None:
    """Return the compiled form of the type that a text names, if any."""
    cls = _newest(found[1].decode()) if found is not None else None
    return compiled(cls) if cls is not None else None


class Items:
    """Makes objects of one type from validated data."""

    def __init__(self, voucher: prevalidation.Voucher) -> None:
        self.form = voucher.form
        self.voucher = voucher
        self.envelope = voucher.envelope
        self.vouches_for = voucher.vouches_for

    def is_current(self) -> bool:
        """Tell whether the type is still registered and unchanged."""
        form = self.form
        return _newest(form.type_name) is form.cls and _is_current(form)

    def is_allowed(self) -> bool:
        """Tell whether all methods are those that were compiled for."""
        return self.form.may_load() and self.form.may_make()

    def waiting(self, context: Any, number: int) -> Waiting:
        """Return how to make the objects.

        :param number: of the unread objects
        """
        form = self.form
        return Waiting(
            self.envelope,
            form,
            functools.partial(_read, form, context),
            functools.partial(_says_all, form),
            number,
        )


class ItemsReader:
    """Reads a list of objects of one type."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._element = ovo.ObjectField(items.form.type_name, subclasses=True)
        listed: Any = list[items.envelope]  # type: ignore[name-defined]
        self._decode = msgspec.json.Decoder(listed).decode

    def is_allowed(self) -> bool:
        """Tell whether reading the items one by one would do the same."""
        items = self._items
        return (
            items.is_current()
            and items.form.may_read_classes()
            and items.is_allowed()
        )

    def read(self, text: bytes, context: Any) -> list[Any] | None:
        """Return the list; None: it cannot be read lazily."""
        try:
            items = self._decode(text)
        except _REFUSALS:
            return None
        if not self._items.vouches_for(items):
            return None
        return self._holding(items, context)

    def hold(self, columns: Mapping[str, Sequence[Any]]) -> list[Any] | None:
        """Return a list from columns; None: the fields must coerce them."""
        items = self._items.voucher.items(columns)
        return None if items is None else self._holding(items, None)

    def _holding(self, items: list[Any], context: Any) -> list[Any]:
        waiting = self._items.waiting(context, len(items))
        return lazy_list.holding(self._element, None, '', items, waiting)


class ListReader:
    """Reads one type whose only field is a list of objects."""

    def __init__(self, form: Compiled, items: Items) -> None:
        self._form = form
        self._items = items
        field: Any = form.fields['objects'].field
        self._element = field._type._element_type
        listed: Any = list[items.envelope]  # type: ignore[name-defined]
        envelope = prevalidation.envelope(form, {'objects': listed})
        self._decode = msgspec.json.Decoder(envelope).decode

    def is_current(self) -> bool:
        """Tell whether the types are still registered and unchanged."""
        return self._items.is_current()

    def is_allowed(self) -> bool:
        """Tell whether all methods are those that were compiled for."""
        form = self._form
        return (
            form.may_read_classes()
            and form.may_load()
            and form.may_make()
            and self._items.is_allowed()
        )

    def read(self, text: bytes, context: Any) -> Any:
        """Return the object; None: it cannot be read lazily."""
        try:
            primitive = self._decode(text)
        except _REFUSALS:
            return None
        items = primitive.data.objects
        if items is msgspec.UNSET or not self._items.vouches_for(items):
            return None
        form = self._form
        empty: dict[str, Any] = {
            form.data_key: {},
            form.changes_key: primitive.changes or (),
        }
        (made,) = _read(form, context, [empty])
        if items:
            made.__dict__['_obj_objects'] = lazy_list.holding(
                self._element,
                made,
                'objects',
                items,
                self._items.waiting(context, len(items)),
            )
        return made


def _list_reader(form: Compiled) -> ListReader | None:
    """Return a reader of a class; None: it is not a list of objects."""
    if not (form.is_list and [*form.fields] == ['objects']):
        return None
    field: Any = form.fields['objects'].field
    if not (
        type(field._type).from_primitive is ovo.List.from_primitive
        and decoders.loads_plainly(field)
        and decoders.loads_plainly(field._type._element_type)
        # coercion() supports the field and its items.
        and coercion.coercion(field)[1] != field.coerce
    ):
        return None
    kind = field._type._element_type._type
    if type(kind).coerce is not ovo.Object.coerce:
        return None
    cls = _newest(kind._obj_name)
    if cls is None or not coercion.is_named(
        cls, kind._obj_name, kind._subclasses
    ):
        return None
    if (
        override_detection.function_of(form.cls, '_obj_from_primitive')
        not in ovo_methods.READERS
        # A service with its own registry chooses classes itself.
        or not override_detection.are_known(form.cls, 'obj_class_from_name')
    ):
        return None
    items = _items(compiled(cls))
    return None if items is None else ListReader(form, items)


def _items_reader(form: Compiled) -> ItemsReader | None:
    """Return a reader of lists of a class; None: it cannot be validated."""
    items = _items(form)
    return None if items is None else ItemsReader(items)


def _items(form: Compiled) -> Items | None:
    """Return a factory of objects; None: a class cannot be validated."""
    if (
        override_detection.function_of(form.cls, '_obj_from_primitive')
        not in ovo_methods.READERS
        or form.tracking != 'plain'
        or form.is_list
    ):
        return None
    found = prevalidation.voucher(form)
    return None if found is None else Items(found)


def _newest(name: str) -> type[override_detection.VersionedObject] | None:
    registry = ovo_base.VersionedObjectRegistry._registry
    classes = registry._obj_classes.get(name) if registry else None
    return classes[0] if classes else None


def _is_current(form: Compiled) -> bool:
    return compiled(form.cls) is form


def _says_all(form: Compiled) -> bool:
    """Tell whether an unread item is equivalent to its object."""
    return _is_current(form) and form.may_nest()


def _read(form: Compiled, context: Any, primitives: list[Any]) -> list[Any]:
    """Return objects from primitives at the version of their class."""
    cls: Any = form.cls
    version = cls.VERSION
    read = form.readers.get(version)
    if read is None or not (
        _is_current(form) and form.may_load() and form.may_make()
    ):
        read = functools.partial(_ask, cls, version)
    return [read(context, primitive) for primitive in primitives]


def _ask(cls: Any, version: str, context: Any, primitive: Any) -> Any:
    return cls._obj_from_primitive(context, version, primitive)
