# SPDX-License-Identifier: Apache-2.0
"""Fast validation accepts the same as ``jsonschema`` and the fields."""

import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vobjects.microversions import samples
from vobjects import fields
from vobjects.microversions import (
    errors,
    fast_validation,
    schema,
    validation,
)
from vobjects.versions import Version
from vobjects_testing import strategies

LARGE = 10**400
NAN, INFINITY = float('nan'), float('inf')


SAMPLES = [
    samples.SampleEveryRequest,
    samples.SampleCreateRequest,
    samples.SampleListRequest,
]


def every_shape(types):
    """Return (type, one microversion for each object version, names)."""
    shapes = []
    for cls in types:
        versions = ['1.0'] if cls.introduced() is None else []
        versions += cls.VERSION_MAP
        names = {
            name: None
            for version in versions
            for name in cls.fields_at(cls.version_at(Version.parse(version)))
        }
        shapes += [
            (cls, Version.parse(version), tuple(names)) for version in versions
        ]
    return shapes


SHAPES = every_shape(SAMPLES)

#: Values at which validators are known to part ways, or might.
EDGES = (
    *(None, True, False, 0, 1, -1, 0.0, -0.0, 1.0, 1.5, 1e300, -1e300),
    *(2**31 - 1, 2**31, -(2**31), 2**53, 2**53 + 1, float(2**53), 2.0**31),
    *(2**63 - 1, 2**63, 2**64, -(2**63) - 1, LARGE, -LARGE),
    *(NAN, INFINITY, -INFINITY, 1e15, 1e18, 2.0**63, 2.0**64, 1e22, 1e39),
    *(
        '',
        ' ',
        '\n',
        'a\n',
        'web\n',
        '0\n',
        '\0',
        '\ud800',
        '\udc00x',
        '\u0661',
    ),
    *('x' * 255, 'x' * 256, '😀' * 255, '😀' * 256, 'e\u0301' * 128),
    *(
        '一',
        '龥',
        '龦',
        '\u017f',
        '\u212a',
        '-0',
        '00',
        '4294967296',
        '1' * 10,
        '1' * 11,
    ),
    *('true', 'FALSE', 'name:', 'name:asc,', 'ACTIVE', 'active', 'hot'),
    *('192.0.2.1', '192.0.2.1\n', '::1', '::1%eth0', '::ffff:192.0.2.1'),
    *('192.0.2.0/24', '01.2.3.4', '2026-11-21T13:17:00Z', 'tomorrow', '>=1'),
    *('2026-13-45T00:00:00Z', 'b0c8b2f462ab4a5c8a9bb8d9f3ee4d62'),
    *('00:11:22:aa:bb:cc', '00:11:22:AA:BB:CC', '0000:00:1f.7'),
    *([], ['a', 'a'], [1, 1.0], [1, True], [0, False], [''], ['x' * 256]),
    *([{'a': 1}, {'a': 1.0}], [[]], [None], [2**53, 2**53 + 1], [NAN, NAN]),
    *({}, {'': None}, {'a': 1}, {'a': '\ud800'}, {'a': NAN}, {'a': [{}]}),
)

texts = st.text(max_size=8) | st.text(
    st.characters(codec=None, categories=['Cs', 'Cc', 'Nd', 'Lo']), max_size=4
)
json_values = st.sampled_from(EDGES) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=5,
)


def near(field):
    """Return a strategy for values that may suit a field, or just not."""
    try:
        good = strategies.of_type(field._type)
    except LookupError:
        return json_values
    as_json = good.map(lambda value: field.to_primitive(None, 'x', value))
    return json_values | as_json | as_json.map(str)


@st.composite
def requests(draw):
    cls, version, names = draw(st.sampled_from(SHAPES))
    known = cls.fields_at(cls.version_at(version))
    required = {
        name: near(field)
        for name, field in known.items()
        if not field.nullable and field.default is fields.UnspecifiedDefault
    }
    optional_ = {
        name: near(known[name]) for name in known if name not in required
    }
    chosen = (
        draw(st.lists(st.sampled_from([*optional_]), max_size=3))
        if optional_
        else []
    )
    values = draw(
        st.fixed_dictionaries(
            required, optional={name: optional_[name] for name in chosen}
        )
    )
    return cls, version, names, values


def accepts(cls, version, names, values):
    error = samples.outcome(validation.validate, cls, version, names, values)
    assert error is None or isinstance(error, errors.ValidationError)
    return error is None


def is_acceptable(cls, version, names, values):
    """Do what ``validation.validate`` has to come to, the long way."""
    compiled = schema.request_schema_at(cls, version, names)
    validator = jsonschema.Draft4Validator(
        compiled.validator.schema, format_checker=fast_validation.FORMATS
    )
    if not validator.is_valid(values):
        return False
    known = cls.fields_at(cls.version_at(version))
    for name, value in values.items():
        try:
            if value is not None:
                read = known[name].from_primitive(cls(), name, value)
                known[name].coerce(cls(), name, read)
        except (ArithmeticError, TypeError, ValueError):
            return False
    return True


@given(requests())
def test_validate_accepts_what_jsonschema_and_the_fields_accept(request):
    assert accepts(*request) is is_acceptable(*request)


@given(
    st.sampled_from(
        [
            (cls, version, names, name)
            for cls, version, names in SHAPES
            for name in cls.fields_at(cls.version_at(version))
        ]
    ),
    st.data(),
)
def test_field_is_accepted_as_by_jsonschema_and_itself(place, data):
    cls, version, _, name = place
    field = cls.fields_at(cls.version_at(version))[name]
    values = {name: data.draw(near(field))}

    assert accepts(cls, version, (name,), values) is is_acceptable(
        cls, version, (name,), values
    )


@pytest.mark.parametrize('shape', SHAPES, ids=str)
def test_edge_values_are_accepted_as_by_jsonschema_and_the_fields(shape):
    check_edge_values(shape)


def check_edge_values(shape):
    """Compare the results for the edge values of each field."""
    cls, version, _ = shape
    for name in cls.fields_at(cls.version_at(version)):
        for edge in EDGES:
            case = (cls, version, (name,), {name: edge})
            assert accepts(*case) is is_acceptable(*case), (name, edge)


@pytest.mark.parametrize('shape', SHAPES, ids=str)
def test_every_request_type_has_a_fast_validator(shape):
    accepts = schema.request_schema_at(*shape).validator.accepts

    assert accepts is not fast_validation.accepts_nothing


@pytest.mark.parametrize(
    ('part', 'value', 'is_valid'),
    [
        ({'type': ['number'], 'minimum': 0}, NAN, True),
        ({'type': ['number']}, INFINITY, True),
        ({'type': ['integer']}, NAN, False),
        ({'type': ['integer']}, 1.0, False),
        ({'type': ['integer'], 'maximum': 2**31}, LARGE, False),
        ({'type': ['integer'], 'minimum': 0}, LARGE, True),
        ({'pattern': '^a$'}, 'a\n', True),
        ({'pattern': r'^a\Z'}, 'a\n', False),
        ({'maxLength': 1}, '😀', True),
        ({'maxLength': 1}, 'e\u0301', False),
        ({'minLength': 1}, '\ud800', True),
        ({'enum': [1, None]}, True, False),
        ({'enum': [1, None]}, 1.0, True),
        ({'uniqueItems': True}, [1, True], True),
        ({'uniqueItems': True}, [{'a': 1}, {'a': 1.0}], False),
        ({'format': 'ipv4'}, '192.0.2.256', False),
        ({'format': 'date-time'}, 'tomorrow', True),
        ({'type': 'string', 'format': 'nobody-knows'}, 'x', True),
    ],
)
def test_fast_validator_accepts_only_what_jsonschema_accepts(
    part, value, is_valid
):
    whole = {'properties': {'it': part}}
    validator = jsonschema.Draft4Validator(
        whole, format_checker=fast_validation.FORMATS
    )

    accepted = fast_validation.compile_schema(whole)({'it': value})

    assert validator.is_valid({'it': value}) is is_valid
    assert is_valid or not accepted


@pytest.mark.parametrize(
    'pattern',
    [
        r'^\d+$',
        r'^\w+$',
        r'^\s+$',
        r'^[^\s]+$',
        r'^\S\D\W$',
        r'^a++a$',
        r'^a{,2}$',
        r'^(?P<a>.)(?P=a)$',
        r'(?i)^straße$',
        r'^(?!.*\n)',
        r'(?<=a)b',
        r'\Aa\Z',
        r'^[]a]$',
        r'^\u4e00$',
        r'^.$',
    ],
)
@given(st.text(st.sampled_from('aAbé\u0661\u00a0\ufeff\x1c\n\r\u2028&]一ß😀')))
def test_patterns_have_the_meaning_of_python(pattern, text):
    assert fast_validation.compile_schema({'pattern': pattern})(text) is bool(
        re.search(pattern, text)
    )


@pytest.mark.parametrize(
    'part',
    [
        {'not': {'type': 'string'}},
        {'oneOf': [{'type': 'string'}, {'type': 'null'}]},
        {'multipleOf': 0.1},
        {'patternProperties': {'^a': {}}},
        {'$ref': '#'},
        {'items': [{'type': 'string'}]},
        {'made-up': 1},
        {'default': object(), 'type': 'no type'},
    ],
)
def test_unsupported_schema_is_left_to_jsonschema(part):
    validator = fast_validation.compile_schema({'properties': {'it': part}})

    assert validator is fast_validation.accepts_nothing
    assert not validator({})


def test_combined_parts_must_all_accept():
    accepts_it = fast_validation.compile_schema(
        {
            'allOf': [{'minLength': 2}],
            'anyOf': [{'type': 'string'}, {'type': 'null'}],
            'pattern': '^[a-z]+$',
            'format': 'ipv4',
        }
    )

    assert accepts_it(None)
    assert not accepts_it('ab')
    assert not accepts_it('192.0.2.1')
    assert not accepts_it(1)


@pytest.mark.parametrize(
    'value',
    [b'x', object(), {1: 2}, {'\ud800': 1}, '\ud800', {'it': {1, 2}}],
    ids=['bytes', 'object', 'number key', 'bad key', 'bad text', 'set'],
)
def test_value_that_is_not_json_is_rejected_without_an_error(value):
    validator = fast_validation.compile_schema(
        {
            'type': 'object',
            'properties': {'it': {'type': 'string'}},
            'additionalProperties': False,
        }
    )

    assert validator is not fast_validation.accepts_nothing
    assert not validator(value)
