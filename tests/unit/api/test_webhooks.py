# SPDX-License-Identifier: Apache-2.0
"""Query and body of a webhook trigger, at each microversion."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.api.client import ApiClient, Response
from tests.unit.api.fake_engine import FakeEngine

RECEIVER = {
    'receiver': {
        'name': 'hook',
        'type': 'webhook',
        'cluster_id': 'c',
        'action': 'CLUSTER_SCALE_OUT',
    }
}


def trigger(
    api: ApiClient, query: str, body: Any = None, version: str = ''
) -> Response:
    created = api('POST', '/v1/receivers', RECEIVER, version='1.14')
    identity = created.json['receiver']['id']
    return api(
        'POST',
        f'/v1/webhooks/{identity}/trigger',
        raw=b'' if body is None else json.dumps(body).encode(),
        version=version or None,
        environ={'QUERY_STRING': query},
    )


@pytest.mark.parametrize(
    ('version', 'query', 'body', 'params', 'rest'),
    [
        ('1.0', 'V=2&count=2', None, {'count': '2'}, {}),
        ('1.9', 'V=2&count=2', {'x': 1}, {'count': '2'}, {'x': 1}),
        ('1.0', 'V=1', {'params': {'count': 3}}, {'count': 3}, {}),
        ('1.0', 'V=1&count=2', None, {'count': '2'}, {}),
        ('1.10', 'V=2&count=2', None, {}, {}),
        ('1.14', 'V=1', {'count': 3}, {}, {'count': 3}),
    ],
)
def test_parameters_when_triggered_come_from_query_or_body(
    api: ApiClient,
    engine: FakeEngine,
    version: str,
    query: str,
    body: Any,
    params: dict[str, Any],
    rest: dict[str, Any],
) -> None:
    response = trigger(api, query, body, version)
    assert response.status == 202
    assert response.headers['location'].endswith(response.json['action'])
    assert engine.last_request.params == params
    assert engine.last_request.body == rest


def test_webhook_when_triggered_has_no_user(
    api: ApiClient, engine: FakeEngine
) -> None:
    assert trigger(api, 'V=2').status == 202
    context, _ = engine.calls[-1]
    assert (context.user_id, context.project_id) == (None, None)
    assert context.roles == []


@pytest.mark.parametrize(
    ('query', 'body', 'expected'),
    [
        ('', None, 'V query parameter is required'),
        ('V=3', None, 'must be one of 1, 2'),
        ('V=1&V=1', None, 'query.V: is given more than once'),
        ('V=2&a-b=1&a-b=1', None, "query['a-b']: is given more than once"),
        ('V=1', {'params': []}, 'body.params: must be a JSON object'),
    ],
)
def test_call_when_malformed_is_400(
    api: ApiClient, query: str, body: Any, expected: str
) -> None:
    response = trigger(api, query, body)
    assert response.status == 400
    assert expected in response.detail


def test_receiver_when_created_gets_the_url_of_the_api(api: ApiClient) -> None:
    created = api('POST', '/v1/receivers', RECEIVER, version='1.14')
    assert created.status == 201
    url = created.json['receiver']['channel']['alarm_url']
    assert url.startswith('http://')
    forged = {'receiver': {**RECEIVER['receiver'], 'endpoint': 'http://evil'}}
    rejected = api('POST', '/v1/receivers', forged, version='1.14')
    assert rejected.status == 400
    assert 'body.receiver.endpoint: unknown' in rejected.detail
