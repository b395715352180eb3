# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies that draw instances of versioned types.

Values are drawn for each field's type, so that every drawn value is valid.
Optional fields are sometimes unset and sometimes null.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from oslo_versionedobjects import fields as ovo_fields

from vobjects import fields, objects
from vobjects.lock import samples

#: Values that survive JSON unchanged.
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)

_names = st.text('abcXYZ019_.~-', min_size=1, max_size=12)
_times = st.datetimes(
    min_value=datetime.datetime(1971, 1, 1),  # noqa: DTZ001 - made aware below
    max_value=datetime.datetime(2099, 1, 1),  # noqa: DTZ001
    timezones=st.just(datetime.UTC),
).map(lambda moment: moment.replace(microsecond=0))


def _texts(field_type: Any) -> st.SearchStrategy[Any]:
    return st.text(max_size=8)


def _enums(field_type: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(sorted(field_type.valid_values))


def _capacities(field_type: Any) -> st.SearchStrategy[Any]:
    return st.integers(field_type.minimum, field_type.maximum)


def _sorts(field_type: Any) -> st.SearchStrategy[Any]:
    item = st.tuples(
        st.sampled_from(field_type.keys),
        st.sampled_from(['', ':asc', ':desc']),
    ).map(''.join)
    return st.lists(item, min_size=1, max_size=3).map(','.join)


def _identities(field_type: Any) -> st.SearchStrategy[Any]:
    return st.lists(
        _names,
        min_size=field_type.minimum,
        max_size=field_type.minimum + 2,
        unique=True,
    )


def _lists(field_type: Any) -> st.SearchStrategy[Any]:
    return st.lists(of_type(field_type._element_type._type), max_size=3)


def _sets(field_type: Any) -> st.SearchStrategy[Any]:
    return st.sets(of_type(field_type._element_type._type), max_size=3)


def _dicts(field_type: Any) -> st.SearchStrategy[Any]:
    return st.dictionaries(
        st.text(max_size=5),
        of_type(field_type._element_type._type),
        max_size=3,
    )


def _objects(field_type: Any) -> st.SearchStrategy[Any]:
    return st.deferred(
        lambda: instances(objects.registered_type(field_type._obj_name))
    )


def _always(
    strategy: st.SearchStrategy[Any],
) -> Callable[[Any], st.SearchStrategy[Any]]:
    return lambda field_type: strategy


#: Field type -> strategy; the first entry whose type matches is used. Of
#: another type, the only value is that of a sample.
TABLE: tuple[tuple[type, Callable[[Any], st.SearchStrategy[Any]]], ...] = (
    (fields.Enum, _enums),
    (fields.UUID, _always(st.uuids().map(str))),
    (fields.Name, _always(_names)),
    (fields.Capacity, _capacities),
    (fields.Sort, _sorts),
    (fields.IdentityList, _identities),
    (
        fields.Json,
        _always(st.dictionaries(st.text(max_size=5), json_values, max_size=3)),
    ),
    (fields.JsonValue, _always(json_values.filter(lambda v: v is not None))),
    (fields.String, _texts),
    (fields.StrictBoolean, _always(st.booleans())),
    (fields.Boolean, _always(st.booleans())),
    (fields.Integer, _always(st.integers(-(2**31), 2**31 - 1))),
    (fields.NonNegativeInteger, _always(st.integers(0, 2**31 - 1))),
    (
        fields.Float,
        _always(st.floats(allow_nan=False, allow_infinity=False)),
    ),
    (ovo_fields.DateTime, _always(_times)),
    (fields.List, _lists),
    (ovo_fields.Set, _sets),
    (ovo_fields.Dict, _dicts),
    (fields.Object, _objects),
)


def of_type(field_type: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a field type.

    :param field_type: the field type, not the field
    :raises LookupError: no value of the type is known
    """
    for known_type, strategy in TABLE:
        if isinstance(field_type, known_type):
            return strategy(field_type)
    rng = random.Random(0)  # noqa: S311
    finder = samples.ValueFinder(rng, 0, lambda name: None, '', None)
    value = finder.find(ovo_fields.Field(field_type), '', samples.NO_VALUE)
    if value is samples.NO_VALUE:
        raise LookupError(f'no value of {type(field_type).__name__} is known')
    return st.just(value)


def instances(
    cls: type[objects.Object],
) -> st.SearchStrategy[objects.Object]:
    """Return a strategy for instances of a type.

    A field of a service's own type stays unset if no value of it is known.
    """
    always, sometimes = {}, {}
    for name, field in cls.fields.items():
        try:
            values = of_type(field._type)
        except LookupError:
            continue
        has_default = field.default is not fields.UnspecifiedDefault
        if field.nullable or has_default:
            sometimes[name] = st.none() | values if field.nullable else values
        else:
            always[name] = values
    return st.fixed_dictionaries(always, optional=sometimes).map(
        lambda values: cls(**values)
    )
