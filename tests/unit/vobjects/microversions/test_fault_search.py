# SPDX-License-Identifier: Apache-2.0
"""The first fault of a value, found in linear time."""

import contextlib
import gc
import sys

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vobjects.controllers import compiled_schema, ranges
from vobjects.microversions import errors, fault_search
from vobjects.versions import Version

NAMES = {'type': 'array', 'items': {'type': 'string'}, 'uniqueItems': True}
NUMBER = {'type': 'integer', 'minimum': 0}
EITHER = {'anyOf': [NUMBER, {'type': 'string', 'pattern': '^a'}]}
SCHEMAS = {
    'names': NAMES,
    'map': {'type': 'object', 'additionalProperties': NUMBER},
    'either': {'type': 'array', 'items': EITHER},
    'lists': {'anyOf': [NAMES, {'type': 'array', 'items': NUMBER}]},
    'nested': {
        'type': 'object',
        'properties': {'a': {'type': 'array', 'items': NAMES}, 'b': NUMBER},
        'additionalProperties': False,
    },
    # Fast validation does not support these.
    'one': {'type': 'array', 'items': {'oneOf': [NUMBER, NAMES]}},
    'patterns': {
        'patternProperties': {'^x': NUMBER},
        'additionalProperties': False,
    },
    'no item': {'type': 'array', 'uniqueItems': True, 'items': {'not': {}}},
}
DRAFTS = [jsonschema.Draft4Validator, jsonschema.Draft202012Validator]

a_scalar = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from(['a', '1'])
)
a_value = st.recursive(
    st.one_of(a_scalar, st.sampled_from([0.0, 1.0, 0.5])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.sampled_from(['a', 'b', 'x', '1']), inner),
    ),
    max_leaves=12,
)

#: Function of a size -> a value of about that size.
LARGE = {
    'same': lambda size: ['n'] * size,
    'same at the end': lambda size: [*map(str, range(size)), '0'],
    'numbers': lambda size: list(range(size)),
    'maps': lambda size: [{'a': i} for i in range(size)],
    'lists': lambda size: [[i] for i in range(size)],
    'mixed': lambda size: [
        item for i in range(size // 3) for item in (i, str(i), [i])
    ],
    'wrong at the end': lambda size: [*map(str, range(size)), None],
    'negative': lambda size: [-1] * size,
    'long': lambda size: ['b' * size],
    'map': lambda size: {f'x{i}': None for i in range(size)},
    'map with the wrong value at the end': lambda size: {
        **{f'x{i}': 1 for i in range(size)},
        'x': None,
    },
    'a map': lambda size: {'a': [['n'] * 10] * (size // 10)},
    'deep': lambda size: {'a': [[[['n', 'n']]]] * (size // 10)},
}


def place(fault):
    return fault and (list(fault.absolute_path), fault.validator)


def steps(function):
    """Return the number of functions that a function calls."""
    count = 0

    def on_event(frame, event, argument):
        nonlocal count
        count += event in ('call', 'c_call')

    gc.disable()  # its callbacks would count
    sys.setprofile(on_event)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


@pytest.mark.parametrize('schema', SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize('draft', DRAFTS)
@given(value=a_value)
def test_first_fault_is_that_of_jsonschema(schema, draft, value):
    fault = fault_search.Validator(schema, draft).first_fault(value)

    assert place(fault) == place(next(draft(schema).iter_errors(value), None))


@given(value=st.lists(a_value, max_size=4))
def test_items_are_unique_as_in_jsonschema(value):
    schema = {'uniqueItems': True}
    for draft in DRAFTS:
        fault = fault_search.Validator(schema, draft).first_fault(value)
        assert (fault is None) == draft(schema).is_valid(value)


@pytest.mark.parametrize('make', LARGE.values(), ids=LARGE)
@pytest.mark.parametrize('schema', SCHEMAS.values(), ids=SCHEMAS)
def test_steps_of_an_explanation_are_linear(make, schema):
    compiled = compiled_schema.CompiledSchema(schema)
    versions = ranges.RangeMap('schema')

    def explain(value):
        with contextlib.suppress(errors.ValidationError):
            compiled.check(value, 'body', Version(1, 1), versions)

    explain(make(30))  # compile the subschemas
    small, large = (
        steps(lambda value=value: explain(value))
        for value in map(make, (300, 3000))
    )
    assert large <= 12 * small + 30_000
    assert large <= 100 * 3000


@pytest.mark.parametrize('count', [5, 50])
def test_unsupported_keyword_keeps_the_number_of_faults_small(count):
    schema = {'anyOf': [{'type': 'array', 'items': NUMBER}] * 3}
    validator = fault_search.Validator(schema, DRAFTS[1])

    fault = validator.first_fault([-1] * count)

    assert len(fault.context) == 3
