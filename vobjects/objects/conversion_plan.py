# SPDX-License-Identifier: Apache-2.0
"""Plans: how to convert the data of a type between two of its versions.

A :class:`ConversionPlan` drops fields, carries values to other names and
types, and fills in fields. :class:`vobjects.objects.history.History` builds
plans from the declarations.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions
from vobjects.field_values import equal_primitives, holds_objects
from vobjects.fields import is_required
from vobjects.objects import unknown_fields
from vobjects.objects.conversions import Converter
from vobjects.sensitive import HIDDEN
from vobjects.versions import Version

AnyField = ovo_fields.Field[Any]

#: Whether a conversion raises an error for a value that the target cannot
#: hold. False: it drops or replaces the value; True: it drops only null;
#: 'null': it drops no null that may clear a value, as in an update.
RefuseLoss = bool | Literal['null']

_CONTAINERS = (dict, list, tuple)


class _Omitted:
    """Marks a field that is not set; null is a value."""

    def __repr__(self) -> str:
        return '<omitted>'

    def __deepcopy__(self, memo: Any) -> _Omitted:
        return self


OMITTED = _Omitted()


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """The conversion of a value between two neighbouring types of a field.

    :ivar field: the type after the conversion
    :ivar label: names the conversion in the traceback of a defect
    :ivar unset: primitive for a field that is not set
    :ivar null: primitive for null if the field is not nullable; OMITTED: null
        cannot be converted
    :ivar unset_value: primitive that means the same as a field that is not
        set, if it cannot be converted
    :ivar ignore: a value that cannot be converted may be replaced
    :ivar instead: primitive in place of a value that cannot be converted
    :ivar placeholder: the same for a reader, who expects some value
    """

    convert: Converter
    field: AnyField
    label: str
    unset: Any
    null: Any
    unset_value: Any
    ignore: bool
    instead: Any
    placeholder: Any

    def apply(self, value: Any) -> Any:
        """Return the converted value.

        :raises ValueError: the value cannot be converted
        :raises RuntimeError: the converter raised an error of a library
        :raises Exception: any other error of the converter is a defect of the
            declaration, too; its traceback names the field
        """
        if value is OMITTED:
            return copy.deepcopy(self.unset)
        try:
            converted = value
            if value is not None:
                converted = self.convert(copy.deepcopy(value))
            if converted is not None:
                return checked(self.field, converted)
            if self.field.nullable:
                return None
            if self.null is OMITTED:
                raise ValueError('the other type does not allow null')
            return copy.deepcopy(self.null)
        except ValueError:
            if equal_primitives(value, self.unset_value):
                return OMITTED
            raise
        except Exception as error:
            module = type(error).__module__
            if module != 'builtins' or isinstance(error, ExceptionGroup):
                # It may mean something to a caller, such as that a peer is
                # too old.
                raise RuntimeError(
                    f'{self.label} raised {type(error).__name__}:'
                    f' {exceptions.text_of(error)}'
                ) from error
            error.add_note(f'Raised by {self.label}')
            raise


#: Errors of field types that reject a value.
_FIELD_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


def checked(field: AnyField, primitive: Any) -> Any:
    """Return a primitive as its field writes it.

    Nested objects are returned unchanged: their own types check them.

    :raises ValueError: the field rejects the value
    """
    if holds_objects(field._type):
        return primitive
    owner: Any = None
    try:
        value = field.coerce(
            owner, 'value', field.from_primitive(owner, 'value', primitive)
        )
        return field.to_primitive(owner, 'value', value)
    except _FIELD_ERRORS as error:
        raise ValueError(str(error)) from error


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """The target version does not have the field.

    :ivar harmless: primitives that may be dropped silently; see RefuseLoss
        for null
    :ivar needs: the version that has the field
    :ivar steps: applied before the comparison with ``harmless``
    """

    name: str
    harmless: tuple[Any, ...]
    needs: Version
    ignore: bool
    steps: tuple[Step, ...] = ()
    default: Any = dataclasses.field(init=False, default=OMITTED)
    default_type: Any = dataclasses.field(init=False, default=None)

    def __post_init__(self) -> None:
        default = self.harmless[-1] if self.harmless else OMITTED
        # A container may be equal, with True in place of 1.
        if not self.steps and (
            not isinstance(default, _CONTAINERS) or not default
        ):
            object.__setattr__(self, 'default', default)
            object.__setattr__(self, 'default_type', type(default))


@dataclasses.dataclass(frozen=True, slots=True)
class Carry:
    """The target version has the field under another name or type."""

    source: str
    target: str
    steps: tuple[Step, ...]

    def holds(self, value: Any) -> bool:
        """Tell whether the target version can hold a value."""
        try:
            for step in self.steps:
                value = step.apply(value)
        except ValueError:
            return False
        return True


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A field that older versions have at the end of another field.

    Without a value, the older text ends with the separator if the other field
    contains it; so each text stands for one pair of values.
    """

    whole: str
    name: str
    separator: str

    def join(self, data: dict[str, Any]) -> None:
        """Append the value to the other field.

        A value that cannot be appended stays in the data.
        """
        whole, part = data.get(self.whole), data.get(self.name)
        if not isinstance(whole, str):
            return
        if part and self.separator not in part:
            data[self.whole] = f'{whole}{self.separator}{data.pop(self.name)}'
        elif self.separator in whole:
            data[self.whole] = whole + self.separator

    def split(self, data: dict[str, Any]) -> None:
        """Remove the value from the end of the other field."""
        whole = data.get(self.whole)
        if not isinstance(whole, str) or self.separator not in whole:
            return
        head, _, tail = whole.rpartition(self.separator)
        if tail:
            data |= {self.whole: head, self.name: tail}
        elif self.separator in head:
            data[self.whole] = head


@dataclasses.dataclass(frozen=True, slots=True)
class ConversionPlan:
    """How to convert the data of one type between two of its versions."""

    type_name: str
    source: Version
    target: Version
    drops: tuple[Drop, ...]
    carries: tuple[Carry, ...]
    # Name -> primitive of the fields that the source does not have.
    fills: Mapping[str, Any]
    joins: tuple[Part, ...] = ()
    splits: tuple[Part, ...] = ()
    secrets: frozenset[str] = frozenset()  # source names; not in errors
    # Source name -> type of the fields whose converters read objects.
    old_objects: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def only_drops(self) -> bool:
        """Whether the other fields stay as they are."""
        return not (self.carries or self.fills or self.joins or self.splits)

    @property
    def converted(self) -> frozenset[str]:
        """Source names of the fields whose values another type replaces.

        The peer may not know the types of the objects inside.
        """
        changed = {carry.source for carry in self.carries if carry.steps}
        return frozenset(changed | {drop.name for drop in self.drops})

    @property
    def new_names(self) -> dict[str, str]:
        """Source name -> target name of the fields that are renamed."""
        return {carry.source: carry.target for carry in self.carries}

    @property
    def new_objects(self) -> dict[str, Any]:
        """Target name -> type of the fields whose converters write objects."""
        return {
            carry.target: carry.steps[-1].field._type
            for carry in self.carries
            if carry.steps and holds_objects(carry.steps[-1].field._type)
        }

    def apply(self, data: dict[str, Any], *, refuse_loss: RefuseLoss) -> None:
        """Convert ``data`` in place.

        :param data: the ``data`` part of a primitive, without unset fields
        :raises vobjects.exceptions.LossyDowngrade: see ``refuse_loss``
        """
        for part in self.joins:
            part.join(data)
        for drop in self.drops:
            value = data.pop(drop.name, OMITTED)
            # Usually, it is null or the default.
            if (
                value is OMITTED
                or not refuse_loss
                or (value is None and refuse_loss is True and not drop.steps)
                or (value == drop.default and type(value) is drop.default_type)
            ):
                continue
            self._check_drop(drop, value, refuse_loss)
        if self.carries or self.fills:
            self._carry(data, refuse_loss)
        for part in self.splits:
            part.split(data)

    def _carry(self, data: dict[str, Any], refuse_loss: RefuseLoss) -> None:
        # Remove all sources before adding targets: names may be swapped.
        carried = [
            (carry, data.pop(carry.source))
            for carry in self.carries
            if carry.source in data
        ]
        for carry, value in carried:
            converted = self._convert(
                carry.source, carry.steps, value, refuse_loss
            )
            if converted is not OMITTED:
                data[carry.target] = converted
        # A value that was lost stays unset: a fill is for values not sent.
        lost = {carry.target for carry, _ in carried}
        for name, primitive in self.fills.items():
            if name not in data and name not in lost:
                data[name] = copy.deepcopy(primitive)

    def _check_drop(
        self, drop: Drop, value: Any, refuse_loss: RefuseLoss
    ) -> None:
        """Check that nothing is lost without a field.

        :raises vobjects.exceptions.LossyDowngrade: the value matters
        """
        if drop.ignore:
            return
        result = self._convert(drop.name, drop.steps, value, True)
        if result is None and refuse_loss != 'null':
            return
        if result is not OMITTED and not any(
            equal_primitives(result, harmless) for harmless in drop.harmless
        ):
            raise self._loss(drop.name, value, drop.needs)

    def _convert(
        self,
        name: str,
        steps: tuple[Step, ...],
        value: Any,
        refuse_loss: RefuseLoss,
    ) -> Any:
        result = value
        means_unset = False  # in the type before some step
        for step in steps:
            means_unset |= equal_primitives(result, step.unset_value)
            try:
                result = step.apply(result)
            except ValueError as error:
                if not refuse_loss:
                    if self.target > self.source and not means_unset:
                        unknown_fields.warn_once(
                            f'{self.type_name} {self.target} cannot hold a'
                            f' value of {name} in version {self.source}; its'
                            ' reader gets the default, or null'
                        )
                    result = copy.deepcopy(step.placeholder)
                elif means_unset and not is_required(step.field):
                    result = OMITTED
                elif step.ignore:
                    result = copy.deepcopy(step.instead)
                else:
                    raise self._loss(name, value, self.source) from error
        return result

    def _loss(
        self, name: str, value: Any, needs: Version
    ) -> exceptions.LossyDowngrade:
        return exceptions.LossyDowngrade(
            self.type_name,
            name,
            HIDDEN if name in self.secrets else exceptions.cut(value),
            str(needs),
            str(self.target),
        )
