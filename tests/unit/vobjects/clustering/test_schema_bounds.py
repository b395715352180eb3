# SPDX-License-Identifier: Apache-2.0
"""Bounds of the texts, lists and objects in the schemas of requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import vobjects
from api import routes
from vobjects import fields
from vobjects.clustering import history
from vobjects.microversions import errors, schema, schema_bounds, validation
from vobjects.versions import Version

KEYWORDS = {
    'string': 'maxLength',
    'array': 'maxItems',
    'object': 'maxProperties',
}

LENGTH = schema_bounds.DEFAULTS['maxLength']
ITEMS = schema_bounds.DEFAULTS['maxItems']
NAMES = schema_bounds.DEFAULTS['maxProperties']


@vobjects.register
class BoundsPart(vobjects.Object):
    """An object inside the request."""

    fields = {'text': fields.StringField()}


@vobjects.register
class BoundsRequest(vobjects.Request):
    """A request with texts, lists and objects at several depths."""

    fields = {
        'text': fields.StringField(default=''),
        'list': fields.ListOfStringsField(default=[]),
        'set': fields.SetOfIntegersField(default=set()),
        'dict': fields.DictOfStringsField(default={}),
        'lists': fields.Field(
            fields.Dict(fields.List(fields.String())), default={}
        ),
        'json': fields.JsonField(default={}),
        'value': fields.JsonValueField(default=''),
        'parts': fields.ListOfObjectsField('BoundsPart', default=[]),
        'long': fields.bounded(
            fields.StringField(default=''), max_length=LENGTH + 1
        ),
        'few': fields.bounded(
            fields.ListOfStringsField(default=[]), max_items=1, max_length=2
        ),
    }


@vobjects.register
class ShortRequest(BoundsRequest):
    """The same fields, with another default for texts."""

    BOUNDS = {'maxLength': 3}


NAMES_OF_FIELDS = tuple(BoundsRequest.fields)


def unbounded(part: Any, path: str) -> Iterator[str]:
    """Yield the paths of texts, lists and objects without a maximum."""
    if isinstance(part, list):
        for number, inner in enumerate(part):
            yield from unbounded(inner, f'{path}/{number}')
    if not isinstance(part, dict):
        return
    types = part.get('type', [])
    for name in [types] if isinstance(types, str) else types:
        if (
            name in KEYWORDS
            and KEYWORDS[name] not in part
            and 'enum' not in part
            and part.get('additionalProperties') is not False
        ):
            yield path
    for keyword in ('anyOf', 'items', 'additionalProperties'):
        yield from unbounded(part.get(keyword), f'{path}/{keyword}')
    for name, inner in part.get('properties', {}).items():
        yield from unbounded(inner, f'{path}/{name}')


@pytest.mark.parametrize(
    'cls',
    [BoundsRequest, *dict.fromkeys(route.request for route in routes.ROUTES)],
)
def test_schema_when_of_a_request_has_a_bound_everywhere(cls: Any) -> None:
    versions = history.POLICY.versions
    for version in versions:
        names = schema.all_field_names(cls)
        part = schema.body_schema(cls, version, names, early=True)
        assert [*unbounded(part, cls.obj_name())] == []


@pytest.mark.parametrize(
    ('name', 'largest', 'too_large', 'message'),
    [
        ('text', 'x' * LENGTH, 'x' * (LENGTH + 1), f'{LENGTH} characters'),
        ('long', 'x' * (LENGTH + 1), 'x' * (LENGTH + 2), 'characters'),
        ('list', ['x'] * ITEMS, ['x'] * (ITEMS + 1), f'{ITEMS} items'),
        ('list', ['x' * LENGTH], ['x' * (LENGTH + 1)], 'characters'),
        ('few', ['xx'], ['x', 'x'], 'at most 1 items'),
        ('few', ['xx'], ['xxx'], 'at most 2 characters'),
        ('set', [*range(ITEMS)], [*range(ITEMS + 1)], f'{ITEMS} items'),
        (
            'dict',
            {str(n): '' for n in range(NAMES)},
            {str(n): '' for n in range(NAMES + 1)},
            f'{NAMES} names',
        ),
        ('lists', {'a': ['x'] * ITEMS}, {'a': ['x'] * (ITEMS + 1)}, 'items'),
        (
            'json',
            {str(n): 0 for n in range(NAMES)},
            {str(n): 0 for n in range(NAMES + 1)},
            f'{NAMES} names',
        ),
        ('value', [0] * ITEMS, [0] * (ITEMS + 1), f'{ITEMS} items'),
        (
            'parts',
            [{'text': ''}] * ITEMS,
            [{'text': ''}] * (ITEMS + 1),
            f'{ITEMS} items',
        ),
        (
            'parts',
            [{'text': 'x' * LENGTH}],
            [{'text': 'x' * (LENGTH + 1)}],
            f'{LENGTH} characters',
        ),
    ],
)
def test_validate_when_beyond_a_bound_names_field_and_bound(
    name: str, largest: Any, too_large: Any, message: str
) -> None:
    arguments = (BoundsRequest, Version(1, 0), NAMES_OF_FIELDS)
    validation.validate(*arguments, {name: largest}, 'body')
    with pytest.raises(errors.ValidationError, match=message) as caught:
        validation.validate(*arguments, {name: too_large}, 'body')
    assert caught.value.path.startswith(f'body.{name}')


@pytest.mark.parametrize(
    ('name', 'largest', 'too_large'),
    [
        ('text', 'xxx', 'xxxx'),
        ('list', ['xxx'], ['xxxx']),
        ('lists', {'a': ['xxx']}, {'a': ['xxxx']}),
        ('value', 'xxx', 'xxxx'),
        ('long', 'x' * (LENGTH + 1), 'x' * (LENGTH + 2)),
        ('parts', [{'text': 'x' * LENGTH}], [{'text': 'x' * (LENGTH + 1)}]),
    ],
)
def test_validate_when_the_type_has_bounds_applies_them_to_its_fields(
    name: str, largest: Any, too_large: Any
) -> None:
    arguments = (ShortRequest, Version(1, 0), NAMES_OF_FIELDS)
    validation.validate(*arguments, {name: largest}, 'body')
    with pytest.raises(errors.ValidationError, match=r', not \d+\.$'):
        validation.validate(*arguments, {name: too_large}, 'body')


def test_bounded_when_declared_keeps_the_fingerprint() -> None:
    plain = fields.StringField()
    assert repr(fields.bounded(fields.StringField(), max_length=1)) == repr(
        plain
    )
