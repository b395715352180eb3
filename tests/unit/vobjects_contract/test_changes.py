# SPDX-License-Identifier: Apache-2.0
"""Changes between two microversions, and whether they break clients."""

import pytest

from tests.unit.vobjects_contract import samples
from vobjects.versions import Version
from vobjects_contract import changes, type_schemas
from vobjects_contract.registry import Operation, OperationShape

OLD, NEW = Version(1, 0), Version(1, 1)
TEXT = {'type': 'string'}


def changes_of(old, new):
    """Return the changes of one schema, as a request and as a response."""

    def shape_at(version):
        schema = old if version == OLD else new
        return OperationShape(
            path={},
            query=type_schemas.closed({}),
            body=schema,
            responses={200: schema},
        )

    reported = changes.compare(
        samples.contract(Operation('PUT', '/v1/x', shape_at)), OLD, NEW
    )
    return [
        [
            (
                change.location.partition('.')[2],
                change.description,
                change.breaking,
            )
            for change in reported
            if change.location.startswith(part)
        ]
        for part in ('body', 'response 200')
    ]


def in_property(schema):
    return type_schemas.closed({'a': schema}, ['a'])


#: Location -> function that puts a schema there.
WRAPPERS = {
    '.a': in_property,
    '.a[]': lambda inner: in_property({'items': inner}),
    '.*': lambda inner: {'additionalProperties': inner},
    '.<^x>': lambda inner: {
        'patternProperties': {'^x': inner},
        'additionalProperties': False,
    },
    '[1]': lambda inner: {'prefixItems': [TEXT, inner]},
    '': lambda inner: {'anyOf': [{'type': 'null'}, inner]},
    '.b': lambda inner: {'allOf': [{'properties': {'b': inner}}]},
}


@pytest.mark.parametrize('location', WRAPPERS)
def test_change_of_a_nested_schema_is_reported_with_its_location(location):
    wrap = WRAPPERS[location]
    schemas = wrap({'maximum': 1}), wrap({'maximum': 2})

    def shape_at(version):
        return make_shape(responses={200: schemas[version == NEW]})

    reported = changes.compare(
        samples.contract(Operation('GET', '/v1/x', shape_at)), OLD, NEW
    )

    assert [str(change) for change in reported] == [
        f'GET /v1/x: response 200{location} has maximum 2 now'
    ]


@pytest.mark.parametrize(
    ('old', 'new', 'description', 'breaking'),
    [
        ({'required': ['a']}, {}, 'is optional now', False),
        ({}, {'required': ['a']}, 'is required now', True),
    ],
)
def test_required_name_without_a_schema_is_reported(
    old, new, description, breaking
):
    request, _response = changes_of(
        {'anyOf': [TEXT, old]}, {'anyOf': [TEXT, new]}
    )

    assert request == [('a', description, breaking)]


def test_changed_schema_of_a_path_or_a_header_is_reported():
    old = make_shape(path={'id': TEXT}, headers={200: {'Location': TEXT}})
    short = {**TEXT, 'maxLength': 9}
    new = make_shape(path={'id': short}, headers={200: {'Location': short}})
    operation = Operation(
        'GET', '/v1/x/{id}', lambda version: old if version == OLD else new
    )

    reported = changes.compare(samples.contract(operation), OLD, NEW)

    assert [(change.location, change.breaking) for change in reported] == [
        ('path.id', True),
        ('response 200.Location', False),
    ]


def test_subject_of_an_unnamed_part_is_its_container():
    location = 'response 200.things[].*'

    assert (
        changes.ContractChange('GET /v1/x', location, '', False).subject
        == 'things'
    )


def test_added_pattern_is_compared_with_additional_properties():
    old = {'additionalProperties': False}
    new = {**old, 'patternProperties': {'': TEXT}}

    assert changes_of(old, new) == [
        [('*', 'is allowed now', False)],
        [('*', 'is allowed now', True)],
    ]


@pytest.mark.parametrize(
    ('old', 'new', 'description', 'breaks'),
    [
        # Accepts more: breaks readers of responses.
        (TEXT, {'type': ['string', 'null']}, 'may be null', 'response'),
        ({'type': 'integer'}, {'type': 'number'}, 'may be number', 'response'),
        ({'enum': ['a']}, {'enum': ['a', 'b']}, 'may be b', 'response'),
        ({'enum': ['a']}, {}, 'has any value', 'response'),
        ({'minimum': 1}, {'minimum': 0}, 'has minimum 0', 'response'),
        ({'maximum': 1}, {'maximum': 2}, 'has maximum 2', 'response'),
        ({'maxLength': 1}, {}, 'has no maxLength', 'response'),
        ({'pattern': 'a'}, {}, 'has a different pattern', 'response'),
        ({'anyOf': [TEXT]}, {'anyOf': [TEXT, {}]}, 'anyOf', 'response'),
        # Accepts less: breaks senders of requests.
        ({'type': ['string', 'null']}, TEXT, 'no longer null', 'request'),
        ({'enum': ['a', 'b']}, {'enum': ['a']}, 'no longer b', 'request'),
        ({}, {'enum': ['a']}, 'only some values', 'request'),
        ({'minItems': 0}, {'minItems': 1}, 'has minItems 1', 'request'),
        ({}, {'maximum': 1}, 'has maximum 1', 'request'),
        ({}, {'format': 'uuid'}, 'has a different format', 'request'),
        ({}, TEXT, 'may be string now', 'request'),
        (TEXT, {}, 'may be of any type now', 'response'),
        (True, TEXT, 'may be string now', 'request'),
        (False, TEXT, 'is allowed now', 'response'),
        (TEXT, False, 'is no longer allowed', 'request'),
        ({'anyOf': [TEXT]}, {}, 'anyOf', 'response'),
        ({}, {'anyOf': [TEXT]}, 'anyOf', 'request'),
        ({'allOf': [TEXT]}, {'allOf': [TEXT, {}]}, 'allOf', 'request'),
        ({'oneOf': [{}, TEXT]}, {'oneOf': [TEXT]}, 'oneOf', 'request'),
        ({}, {'uniqueItems': True}, 'has a different uniqueItems', 'request'),
        # Unknown: counts as breaking.
        ({'anyOf': [{}, TEXT]}, {'anyOf': [{'type': 'null'}]}, 'anyOf',
         'both'),
        ({'not': {}}, {'not': TEXT}, 'a different not', 'both'),
        ({'if': {}, 'then': {}}, {'if': {}, 'then': TEXT}, 'a different then',
         'both'),
        ({'$ref': '#/a'}, {'$ref': '#/b'}, 'a different $ref', 'both'),
        ({'pattern': 'a'}, {'pattern': 'b'}, 'a different pattern', 'both'),
    ],
)  # fmt: skip
def test_changed_schema_breaks_requests_or_responses(
    old, new, description, breaks
):
    for wrap in WRAPPERS.values():
        request, response = changes_of(wrap(old), wrap(new))

        assert len(request) == len(response) == 1
        assert description in request[0][1]
        assert request[0][2] is (breaks in ('request', 'both'))
        assert response[0][2] is (breaks in ('response', 'both'))


@pytest.mark.parametrize(
    ('old', 'new', 'request_', 'response'),
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
            ('a', 'is always present now', False),
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
def test_changed_property_is_reported(old, new, request_, response):
    assert changes_of(old, new) == [[request_], [response]]


def test_number_that_becomes_an_integer_accepts_less():
    request, response = changes_of(
        in_property({'type': 'number'}), in_property({'type': 'integer'})
    )

    assert request == [('a', 'is no longer number', True)]
    assert response == [('a', 'is no longer number', False)]


def make_shape(**parts):
    values = {'path': {}, 'query': type_schemas.closed({}), 'body': None,
              'responses': {200: TEXT}}  # fmt: skip
    return OperationShape(**{**values, **parts})


@pytest.mark.parametrize(
    ('old', 'new', 'location', 'description', 'breaking'),
    [
        (None, make_shape(), '', 'is added', False),
        (make_shape(), None, '', 'is removed', True),
        (
            make_shape(),
            make_shape(responses={200: TEXT, 409: TEXT}),
            'response 409',
            'is added',
            False,
        ),
        (
            make_shape(responses={200: TEXT, 201: TEXT}),
            make_shape(),
            'response 201',
            'is removed',
            True,
        ),
        (
            make_shape(responses={200: TEXT, 409: TEXT}),
            make_shape(),
            'response 409',
            'is removed',
            False,
        ),
        (
            make_shape(),
            make_shape(responses={200: None}),
            'response 200',
            'no longer has a body',
            True,
        ),
        (
            make_shape(),
            make_shape(headers={200: {'Location': TEXT}}),
            'response 200',
            'has header Location now',
            False,
        ),
        (
            make_shape(headers={200: {'Location': TEXT}}),
            make_shape(),
            'response 200',
            'lacks header Location now',
            True,
        ),
        (make_shape(), make_shape(body=TEXT), 'body', 'is read now', True),
        (
            make_shape(),
            make_shape(body=TEXT, body_required=False),
            'body',
            'is read now',
            False,
        ),
        (
            make_shape(body=TEXT),
            make_shape(),
            'body',
            'is no longer read',
            True,
        ),
        (
            make_shape(body=TEXT),
            make_shape(body=TEXT, body_required=False),
            'body',
            'is optional now',
            False,
        ),
        (
            make_shape(),
            make_shape(query=type_schemas.closed({'limit': TEXT})),
            'query.limit',
            'is added',
            False,
        ),
    ],
)
def test_changed_shape_is_reported(old, new, location, description, breaking):
    operation = Operation(
        'GET', '/v1/x', lambda version: old if version == OLD else new
    )
    reported = changes.compare(samples.contract(operation), OLD, NEW)

    assert reported == [
        changes.ContractChange('GET /v1/x', location, description, breaking)
    ]


def test_changed_type_is_reported_for_every_operation(
    monkeypatch,
):
    samples.register_types(monkeypatch)
    reported = changes.compare(
        samples.contract(), Version(1, 3), Version(1, 4)
    )

    assert [str(change) for change in reported] == [
        'POST /v1/things: response 201.thing.old is removed',
        'GET /v1/things/{identity}: response 200.thing.old is removed',
    ]


def test_same_version_twice_has_no_changes(monkeypatch):
    samples.register_types(monkeypatch)
    contract = samples.contract()

    for version in contract.versions:
        assert changes.compare(contract, version, version) == []


def test_field_that_disappears_and_returns_is_an_alarm():
    both = type_schemas.closed({'a': TEXT, 'b': {'items': in_property(TEXT)}})
    less = type_schemas.closed({'b': {'items': type_schemas.closed({})}})
    contract = samples.contract(samples.fixed(v1_0=both, v1_2=less, v1_4=both))

    assert [str(change) for change in changes.returned_parts(contract)] == [
        'GET /v1/x: response 200.a disappeared at 1.2 and returned at 1.4',
        'GET /v1/x: response 200.b[].a disappeared at 1.2 and returned at 1.4',
    ]


def test_operation_that_returns_is_one_alarm():
    schema = type_schemas.closed({'a': TEXT})
    contract = samples.contract(
        samples.fixed(v1_0=schema, v1_1=None, v1_3=schema)
    )

    assert [str(change) for change in changes.returned_parts(contract)] == [
        'GET /v1/x disappeared at 1.1 and returned at 1.3'
    ]


def test_part_that_does_not_return_is_no_alarm(monkeypatch):
    samples.register_types(monkeypatch)

    assert changes.returned_parts(samples.contract()) == []
