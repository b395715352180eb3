# SPDX-License-Identifier: Apache-2.0
"""Default bounds of the texts, lists and objects in requests.

The schema of a request gives every text, list and object a maximum size, so
that no client can send more than a handler expects. The ``BOUNDS`` of the
request's type, the schema of a field type and :func:`vobjects.fields.bounded`
replace the defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import fields
from vobjects.field_schemas import types_of

#: JSON type -> keyword that limits its size.
_KEYWORDS = {
    'string': 'maxLength',
    'array': 'maxItems',
    'object': 'maxProperties',
}

#: The default of each keyword.
DEFAULTS: Mapping[str, int] = {
    'maxLength': 65_535,
    'maxItems': 10_000,
    'maxProperties': 10_000,
}

_INNER = ('items', 'additionalProperties')
_INNER_MAPS = ('properties', 'patternProperties')
_INNER_LISTS = ('anyOf', 'allOf', 'oneOf')


def with_bounds(
    schema: Mapping[str, Any],
    field: ovo_fields.Field[Any],
    bounds: Mapping[str, int],
) -> dict[str, Any]:
    """Return the schema of a field in a request, with bounds at all depths.

    :param schema: schema (draft 4); its own bounds stay
    :param bounds: those of the type, in place of the defaults
    """
    return _bounded(schema, {**DEFAULTS, **bounds, **fields.bounds_of(field)})


def _bounded(
    schema: Mapping[str, Any], bounds: Mapping[str, int]
) -> dict[str, Any]:
    result = dict(schema)
    for keyword, value in schema.items():
        if keyword in _INNER and isinstance(value, Mapping):
            result[keyword] = _bounded(value, bounds)
        elif keyword in _INNER_MAPS:
            result[keyword] = {
                name: _bounded(inner, bounds) for name, inner in value.items()
            }
        elif keyword in _INNER_LISTS:
            result[keyword] = [_bounded(inner, bounds) for inner in value]
    if 'enum' in schema or schema.get('additionalProperties') is False:
        return result
    keywords = [
        _KEYWORDS[name] for name in types_of(schema) if name in _KEYWORDS
    ]
    # First, so that the fault of a huge list is its length: jsonschema
    # evaluates keywords in their order.
    first = {name: schema.get(name, bounds[name]) for name in keywords}
    return {**first, **result}
