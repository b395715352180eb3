# SPDX-License-Identifier: Apache-2.0
"""The query and the body of a webhook's call, at each microversion."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.api import http, memory

RECEIVER = {
    'receiver': {
        'name': 'hook',
        'type': 'webhook',
        'cluster_id': 'c',
        'action': 'CLUSTER_SCALE_OUT',
    }
}


def call(
    api: http.Api, query: str, body: Any = None, version: str = ''
) -> http.Answer:
    made = api('POST', '/v1/receivers', RECEIVER, version='1.14')
    identity = made.json['receiver']['id']
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
def test_parameters_are_where_the_microversion_has_them(
    api: http.Api,
    engine: memory.Engine,
    version: str,
    query: str,
    body: Any,
    params: dict[str, Any],
    rest: dict[str, Any],
) -> None:
    answer = call(api, query, body, version)
    assert answer.status == 202
    assert answer.headers['location'].endswith(answer.json['action'])
    assert engine.asked.params == params
    assert engine.asked.body == rest


def test_webhook_is_called_by_nobody(
    api: http.Api, engine: memory.Engine
) -> None:
    assert call(api, 'V=2').status == 202
    context, _ = engine.seen[-1]
    assert (context.user_id, context.project_id) == (None, None)
    assert context.roles == []


@pytest.mark.parametrize(
    ('query', 'body', 'says'),
    [
        ('', None, 'V query parameter is required'),
        ('V=3', None, 'must be one of 1, 2'),
        ('V=1&V=1', None, 'query.V: is given more than once'),
        ('V=2&a-b=1&a-b=1', None, "query['a-b']: is given more than once"),
        ('V=1', {'params': []}, 'body.params: must be a JSON object'),
    ],
)
def test_call_that_is_no_webhooks_is_refused(
    api: http.Api, query: str, body: Any, says: str
) -> None:
    answer = call(api, query, body)
    assert answer.status == 400
    assert says in answer.detail


def test_receiver_is_told_where_the_api_is(api: http.Api) -> None:
    made = api('POST', '/v1/receivers', RECEIVER, version='1.14')
    assert made.status == 201
    url = made.json['receiver']['channel']['alarm_url']
    assert url.startswith('http://')
    given = {'receiver': {**RECEIVER['receiver'], 'endpoint': 'http://evil'}}
    refused = api('POST', '/v1/receivers', given, version='1.14')
    assert refused.status == 400
    assert 'body.receiver.endpoint: unknown' in refused.detail
