# SPDX-License-Identifier: Apache-2.0
"""Find the first fault of a value in time linear in its size.

:func:`validator` returns a validator of ``jsonschema`` that differs from the
original in its speed:

* Parts of the value that :mod:`~vobjects.microversions.fast_validation`
  accepts are not searched.
* A subschema yields only its first fault. ``anyOf`` and ``oneOf`` would
  otherwise collect all faults of all alternatives.
* ``uniqueItems`` compares the items by a key, not in pairs.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jsonschema

from vobjects.microversions import fast_validation

_Faults = Iterator[jsonschema.ValidationError]

#: Maximum number of compiled subschemas to keep.
_MAX_COMPILED = 4096

# By the id of the subschema, which the entry keeps alive.
_compiled: dict[int, tuple[Any, fast_validation.Accepts]] = {}


def validator(schema: Mapping[str, Any], dialect: Any) -> Any:
    """Return a validator of a schema.

    :param schema: valid schema, with patterns in Python's syntax
    :param dialect: class of ``jsonschema`` for the dialect of the schema
    """
    return _validator_class(dialect)(
        schema, format_checker=fast_validation.FORMATS
    )


def accepts(schema: Any, value: Any) -> bool:
    """Return whether fast validation accepts a value.

    :param schema: a schema of draft 4 that does not change any more
    """
    entry = _compiled.get(id(schema))
    if entry is None:
        if len(_compiled) >= _MAX_COMPILED:
            _compiled.clear()
        entry = schema, fast_validation.compile_schema(schema)
        _compiled[id(schema)] = entry
    return entry[1](value)


@functools.cache
def _validator_class(dialect: Any) -> Any:
    is_fast = dialect is jsonschema.Draft4Validator
    keywords: dict[str, Callable[..., _Faults | None]] = {
        'uniqueItems': _unique_items
    }
    if is_fast:
        keywords['items'] = functools.partial(
            _items, dialect.VALIDATORS['items']
        )
    extend: Any = jsonschema.validators.extend  # not typed
    cls = extend(dialect, keywords)
    descend_to_all = cls.descend

    def descend(
        self: Any, instance: Any, schema: Any, *args: Any, **options: Any
    ) -> _Faults:
        if is_fast and accepts(schema, instance):
            return iter(())
        faults = descend_to_all(self, instance, schema, *args, **options)
        return itertools.islice(faults, 1)

    cls.descend = descend
    return cls


def _items(
    check_each: Callable[..., _Faults],
    validator: Any,
    items: Any,
    instance: Any,
    schema: Any,
) -> _Faults:
    """Evaluate ``items`` without a generator for each valid item."""
    if not isinstance(items, dict) or not isinstance(instance, list):
        yield from check_each(validator, items, instance, schema)
        return
    for index, item in enumerate(instance):
        if not accepts(items, item):
            yield from validator.descend(item, items, path=index)


def _unique_items(
    validator: Any, unique: Any, instance: Any, schema: Any
) -> _Faults:
    if unique and validator.is_type(instance, 'array'):
        keys = set(map(_key, instance))
        if len(keys) < len(instance):
            yield jsonschema.ValidationError('has an item twice')


def _key(value: Any) -> str:
    """Return a text that is the same for equal JSON values.

    Text, because other hashes can be predicted: items that collide would take
    quadratic time.
    """
    if isinstance(value, str):
        return f'"{value}'
    return json.dumps(_with_plain_numbers(value), sort_keys=True)


def _with_plain_numbers(value: Any) -> Any:
    """Return a value with the integer in place of a float such as 1.0."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _with_plain_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_with_plain_numbers, value))
    return value
