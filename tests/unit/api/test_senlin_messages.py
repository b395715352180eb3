# SPDX-License-Identifier: Apache-2.0
"""``error.message`` has the wording of Senlin.

Automation that was written for Senlin compares the whole sentence. Other tests
check ``errors``, which has the place and the accepted values.
"""

from __future__ import annotations

from typing import Any

import pytest

from api import routes
from tests.unit.api.client import ApiClient, Response
from tests.unit.api.endpoints import LATEST
from tests.unit.api.fake_engine import FakeEngine
from vobjects.clustering import errors

TRUTH = (
    "Unrecognized value 'maybe', acceptable values are: '0', '1', 'f',"
    " 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"
)
NO_MAP = 'The data provided is not a map'


def message_of(response: Response) -> str:
    assert response.status == 400
    message: str = response.json['error']['message']
    assert response.detail != message
    assert response.json['explanation'] == response.detail
    return message


@pytest.mark.parametrize(
    ('query', 'message'),
    [
        ('limit=x', "The value for limit must be an integer: 'x'."),
        ('limit=-5', "Value must be >= 0 for field 'limit'."),
        ('marker=x', "The value for marker is not a valid UUID: 'x'."),
        ('sort=x', "Unsupported sort key 'x' for 'sort'."),
        ('sort=name:up', "Unsupported sort dir 'up' for 'sort'."),
        ('sort=name,', "Missing sort key for 'sort'."),
        ('status=BROKEN', 'Field value BROKEN is invalid'),
        (
            'global_project=maybe',
            "Invalid value 'maybe' specified for 'global_project'",
        ),
    ],
)
def test_query_value_when_wrong_has_the_message_of_senlin(
    api: ApiClient, query: str, message: str
) -> None:
    for path in ('/v1/clusters', '/v1/nodes'):
        assert (
            message_of(api('GET', f'{path}?{query}', version=LATEST))
            == message
        )


@pytest.mark.parametrize(
    ('path', 'message'),
    [
        ('/v1/clusters', "Invalid parameter 'bogus'"),
        ('/v1/clusters/x/policies', 'Invalid parameter bogus'),
        ('/v1/nodes', 'Invalid parameter bogus'),
    ],
)
def test_query_parameter_when_unknown_has_the_message_of_senlin(
    api: ApiClient, path: str, message: str
) -> None:
    assert message_of(api('GET', f'{path}?bogus=1', version=LATEST)) == message


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'profile_id': 'p'}, "'name' is a required property"),
        ({'name': 'c'}, "'profile_id' is a required property"),
        (
            {'name': 'c', 'profile_id': 'p', 'boo': 1},
            "Additional properties are not allowed ('boo' was unexpected)",
        ),
        (
            {'name': 'c', 'b': 1, 'a': 1},
            "Additional properties are not allowed ('a', 'b' were unexpected)",
        ),
        (
            {'name': '', 'profile_id': 'p'},
            'The value for the name field must be at least 1 characters long.',
        ),
        (
            {'name': 'x' * 256, 'profile_id': 'p'},
            'The value for the name field must be less than 255 characters'
            ' long.',
        ),
        (
            {'name': 'a b', 'profile_id': 'p'},
            "The value for the 'name' (a b) contains illegal characters. It"
            ' must contain only alphanumeric or "_-.~" characters and must'
            ' start with letter.',
        ),
        ({'name': None, 'profile_id': 'p'}, "Field `name' cannot be None"),
        ({'name': 'c', 'profile_id': 7}, "7 is not of type 'string'"),
        (
            {'name': 'c', 'profile_id': 'p', 'min_size': 'x'},
            "The value for min_size must be an integer: 'x'.",
        ),
        (
            {'name': 'c', 'profile_id': 'p', 'min_size': -1},
            'The value for the min_size field must be greater than or equal'
            ' to 0.',
        ),
        (
            {'name': 'c', 'profile_id': 'p', 'timeout': -1},
            "Value must be >= 0 for field 'timeout'.",
        ),
    ],
)
def test_field_when_wrong_has_the_message_of_senlin(
    api: ApiClient, fields: Any, message: str
) -> None:
    response = api('POST', '/v1/clusters', {'cluster': fields}, version=LATEST)
    assert message_of(response) == message


@pytest.mark.parametrize(
    ('body', 'message'),
    [
        (
            {'del_nodes': {}},
            "Value for 'nodes' must have at least 1 item(s).",
        ),
        (
            {'del_nodes': {'nodes': []}},
            "Value for 'nodes' must have at least 1 item(s).",
        ),
        (
            {'del_nodes': {'nodes': ['a', 'a']}},
            "Items for 'nodes' must be unique",
        ),
        (
            {'del_nodes': {'nodes': 7}},
            'A list is required in field nodes, not a int',
        ),
        (
            {'del_nodes': {'nodes': ['a'], 'destroy_after_deletion': 'maybe'}},
            TRUTH,
        ),
        (
            {'resize': {'adjustment_type': 'x', 'number': 1}},
            "Value 'x' is not acceptable for field 'adjustment_type'.",
        ),
        ({'replace_nodes': {}}, NO_MAP),
        ({'replace_nodes': {'nodes': []}}, NO_MAP),
        ({'check': []}, NO_MAP),
        ({'policy_attach': 'x'}, NO_MAP),
        ({}, 'No action specified'),
        ({'check': {}, 'recover': {}}, 'Multiple actions specified'),
        ({'bogus': {}}, "Unrecognized action 'bogus' specified"),
    ],
)
def test_action_of_a_cluster_when_wrong_has_the_message_of_senlin(
    api: ApiClient, body: Any, message: str
) -> None:
    path = routes.CLUSTER_ACTIONS.replace('{identity}', 'x')
    assert message_of(api('POST', path, body, version=LATEST)) == message


@pytest.mark.parametrize(
    ('path', 'body', 'message'),
    [
        ('actions', {}, 'No action specified.'),
        ('actions', {'a': {}, 'b': {}}, 'Multiple actions specified.'),
        ('actions', {'bogus': {}}, "Unrecognized action 'bogus' specified"),
        ('actions', {'check': []}, 'The params provided is not a map.'),
        ('ops', {}, 'No operation specified.'),
        ('ops', {'a': {}, 'b': {}}, 'Multiple operations specified.'),
    ],
)
def test_action_of_a_node_when_wrong_has_the_message_of_senlin(
    api: ApiClient, path: str, body: Any, message: str
) -> None:
    assert message_of(
        api('POST', f'/v1/nodes/x/{path}', body, version=LATEST)
    ) == (message)


@pytest.mark.parametrize(
    ('method', 'path', 'message'),
    [
        ('POST', '/v1/nodes', "Request body missing 'node' key."),
        (
            'PATCH',
            '/v1/nodes/x',
            "Malformed request data, missing 'node' key in request body.",
        ),
    ],
)
@pytest.mark.parametrize('body', [{}, {'bad': {}}])
def test_body_when_its_key_is_missing_has_the_message_of_senlin(
    api: ApiClient, method: str, path: str, message: str, body: Any
) -> None:
    assert message_of(api(method, path, body, version=LATEST)) == message


def test_force_when_no_truth_value_has_the_message_of_senlin(
    api: ApiClient,
) -> None:
    response = api('DELETE', '/v1/clusters/x', {'force': 'x'}, version='1.8')
    assert message_of(response) == "Invalid value 'x' specified for 'force'"


def test_field_when_of_a_later_version_names_that_version(
    strict_api: ApiClient,
) -> None:
    # Senlin ignores the field, so it has no message.
    response = strict_api(
        'DELETE', '/v1/clusters/x', {'force': True}, version='1.7'
    )
    assert "'force' needs API version 1.8" in response.json['error']['message']


def test_message_when_a_value_is_long_is_short_and_printable(
    api: ApiClient,
) -> None:
    fields = {'name': 'a\n' + 'x' * 200, 'profile_id': 'p'}
    response = api('POST', '/v1/clusters', {'cluster': fields}, version=LATEST)
    assert len(message_of(response)) < 300
    assert message_of(response).isprintable()


def test_error_when_of_an_engine_has_both_messages(
    api: ApiClient, engine: FakeEngine
) -> None:
    engine.error = errors.InvalidSpec('flavor: is so', 'Something is so')
    assert message_of(api('DELETE', '/v1/clusters/c')) == 'Something is so'
