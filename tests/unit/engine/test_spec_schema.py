# SPDX-License-Identifier: Apache-2.0
"""Values of specs are converted as Senlin 16 converts them."""

from __future__ import annotations

from typing import Any

import pytest

from engine import spec_schema
from vobjects.clustering import errors

TYPES = (*spec_schema.TYPES,)

#: Type -> values and what Senlin 16 makes of them.
CONVERTED: dict[str, list[tuple[Any, Any]]] = {
    'Boolean': [
        *((word, True) for word in (True, 1, '1', 'TRUE', 'on', 'Yes', 't')),
        *((word, False) for word in (False, 0, '0', 'False', 'OFF', 'n')),
        (' yes ', True),
    ],
    'Integer': [
        (3, 3),
        ('3', 3),
        (' 5 ', 5),
        ('-2', -2),
        ('+3', 3),
        (1.0, 1),
        (1.5, 1),
        (True, 1),
        ('9' * 18, 10**18 - 1),
    ],
    'List': [([], []), (['a', 'b'], ['a', 'b']), ('', [])],
    'Map': [({}, {}), ({'a': {'b': 1}}, {'a': {'b': 1}})],
    'Number': [(3, 3), (1.5, 1.5), ('3', 3), ('1.5', 1.5), ('1e3', 1000.0)],
    'String': [
        ('', ''),
        ('m1', 'm1'),
        (1, '1'),
        (1.5, '1.5'),
        (1.0, '1.0'),
        (True, 'True'),
    ],
}

#: Type -> accepted values as in the message, and rejected values.
REJECTED: dict[str, tuple[str, list[Any]]] = {
    'Boolean': ('true or false', ['', 'maybe', 2, 1.0, [], {}, ['true']]),
    'Integer': (
        'an integer',
        ['', 'soon', '1.5', [], [1], {}, '9' * 20, '9' * 5000, 1e300],
    ),
    'List': ('a list', ['ab', 1, True, {}]),
    'Map': ('a map', ['', '{}', 1, True, []]),
    'Number': (
        'a number',
        ['', 'soon', 'nan', 'inf', '1e999', [], [1], {}, '9' * 5000],
    ),
    'String': ('a string or a number', [[], ['a'], {}, {'a': 1}]),
}


def resolve(type_: str, value: Any) -> Any:
    prop = spec_schema.Property(type_, 'Of a test.')
    return spec_schema.resolve({'key': prop}, {'key': value})['key']


@pytest.mark.parametrize(
    ('type_', 'value', 'expected'),
    [(type_, *pair) for type_ in TYPES for pair in CONVERTED[type_]],
)
def test_value_of_each_type_is_converted(
    type_: str, value: Any, expected: Any
) -> None:
    resolved = resolve(type_, value)
    assert (resolved, type(resolved)) == (expected, type(expected))


@pytest.mark.parametrize(
    ('type_', 'value'),
    [(type_, value) for type_ in TYPES for value in REJECTED[type_][1]],
)
def test_value_of_another_kind_is_rejected_with_its_path(
    type_: str, value: Any
) -> None:
    with pytest.raises(errors.InvalidSpec) as caught:
        resolve(type_, value)
    accepted = REJECTED[type_][0]
    assert caught.value.message.startswith(
        f'spec.properties.key: must be {accepted}'
    )
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ('type_', 'value', 'compat_message'),
    [
        ('Boolean', 'maybe', "The value 'maybe' is not a valid Boolean"),
        ('Integer', 'soon', "The value 'soon' is not a valid Integer"),
        ('Number', 'soon', "The value 'soon' is not a valid number."),
        ('List', {}, "'{}' is not a List"),
        ('Map', ['a'], "'['a']' is not a Map"),
    ],
)
def test_rejected_value_keeps_the_sentence_of_senlin(
    type_: str, value: Any, compat_message: str
) -> None:
    with pytest.raises(errors.InvalidSpec) as caught:
        resolve(type_, value)
    assert caught.value.compat_message == compat_message


def test_nested_values_are_converted_and_null_counts_as_missing() -> None:
    places = spec_schema.Property(
        'List',
        'Places.',
        items=spec_schema.Property(
            'Map',
            'A place.',
            keys={
                'name': spec_schema.Property('String', 'Its name.'),
                'weight': spec_schema.Property('Integer', 'Its weight.'),
            },
        ),
    )
    values = {'places': [{'name': 1, 'weight': '2'}, {'name': None}]}
    resolved = spec_schema.resolve({'places': places}, values)
    assert resolved == {'places': [{'name': '1', 'weight': 2}, {}]}
    with pytest.raises(
        errors.InvalidSpec, match=r'^spec\.properties\.places\[1\]\.weight: '
    ):
        spec_schema.resolve(
            {'places': places}, {'places': [{}, {'weight': 'x'}]}
        )


@pytest.mark.parametrize('value', ['http', 'HTP'])
def test_value_that_is_not_allowed_is_rejected_with_a_suggestion(
    value: str,
) -> None:
    prop = spec_schema.Property(
        'String', 'A protocol.', allowed=('HTTP', 'TCP')
    )
    with pytest.raises(errors.InvalidSpec) as caught:
        spec_schema.resolve({'protocol': prop}, {'protocol': value})
    assert caught.value.message == (
        "spec.properties.protocol: must be one of 'HTTP', 'TCP', not"
        f" {value!r}; did you mean 'HTTP'?"
    )
    assert caught.value.compat_message == (
        f"'{value}' must be one of the allowed values: HTTP, TCP"
    )


def test_string_parameter_of_an_operation_is_not_converted() -> None:
    parameters = {'host': spec_schema.Property('String', 'A host.')}
    with pytest.raises(errors.InvalidSpec) as caught:
        spec_schema.resolve(
            parameters,
            {'host': 1},
            spec_schema.PARAMETERS,
            spec_schema.PARAMETER_TYPES,
        )
    assert caught.value.message == 'params.host: must be a string, not 1'
    assert caught.value.compat_message == 'value is not a string'


BOUNDED = {
    'places': spec_schema.Property(
        'List',
        'Places.',
        items=spec_schema.Property(
            'Map',
            'A place.',
            keys={
                'size': spec_schema.Property(
                    'Number', 'A size.', minimum=1, maximum=9
                )
            },
        ),
    )
}


@pytest.mark.parametrize(
    ('size', 'message'),
    [
        (1, ''),
        ('9', ''),
        (0, 'must be at least 1, not 0'),
        (9.5, 'must be at most 9, not 9.5'),
        (1e308, 'must be at most 9, not 1e+308'),
    ],
)
def test_number_out_of_bounds_is_rejected(size: Any, message: str) -> None:
    values = {'places': [{'size': size}]}
    if not message:
        expected = {'places': [{'size': int(size)}]}
        assert spec_schema.resolve(BOUNDED, values) == expected
        return
    with pytest.raises(errors.InvalidSpec) as caught:
        spec_schema.resolve(BOUNDED, values)
    path = 'spec.properties.places[0].size'
    assert caught.value.message == f'{path}: {message}'
