# SPDX-License-Identifier: Apache-2.0
"""Find the first fault of a value in time linear in its size.

:class:`Validator` uses a validator of ``jsonschema`` that differs from the
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


class Validator:
    """Validates values by a schema.

    :param schema: the schema
    :param dialect: class of ``jsonschema`` for its dialect
    :raises jsonschema.SchemaError: the schema is invalid
    :ivar schema: the schema, with patterns in Python's syntax
    :ivar accepts: function that returns True if a value is valid, in about a
        microsecond; False if :meth:`first_fault` must decide
    """

    def __init__(
        self,
        schema: Mapping[str, Any],
        dialect: Any = jsonschema.Draft4Validator,
    ) -> None:
        self.schema: dict[str, Any] = _with_python_patterns(dict(schema))
        dialect.check_schema(self.schema)
        self.accepts = (
            fast_validation.compile_schema(self.schema)
            if dialect is jsonschema.Draft4Validator
            else fast_validation.accepts_nothing
        )
        self._search = _validator_class(dialect)(
            self.schema, format_checker=fast_validation.FORMATS
        )

    def first_fault(self, value: Any) -> jsonschema.ValidationError | None:
        """Return the first fault of a value; None if it is valid."""
        if self.accepts(value):
            return None
        return next(self._search.iter_errors(value), None)

    def is_valid(self, value: Any, part: Mapping[str, Any]) -> bool:
        """Return whether a value is valid by a part of the schema."""
        return next(self._search.descend(value, part), None) is None


def _with_python_patterns(schema: Any) -> Any:
    r"""Return a schema whose patterns have the same meaning in Python.

    In JSON Schema, ``$`` matches only at the end of the text. In Python it
    also matches before a final line feed, which ``\Z`` does not.
    """
    if isinstance(schema, list):
        return [_with_python_patterns(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _with_python_patterns(item) for key, item in schema.items()}
    pattern = result.get('pattern')
    if isinstance(pattern, str) and pattern.endswith('$'):
        result['pattern'] = pattern[:-1] + r'\Z'
    return result


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
