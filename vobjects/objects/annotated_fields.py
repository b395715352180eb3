# SPDX-License-Identifier: Apache-2.0
"""Declare fields by annotations, which every type checker understands.

::

    class BackupRequest(vobjects.Request):
        VERSION = '1.2'
        VERSION_MAP = {'1.4': '1.1', '1.10': '1.2'}

        volume: str
        level: Literal['full', 'changes'] = 'full'
        note: str | None = UNSET
        force: bool = added('1.1', default=False)
        labels: dict[str, Any] | None = added('1.2')

:func:`declare` derives the ``fields`` of a class from them. ``None`` makes a
field nullable, the value is its default, and ``Annotated[str, FIELD]`` names
a field, which gives the type and its limits. The name of a class that is not
yet defined stands for a nested object.
"""

from __future__ import annotations

import builtins
import collections
import copy
import dataclasses
import datetime
import enum
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, field_corrections, fields
from vobjects.objects import field_changes

AnyField = ovo_fields.Field[Any]

_PLAIN: Mapping[Any, type[AnyField]] = {
    str: fields.StringField,
    int: fields.IntegerField,
    float: fields.FloatField,
    bool: fields.StrictBooleanField,
    datetime.datetime: fields.DateTimeField,
    dict: fields.JsonField,
    Any: fields.JsonValueField,
}
_CONTAINERS: Mapping[Any, Any] = {
    list: fields.List,
    set: fields.Set,
    dict: fields.Dict,
}


class EnumMember(field_corrections.Enum):
    """A member of an enum class; its primitive is the value."""

    def __init__(self, members: type[enum.Enum]) -> None:
        self._members = members
        super().__init__([member.value for member in members])

    def coerce(self, obj: Any, attr: str, value: Any) -> Any:
        if isinstance(value, self._members):
            return value
        return self._members(super().coerce(obj, attr, value))

    def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return value.value if isinstance(value, enum.Enum) else value

    def stringify(self, value: Any) -> str:
        return super().stringify(self.to_primitive(None, '', value))


# The lock and the fingerprint contain this name: only the attribute differs.
EnumMember.__name__ = 'Enum'


class EnumMemberField(ovo_fields.BaseEnumField):
    """A field of type :class:`EnumMember`."""

    def __init__(self, members: type[enum.Enum], **options: Any) -> None:
        self.AUTO_TYPE = EnumMember(members)
        super().__init__(**options)


#: Fields whose lists are of the class ListOfEnumField.
_ENUM_FIELDS = (fields.EnumField, EnumMemberField)


def declare(cls: type[ovo_base.VersionedObject]) -> None:
    """Add the annotated fields of a class to its ``fields``.

    Private names and ``ClassVar`` are no fields. The attributes that hold
    defaults are removed.

    :raises vobjects.exceptions.DeclarationError: an annotation has no field
        type, or a value does not fit; the message names the fix
    """
    own: dict[str, AnyField] = dict(vars(cls).get('fields', {}))
    scope = _scope(cls)
    for name, annotation in _annotations(cls):
        reader = _Reader(scope, f'{cls.__name__}.{name}')
        annotation = reader.evaluated(annotation)
        if ClassVar in (annotation, typing.get_origin(annotation)):
            continue
        if name in own:
            raise reader.error(
                'it is in `fields` and has an annotation; delete one'
            )
        value = vars(cls).get(name, fields.UNSET)
        own[name] = reader.declared(annotation, value)
        if name in vars(cls):
            is_request = cls.REFUSE_LOSS == 'null'  # type: ignore[attr-defined]
            if is_request and value is fields.UNSET and not own[name].nullable:
                raise reader.error(
                    'a request needs a field that is not nullable and has no'
                    ' default; write `| None = UNSET`, or no UNSET'
                )
            delattr(cls, name)
    misplaced: tuple[type, ...] = (field_changes.PendingField,)
    if 'fields' not in vars(cls):  # else, the dictionary may use the value
        misplaced += (ovo_fields.Field,)
    for name, value in vars(cls).items():
        if isinstance(value, misplaced) and not name.startswith('_'):
            raise exceptions.DeclarationError(
                f'{cls.__name__}.{name}: the annotation is missing; write'
                f' `{name}: TYPE = ...` or `{name}: Annotated[TYPE, FIELD]`'
            )
    if own:
        cls.fields = own


def plain_field(annotation: Any) -> AnyField | None:
    """Return the field of a type; None: none has its values."""
    try:
        return _Reader(_Scope(), '').field(annotation)
    except exceptions.DeclarationError:
        return None


def _annotations(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield name and annotation of each public attribute of a class itself."""
    if sys.version_info >= (3, 14):
        import annotationlib

        found = annotationlib.get_annotations(
            cls, format=annotationlib.Format.FORWARDREF
        )
    else:
        found = vars(cls).get('__annotations__', {})
    for name, annotation in found.items():
        if not name.startswith('_'):
            yield name, annotation


class _Scope(collections.ChainMap[str, Any]):
    """The names that annotations of a class can use.

    Another name may be a class that is defined later, or for type checkers
    only.
    """

    def __missing__(self, name: str) -> Any:
        return typing.ForwardRef(name)


def _scope(cls: type) -> _Scope:
    module = sys.modules.get(cls.__module__)
    # The class comes after its module: a field may have the name of a type.
    names = (vars(module) if module else {}, vars(cls), vars(builtins))
    return _Scope(*names)  # type: ignore[arg-type]


@dataclasses.dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the annotation of one field.

    :ivar scope: the names in annotations
    :ivar where: class and field, for error messages
    """

    scope: _Scope
    where: str

    def error(self, problem: str) -> exceptions.DeclarationError:
        """Return an error that names the field."""
        return exceptions.DeclarationError(f'{self.where}: {problem}')

    def declared(self, annotation: Any, value: Any) -> AnyField:
        """Return a field with its default and its history.

        :param value: the value of the class attribute
        """
        pending: tuple[field_changes.FieldChange, ...] = ()
        if isinstance(value, field_changes.PendingField):
            pending, value = value.changes, value.default
        if isinstance(value, ovo_fields.Field):
            if field_changes.changes_of(value):
                return self._with_history(annotation, value)
            raise self.error(
                'a field is not a default; write'
                f' Annotated[TYPE, {type(value).__name__}(...)]'
            )
        if isinstance(value, enum.Enum):
            value = value.value
        changes: list[field_changes.FieldChange] = []
        for change in pending:
            if change.kind == 'changed':
                old_field = self.field(change.old_field)
                changes += field_changes.changes_of(old_field)
                change = dataclasses.replace(change, old_field=old_field)
            changes.append(change)
        return field_changes.with_changes(
            self.field(annotation, value), changes
        )

    def _with_history(self, annotation: Any, field: AnyField) -> AnyField:
        """Return a field whose declaration is the value of an annotation."""
        kind, nullable, _ = self._stripped(annotation)
        if kind is not str or nullable is not field.nullable:
            expected = 'str | None' if field.nullable else 'str'
            raise self.error(f'words(...) has the annotation {expected}')
        return field

    def field(self, annotation: Any, default: Any = fields.UNSET) -> AnyField:
        """Return the field of an annotation, or the field that it is."""
        if isinstance(annotation, ovo_fields.Field):
            return annotation
        kind, nullable, templates = self._stripped(annotation)
        options = {'nullable': nullable, 'default': default}
        for template in templates:
            if isinstance(template, ovo_fields.FieldType):
                return ovo_fields.Field(template, **options)
            if isinstance(template, ovo_fields.Field):
                return self._configured(template, nullable, default)
            if isinstance(template, type) and issubclass(
                template, (ovo_fields.Field, ovo_fields.FieldType)
            ):
                raise self.error(
                    f'{template.__name__} is a class; write'
                    f' Annotated[TYPE, {template.__name__}(...)]'
                )
        if kind in _PLAIN:
            return _PLAIN[kind](**options)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Literal:
            return self._enum(fields.EnumField, [*arguments], options)
        if origin in _CONTAINERS:
            return self._container(origin, arguments, options)
        if isinstance(kind, typing.ForwardRef):
            return fields.ObjectField(kind.__forward_arg__, **options)
        if isinstance(kind, type):
            if issubclass(kind, ovo_base.VersionedObject):
                return fields.ObjectField(kind.obj_name(), **options)
            if issubclass(kind, enum.Enum):
                return self._enum(EnumMemberField, kind, options)
        raise self.error(
            f'{exceptions.cut(annotation)} is not the type of a field; use'
            ' str, int, float, bool, datetime, Any, Literal, an Enum, a'
            ' versioned object, or a list, set or dict of these, each with or'
            ' without None; or write Annotated[TYPE, FIELD]'
        )

    def evaluated(self, annotation: Any) -> Any:
        """Return the type that an annotation, which may be text, means.

        :raises vobjects.exceptions.DeclarationError: it is no type
        """
        while isinstance(annotation, (str, typing.ForwardRef)):
            text: Any = annotation
            if isinstance(annotation, typing.ForwardRef):
                text = annotation.__forward_arg__
            try:
                # The text is part of the source of the class.
                result = eval(text, {}, self.scope)  # noqa: S307
            except Exception as error:
                raise self.error(
                    f'the annotation {text!r} is invalid: {error}'
                ) from error
            if isinstance(result, typing.ForwardRef) and (
                result.__forward_arg__ == text
            ):
                return result
            annotation = result
        return annotation

    def _stripped(self, annotation: Any) -> tuple[Any, bool, list[Any]]:
        """Return the type in an annotation, whether null, and metadata."""
        nullable = False
        metadata: list[Any] = []
        while True:
            annotation = self.evaluated(annotation)
            origin = typing.get_origin(annotation)
            if origin is typing.Annotated:
                metadata += annotation.__metadata__
                annotation = annotation.__origin__
            elif origin in (typing.Union, types.UnionType):
                parts = [*typing.get_args(annotation)]
                if types.NoneType not in parts or len(parts) != 2:
                    return annotation, nullable, metadata
                parts.remove(types.NoneType)
                nullable, annotation = True, parts[0]
            elif origin is typing.Literal and None in annotation.__args__:
                words = [w for w in annotation.__args__ if w is not None]
                return typing.Literal[*words], True, metadata
            elif hasattr(annotation, '__value__'):  # type NAME = ...
                annotation = annotation.__value__
            else:
                return annotation, nullable, metadata

    def _enum(self, field_class: Any, words: Any, options: Any) -> AnyField:
        try:
            field: AnyField = field_class(words, **options)
        except ovo_exception.VersionedObjectsException as error:
            raise self.error(
                f'the values {exceptions.cut([*words])} are no enum: write at'
                ' least one, and only texts'
            ) from error
        return field

    def _configured(
        self, template: AnyField, nullable: bool, default: Any
    ) -> AnyField:
        """Return a copy of a field that an annotation names."""
        if template.nullable or template.default is not fields.UNSET:
            raise self.error(
                'write `| None` in the annotation, and the default after it,'
                f' instead of in {type(template).__name__}(...)'
            )
        field = copy.copy(template)
        field._nullable, field._default = nullable, default
        return field

    def _container(
        self, origin: Any, arguments: tuple[Any, ...], options: Any
    ) -> AnyField:
        if origin is dict and arguments[0] is not str:
            raise self.error(
                'the keys of a dict are texts; write dict[str, TYPE]'
            )
        if origin is dict and arguments[1] is Any:
            return fields.JsonField(**options)
        item = self.field(arguments[-1])
        element = {'nullable': True} if item.nullable else {}
        item_type: Any = item._type
        field_type = _CONTAINERS[origin](item_type, **element)
        if origin is list and isinstance(item, _ENUM_FIELDS):
            # Its `repr`, and so the fingerprint, contains the values.
            field: AnyField = fields.ListOfEnumField(
                item_type._valid_values, **options
            )
            field._type = field_type
            return field
        return ovo_fields.Field(field_type, **options)
