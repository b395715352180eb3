# SPDX-License-Identifier: Apache-2.0
"""Validation of requests, and errors that name versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vobjects.microversions import samples
from vobjects import fields, objects
from vobjects.microversions import errors, validation
from vobjects.versions import Version

MINIMAL = {'name': 'web', 'profile_id': 'p'}


def check(values, version='1.14', where='body.cluster'):
    validation.validate(
        samples.SampleCreateRequest,
        Version.parse(version),
        samples.BODY_NAMES,
        values,
        where,
    )


def validation_error(values, version='1.14'):
    with pytest.raises(errors.ValidationError) as caught:
        check(values, version)
    assert caught.value.status == 400
    assert len(caught.value.detail) < 400
    return caught.value.detail


def test_name_when_it_has_spaces_and_accents_is_accepted():
    check({**MINIMAL, 'name': 'my secret \u00e9'})
    assert fields.Name().coerce(None, 'name', 'my secret \u00e9')


@pytest.mark.parametrize('name', [' web', 'web ', 'web\n', 'a\x00b', '\x85'])
def test_name_when_it_has_hidden_characters_is_rejected(name):
    detail = validation_error({**MINIMAL, 'name': name})

    assert 'must have no control characters' in detail
    with pytest.raises(ValueError, match='must have no control characters'):
        fields.Name().coerce(None, 'name', name)


@pytest.mark.parametrize(
    'values',
    [
        {},
        {'desired_capacity': 3},
        {'desired_capacity': '3'},
        {'timeout': None},
        {'metadata': {'a': 'b'}},
        {'mode': 'hot'},
        {'mode': None},
        {'starts_at': '2026-11-21T13:17:00Z'},
        {'nodes': ['a', 'b']},
        {'config': {'a': [1, {'b': None}]}},
        {'force': True},
        {'size': 3},
        {'address': '192.0.2.1'},
        {'uuid': 'b0c8b2f4-62ab-4a5c-8a9b-b8d9f3ee4d62'},
    ],
)
def test_validate_when_valid_returns(values):
    check({**MINIMAL, **values})


@pytest.mark.parametrize(
    ('values', 'detail'),
    [
        (
            {'desired_capacity': -1},
            'body.cluster.desired_capacity: must be at least 0, not -1.',
        ),
        (
            {'desired_capacity': 2**40},
            'body.cluster.desired_capacity: must be at most 2147483647, not'
            ' 1099511627776.',
        ),
        (
            {'desired_capacity': 'three'},
            "body.cluster.desired_capacity: must be an integer, not 'three'.",
        ),
        (
            {'desired_capacity': True},
            'body.cluster.desired_capacity: must be an integer or a string,'
            ' not true.',
        ),
        (
            {'timeout': 1.5},
            'body.cluster.timeout: must be an integer or null, not 1.5.',
        ),
        (
            {'force': 'false'},
            "body.cluster.force: must be true or false, not 'false'.",
        ),
        (
            {'force': None},
            'body.cluster.force: must be true or false, not null.',
        ),
        (
            {'name': ''},
            "body.cluster.name: must have at least 1 character(s), not ''.",
        ),
        (
            {'metadata': {'a': 1}},
            'body.cluster.metadata.a: must be a string, not 1.',
        ),
        (
            {'metadata': {'a b': None}},
            "body.cluster.metadata['a b']: must be a string, not null.",
        ),
        (
            {'nodes': ['a', 7]},
            'body.cluster.nodes[1]: must be a string, not 7.',
        ),
        (
            {'nodes': ['a', 'a']},
            "body.cluster.nodes: must have each item once, not ['a', 'a'].",
        ),
        (
            {'mode': 'warm'},
            "body.cluster.mode: must be one of 'hot', 'cold', null, not"
            " 'warm'.",
        ),
        (
            {'address': '192.0.2.256'},
            'body.cluster.address: must have the format ipv4, not'
            " '192.0.2.256'.",
        ),
        (
            {'config': []},
            'body.cluster.config: must be a JSON object or null, not [].',
        ),
    ],
)
def test_validate_when_a_value_is_invalid_names_location_and_problem(
    values, detail
):
    assert validation_error({**MINIMAL, **values}) == detail


@pytest.mark.parametrize(
    ('values', 'detail'),
    [
        (
            {'desired_capacity': '-5'},
            'body.cluster.desired_capacity: desired_capacity must be from 0'
            ' to 2147483647, not -5.',
        ),
        ({'starts_at': 'tomorrow'}, 'body.cluster.starts_at: '),
        ({'starts_at': '2026-13-45T00:00:00Z'}, 'body.cluster.starts_at: '),
    ],
)
def test_validate_when_only_the_field_rejects_has_its_message(values, detail):
    assert validation_error({**MINIMAL, **values}).startswith(detail)


@pytest.mark.parametrize('name', ['name', 'profile_id'])
def test_validate_when_a_field_is_missing_names_it(name):
    values = {key: MINIMAL[key] for key in MINIMAL if key != name}

    assert validation_error(values) == f"body.cluster: '{name}' is required."


@pytest.mark.parametrize('values', [None, [], 'x', 3, True])
def test_validate_when_the_body_is_not_an_object_raises(values):
    assert 'must be a JSON object, not' in validation_error(values)


@pytest.mark.parametrize(
    ('version', 'expected'),
    [
        (
            '1.3',
            "body.mode: must be one of 'hot', null, not 'warm'; 'warm' needs"
            ' API version 1.4 to 1.5; this request asked for 1.3.',
        ),
        (
            '1.6',
            "body.mode: must be one of 'hot', 'cold', null, not 'warm';"
            " 'warm' was removed in API version 1.6; this request asked for"
            ' 1.6.',
        ),
    ],
)
def test_validate_when_an_enum_had_the_value_at_another_version(
    version, expected
):
    with pytest.raises(errors.ValidationError) as caught:
        validation.validate(
            samples.SampleModeRequest,
            Version.parse(version),
            ('mode',),
            {'mode': 'warm'},
        )

    assert caught.value.detail == expected
    assert caught.value.is_about_versions


#: Version, additional field -> problem, and the version that is requested.
OTHER_VERSIONS = {
    ('1.0', 'force', True): "'force' needs API version 1.8 or later",
    ('1.7', 'force', True): "'force' needs API version 1.8 or later",
    ('1.1', 'config', 'x'): "'config' needs API version 1.2 or later",
    ('1.14', 'legacy', 'x'): "'legacy' was removed in API version 1.10",
    ('1.9', 'colour', 'x'): "'colour' needs API version 1.10 or later",
    ('1.14', 'color', 'x'): "'color' was removed in API version 1.10",
    ('1.11', 'size', 3): 'must be a string or null, not 3; 3 needs API'
    ' version 1.12 or later',
    ('1.12', 'size', 'x'): "must be an integer or null, not 'x'; 'x' was"
    ' removed in API version 1.12',
    ('1.0', 'forse', True): "unknown; did you mean 'force'? 'force' needs API"
    ' version 1.8 or later',
}
#: The other name of a field at the requested version.
OTHER_NAMES = {'colour': 'color', 'color': 'colour'}


@pytest.mark.parametrize(('case', 'problem'), OTHER_VERSIONS.items())
def test_validate_when_another_version_accepts_it_names_that(case, problem):
    version, name, value = case
    other = OTHER_NAMES.get(name)
    where = f", where it is called '{other}'" if other else ''

    assert validation_error({**MINIMAL, name: value}, version) == (
        f'body.cluster.{name}: {problem}; this request asked for'
        f' {version}{where}.'
    )


@pytest.mark.parametrize(
    ('version', 'name'),
    [('1.9', 'legacy'), ('1.9', 'color'), ('1.10', 'colour')],
)
def test_validate_when_the_version_has_the_field_accepts_it(version, name):
    check({**MINIMAL, name: 'x'}, version)


@pytest.mark.parametrize(
    ('name', 'value', 'end'),
    [
        ('desired_capacty', 1, "unknown; did you mean 'desired_capacity'?"),
        ('mode', 'cld', "not 'cld'; did you mean 'cold'?"),
    ],
)
def test_validate_when_misspelt_suggests_the_right_word(name, value, end):
    assert validation_error({**MINIMAL, name: value}).endswith(end)


def test_validate_when_no_version_accepts_the_value_names_none():
    assert 'API version' not in validation_error({**MINIMAL, 'mode': 'warm'})
    assert 'API version' not in validation_error({**MINIMAL, 'size': [1]})


@pytest.mark.parametrize(
    ('version', 'name', 'words'),
    [
        ('1.3', 'old', ' before API version 1.4'),
        ('1.4', 'new', ' from API version 1.4 on'),
    ],
)
def test_validate_when_only_some_versions_require_a_field_names_them(
    version, name, words
):
    with pytest.raises(errors.ValidationError) as caught:
        validation.validate(
            samples.SampleModeRequest,
            Version.parse(version),
            ('old', 'new'),
            {},
        )

    assert caught.value.detail == (
        f"body: '{name}' is required{words}; this request asked for {version}."
    )


def test_validate_when_a_field_is_unknown_lists_those_of_the_version():
    detail = validation_error({**MINIMAL, 'zzz': 1}, '1.0')

    assert detail.startswith('body.cluster.zzz: unknown; known here: ')
    # It belongs elsewhere in the request.
    assert 'unknown' in validation_error({**MINIMAL, 'identity': 'x'})
    assert "'color'" in detail
    assert "'force'" not in detail


def test_validate_when_names_and_values_are_long_truncates_them():
    assert len(validation_error({**MINIMAL, 'x' * 10000: 1})) < 400
    assert len(validation_error({**MINIMAL, 'timeout': 'x' * 10000})) < 200


@pytest.mark.parametrize(
    ('values', 'kind', 'names', 'invalid_part'),
    [
        ({'name': 'web'}, 'missing', ('profile_id',), None),
        ({**MINIMAL, 'boo': 1, 'coo': 2}, 'unknown', ('boo', 'coo'), None),
        ({**MINIMAL, 'nodes': ['a', 5]}, 'value', ('nodes',), 5),
        ({**MINIMAL, 'starts_at': 'soon'}, 'value', ('starts_at',), 'soon'),
    ],
)
def test_error_has_the_fault_of_the_field_as_data(
    values, kind, names, invalid_part
):
    with pytest.raises(errors.ValidationError) as caught:
        check(values)
    fault = caught.value.fault
    assert (fault.kind, fault.names) == (kind, names)
    assert fault.invalid_part == invalid_part
    assert (fault.field is None) == (kind == 'unknown')
    if kind == 'value':
        assert fault.value == values[names[0]]


def test_error_about_versions_has_no_fault():
    with pytest.raises(errors.ValidationError) as caught:
        check({**MINIMAL, 'force': True}, '1.0')
    assert caught.value.is_about_versions
    assert caught.value.fault is None


def test_validate_when_a_line_feed_follows_a_pattern_is_rejected():
    # Python's $ would let it pass.
    detail = validation_error({**MINIMAL, 'name': 'web\n'})
    assert 'no white space at either end' in detail
    assert 'must be a UUID' in validation_error(
        {**MINIMAL, 'uuid': 'b0c8b2f4-62ab-4a5c-8a9b-b8d9f3ee4d62\n'}
    )


@pytest.mark.parametrize(
    ('make', 'value', 'form'),
    [
        (fields.MACAddressField, 'AA:11', 'an address such as 00:11:22:aa'),
        (fields.PCIAddressField, 'x', 'an address such as 0000:02:00.1'),
        (fields.IPNetworkField, 'x', "a valid IPNetwork, not 'x'"),
        (fields.ListOfUUIDField, ['x'], "a UUID, not 'x'"),
    ],
)
@pytest.mark.usefixtures('registry')
def test_text_that_does_not_match_a_pattern_is_told_the_form(
    make, value, form
):
    class TextRequest(objects.Request):
        fields = {'it': make()}

    objects.register(TextRequest)
    with pytest.raises(errors.ValidationError) as caught:
        validation.validate(TextRequest, Version(1, 0), ('it',), {'it': value})
    assert f': must be {form}' in str(caught.value)


def test_validate_when_the_type_is_newer_names_its_version():
    with pytest.raises(
        errors.MethodNotAtVersion, match=r'version 1\.9 or later'
    ):
        validation.validate(
            samples.SampleLateRequest, Version(1, 8), ('name',), {}
        )

    validation.validate(
        samples.SampleLateRequest, Version(1, 9), ('name',), {}
    )


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(
    st.dictionaries(
        st.sampled_from(samples.BODY_NAMES) | st.text(max_size=5), ANYTHING
    ),
    st.integers(0, 14),
)
def test_validate_for_any_object_returns_or_raises_an_error(values, minor):
    response = samples.outcome(check, {**MINIMAL, **values}, f'1.{minor}')

    assert response is None or (
        isinstance(response, errors.ValidationError)
        and response.path.startswith('body.cluster')
    )
