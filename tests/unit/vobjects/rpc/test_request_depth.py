# SPDX-License-Identifier: Apache-2.0
"""Requests with deeply nested data."""

from __future__ import annotations

from typing import Any

import oslo_messaging
import pytest

import vobjects
from vobjects import fields, json_depth
from vobjects.objects import manifest
from vobjects.objects.codec import json_text
from vobjects.rpc import serializer, server


@vobjects.register
class DepthRequest(vobjects.Request):
    """A request with data of a user."""

    fields = {'params': fields.JsonField()}


class Handlers:
    """Returns the data of a request."""

    @server.handles(DepthRequest)
    def handle(self, context: Any, request: Any) -> Any:
        return request.params


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {'a': value}
    return value


@pytest.fixture
def endpoint() -> server.Endpoint:
    return server.Endpoint([Handlers()], manifest=manifest.local())


def reader() -> dict[str, Any]:
    return {'digest': manifest.local().digest}


def test_request_when_as_deep_as_a_body_is_answered(
    endpoint: server.Endpoint,
) -> None:
    params = nested(json_depth.MAX_DEPTH)
    request = serializer.to_bytes(DepthRequest(params=params), None)
    response = endpoint.perform({}, request.decode(), reader())
    assert json_text.loads(response.encode()) == params


@pytest.mark.parametrize('depth', [server.MAX_DEPTH, 300, 500, 900])
def test_request_when_too_deep_is_rejected(
    endpoint: server.Endpoint, depth: int
) -> None:
    text = serializer.to_bytes(DepthRequest(params={'a': 1}), None)
    deep = text.replace(b'{"a":1}', b'{"a":' * depth + b'1' + b'}' * depth)
    with pytest.raises(oslo_messaging.ExpectedException) as caught:
        endpoint.perform({}, deep.decode(), reader())
    error = caught.value.exc_info[1]
    assert isinstance(error, vobjects.exceptions.ConversionError)
    assert 'nested more than 128 deep' in str(error)
