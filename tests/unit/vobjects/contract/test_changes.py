# SPDX-License-Identifier: Apache-2.0
"""What a client gains and loses, and whether it breaks."""

from __future__ import annotations

import pytest

from tests.unit.vobjects.contract import samples
from vobjects.contract import changes, type_schemas
from vobjects.contract.registry import Operation, OperationShape
from vobjects.versions import Version

OLD, NEW = Version(1, 0), Version(1, 1)
TEXT = {'type': 'string'}


def asked_and_answered(old, new):
    """Return the changes of one schema, as a request and as an answer."""

    def shape_at(version):
        schema = old if version == OLD else new
        return OperationShape(
            path={},
            query=type_schemas.closed({}),
            body=schema,
            responses={200: schema},
        )

    found = changes.compare(
        samples.contract(Operation('PUT', '/v1/x', shape_at)), OLD, NEW
    )
    return [
        [
            (one.place.partition('.')[2], one.what, one.breaking)
            for one in found
            if one.place.startswith(part)
        ]
        for part in ('body', 'response 200')
    ]


def holding(schema):
    return type_schemas.closed({'a': schema}, ['a'])


#: Place -> a schema with another one there.
WRAPPED = {
    '.a': holding,
    '.a[]': lambda inner: holding({'items': inner}),
    '.*': lambda inner: {'additionalProperties': inner},
    '.<^x>': lambda inner: {
        'patternProperties': {'^x': inner},
        'additionalProperties': False,
    },
    '[1]': lambda inner: {'prefixItems': [TEXT, inner]},
    '': lambda inner: {'anyOf': [{'type': 'null'}, inner]},
    '.b': lambda inner: {'allOf': [{'properties': {'b': inner}}]},
}


@pytest.mark.parametrize('place', WRAPPED)
def test_change_anywhere_in_a_schema_is_told_with_its_place(place):
    wrap = WRAPPED[place]
    schemas = wrap({'maximum': 1}), wrap({'maximum': 2})

    def shape_at(version):
        return shaped(responses={200: schemas[version == NEW]})

    found = changes.compare(
        samples.contract(Operation('GET', '/v1/x', shape_at)), OLD, NEW
    )

    assert [str(one) for one in found] == [
        f'GET /v1/x: response 200{place} has maximum 2 now'
    ]


@pytest.mark.parametrize(
    ('old', 'new', 'what', 'breaking'),
    [
        ({'required': ['a']}, {}, 'is optional now', False),
        ({}, {'required': ['a']}, 'is required now', True),
    ],
)
def test_name_that_is_required_without_a_schema_is_told(
    old, new, what, breaking
):
    request, _answer = asked_and_answered(
        {'anyOf': [TEXT, old]}, {'anyOf': [TEXT, new]}
    )

    assert request == [('a', what, breaking)]


def test_schema_of_a_path_or_a_header_that_changed_is_told():
    old = shaped(path={'id': TEXT}, headers={200: {'Location': TEXT}})
    short = {**TEXT, 'maxLength': 9}
    new = shaped(path={'id': short}, headers={200: {'Location': short}})
    operation = Operation(
        'GET', '/v1/x/{id}', lambda version: old if version == OLD else new
    )

    found = changes.compare(samples.contract(operation), OLD, NEW)

    assert [(one.place, one.breaking) for one in found] == [
        ('path.id', True),
        ('response 200.Location', False),
    ]


def test_change_of_what_has_no_name_is_told_of_what_holds_it():
    place = 'response 200.things[].*'

    assert (
        changes.ContractChange('GET /v1/x', place, '', False).subject
        == 'things'
    )


def test_pattern_that_is_new_is_compared_with_the_other_properties():
    old = {'additionalProperties': False}
    new = {**old, 'patternProperties': {'': TEXT}}

    assert asked_and_answered(old, new) == [
        [('*', 'is allowed now', False)],
        [('*', 'is allowed now', True)],
    ]


@pytest.mark.parametrize(
    ('old', 'new', 'what', 'breaks'),
    [
        # Accepts more: breaks who reads.
        (TEXT, {'type': ['string', 'null']}, 'may be null', 'answer'),
        ({'type': 'integer'}, {'type': 'number'}, 'may be number', 'answer'),
        ({'enum': ['a']}, {'enum': ['a', 'b']}, 'may be b', 'answer'),
        ({'enum': ['a']}, {}, 'has any value', 'answer'),
        ({'minimum': 1}, {'minimum': 0}, 'has minimum 0', 'answer'),
        ({'maximum': 1}, {'maximum': 2}, 'has maximum 2', 'answer'),
        ({'maxLength': 1}, {}, 'has maxLength no limit', 'answer'),
        ({'pattern': 'a'}, {}, 'has another pattern', 'answer'),
        ({'anyOf': [TEXT]}, {'anyOf': [TEXT, {}]}, 'other anyOf', 'answer'),
        # Accepts less: breaks who asks.
        ({'type': ['string', 'null']}, TEXT, 'no longer null', 'request'),
        ({'enum': ['a', 'b']}, {'enum': ['a']}, 'no longer b', 'request'),
        ({}, {'enum': ['a']}, 'only some values', 'request'),
        ({'minItems': 0}, {'minItems': 1}, 'has minItems 1', 'request'),
        ({}, {'maximum': 1}, 'has maximum 1', 'request'),
        ({}, {'format': 'uuid'}, 'has another format', 'request'),
        ({}, TEXT, 'may be string now', 'request'),
        (TEXT, {}, 'may be of any type now', 'answer'),
        (True, TEXT, 'may be string now', 'request'),
        (False, TEXT, 'is allowed now', 'answer'),
        (TEXT, False, 'is no longer allowed', 'request'),
        ({'anyOf': [TEXT]}, {}, 'other anyOf', 'answer'),
        ({}, {'anyOf': [TEXT]}, 'other anyOf', 'request'),
        ({'allOf': [TEXT]}, {'allOf': [TEXT, {}]}, 'other allOf', 'request'),
        ({'oneOf': [{}, TEXT]}, {'oneOf': [TEXT]}, 'other oneOf', 'request'),
        ({}, {'uniqueItems': True}, 'has another uniqueItems', 'request'),
        # Nobody can tell.
        ({'anyOf': [{}, TEXT]}, {'anyOf': [{'type': 'null'}]}, 'other anyOf',
         'both'),
        ({'not': {}}, {'not': TEXT}, 'another not', 'both'),
        ({'if': {}, 'then': {}}, {'if': {}, 'then': TEXT}, 'another then',
         'both'),
        ({'$ref': '#/a'}, {'$ref': '#/b'}, 'another $ref', 'both'),
        ({'pattern': 'a'}, {'pattern': 'b'}, 'another pattern', 'both'),
    ],
)  # fmt: skip
def test_schema_that_changed_breaks_one_side(old, new, what, breaks):
    for wrap in WRAPPED.values():
        request, answer = asked_and_answered(wrap(old), wrap(new))

        assert len(request) == len(answer) == 1
        assert what in request[0][1]
        assert request[0][2] is (breaks in ('request', 'both'))
        assert answer[0][2] is (breaks in ('answer', 'both'))


@pytest.mark.parametrize(
    ('old', 'new', 'request_', 'answer'),
    [
        (
            type_schemas.closed({}),
            type_schemas.closed({'a': TEXT}),
            ('a', 'is added', False),
            ('a', 'is added', False),
        ),
        (
            type_schemas.closed({}),
            type_schemas.closed({'a': TEXT}, ['a']),
            ('a', 'is added and required', True),
            ('a', 'is added', False),
        ),
        (
            type_schemas.closed({'a': TEXT}),
            type_schemas.closed({}),
            ('a', 'is removed', True),
            ('a', 'is removed', True),
        ),
        (
            type_schemas.closed({'a': TEXT}),
            type_schemas.closed({'a': TEXT}, ['a']),
            ('a', 'is required now', True),
            ('a', 'is always there now', False),
        ),
        (
            type_schemas.closed({'a': TEXT}, ['a']),
            type_schemas.closed({'a': TEXT}),
            ('a', 'is optional now', False),
            ('a', 'may be missing now', True),
        ),
        (
            type_schemas.closed({'a': type_schemas.closed({})}),
            type_schemas.closed({'a': {**type_schemas.closed({}),
                                 'additionalProperties': True}}),
            ('a.*', 'may be anything now', False),
            ('a.*', 'may be anything now', True),
        ),
    ],
)  # fmt: skip
def test_property_that_changed_is_told(old, new, request_, answer):
    assert asked_and_answered(old, new) == [[request_], [answer]]


def test_number_that_is_an_integer_now_is_less():
    request, answer = asked_and_answered(
        holding({'type': 'number'}), holding({'type': 'integer'})
    )

    assert request == [('a', 'is no longer number', True)]
    assert answer == [('a', 'is no longer number', False)]


def shaped(**more):
    values = {'path': {}, 'query': type_schemas.closed({}), 'body': None,
              'responses': {200: TEXT}}  # fmt: skip
    return OperationShape(**{**values, **more})


@pytest.mark.parametrize(
    ('old', 'new', 'place', 'what', 'breaking'),
    [
        (None, shaped(), '', 'is added', False),
        (shaped(), None, '', 'is removed', True),
        (
            shaped(),
            shaped(responses={200: TEXT, 409: TEXT}),
            'response 409',
            'is added',
            False,
        ),
        (
            shaped(responses={200: TEXT, 201: TEXT}),
            shaped(),
            'response 201',
            'is removed',
            True,
        ),
        (
            shaped(responses={200: TEXT, 409: TEXT}),
            shaped(),
            'response 409',
            'is removed',
            False,
        ),
        (
            shaped(),
            shaped(responses={200: None}),
            'response 200',
            'has no body any more',
            True,
        ),
        (
            shaped(),
            shaped(headers={200: {'Location': TEXT}}),
            'response 200',
            'has header Location now',
            False,
        ),
        (
            shaped(headers={200: {'Location': TEXT}}),
            shaped(),
            'response 200',
            'lacks header Location now',
            True,
        ),
        (shaped(), shaped(body=TEXT), 'body', 'is read now', True),
        (
            shaped(),
            shaped(body=TEXT, body_required=False),
            'body',
            'is read now',
            False,
        ),
        (shaped(body=TEXT), shaped(), 'body', 'is no longer read', True),
        (
            shaped(body=TEXT),
            shaped(body=TEXT, body_required=False),
            'body',
            'is optional now',
            False,
        ),
        (
            shaped(),
            shaped(query=type_schemas.closed({'limit': TEXT})),
            'query.limit',
            'is added',
            False,
        ),
    ],
)
def test_shape_that_changed_is_told(old, new, place, what, breaking):
    operation = Operation(
        'GET', '/v1/x', lambda version: old if version == OLD else new
    )
    found = changes.compare(samples.contract(operation), OLD, NEW)

    assert found == [
        changes.ContractChange('GET /v1/x', place, what, breaking)
    ]


def test_change_of_a_type_is_told_of_every_operation_that_shows_it(
    monkeypatch,
):
    samples.registered(monkeypatch)
    found = changes.compare(samples.contract(), Version(1, 3), Version(1, 4))

    assert [str(one) for one in found] == [
        'POST /v1/things: response 201.thing.old is removed',
        'GET /v1/things/{identity}: response 200.thing.old is removed',
    ]


def test_same_version_twice_has_no_changes(monkeypatch):
    samples.registered(monkeypatch)
    contract = samples.contract()

    for version in contract.versions:
        assert changes.compare(contract, version, version) == []


def test_field_that_disappears_and_returns_is_an_alarm():
    both = type_schemas.closed({'a': TEXT, 'b': {'items': holding(TEXT)}})
    less = type_schemas.closed({'b': {'items': type_schemas.closed({})}})
    contract = samples.contract(samples.fixed(v1_0=both, v1_2=less, v1_4=both))

    assert [str(one) for one in changes.returned_parts(contract)] == [
        'GET /v1/x: response 200.a disappeared at 1.2 and returned at 1.4',
        'GET /v1/x: response 200.b[].a disappeared at 1.2 and returned at 1.4',
    ]


def test_operation_that_returns_is_one_alarm():
    schema = type_schemas.closed({'a': TEXT})
    contract = samples.contract(
        samples.fixed(v1_0=schema, v1_1=None, v1_3=schema)
    )

    assert [str(one) for one in changes.returned_parts(contract)] == [
        'GET /v1/x disappeared at 1.1 and returned at 1.3'
    ]


def test_what_only_comes_or_only_goes_is_no_alarm(monkeypatch):
    samples.registered(monkeypatch)

    assert changes.returned_parts(samples.contract()) == []
