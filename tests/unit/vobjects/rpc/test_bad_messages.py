# SPDX-License-Identifier: Apache-2.0
"""Endpoints reject messages that no client of this library sends."""

from __future__ import annotations

from typing import Any

import oslo_messaging
import pytest

from vobjects import fields, objects
from vobjects.objects.manifest import local
from vobjects.rpc import serializer, server


@objects.register
class MessageRequest(objects.Request):
    fields = {'name': fields.StringField()}


class Worker:
    @server.handles(MessageRequest)
    def work(self, context: Any, request: Any) -> None:
        raise AssertionError('the message was handled')


READER = {'digest': local().digest}


@pytest.mark.parametrize(
    ('context', 'request_', 'reader'),
    [
        *(
            ({}, text, READER)
            for text in (
                *('', '{', '1', '"a"', 'null', '[]', '[' * 100_000),
                *('\ud800', '\ufeff{}', '{"a": ' + '9' * 5000 + '}'),
                *(None, 5, b'{}', {}, ['{}']),
            )
        ),
        *((context, '{}', READER) for context in (None, [], 'a', 5)),
        *(({}, '{}', reader) for reader in (None, [], 'a', {}, {'a': 1})),
        *(
            ({}, '{}', {**READER, key: value})
            for key, values in {
                'digest': (None, 5, [], {}),
                'call': (None, 5, [], {}),
                'manifest': (None, 5, 'a', []),
                'text': (
                    *(None, 5, 'a', [], {}),
                    {'versions': {}},
                    {'versions': [], 'part': ''},
                    {'versions': {}, 'part': None},
                ),
            }.items()
            for value in values
        ),
    ],
)
def test_perform_when_the_message_has_no_request_rejects_it(
    context: Any, request_: Any, reader: Any
) -> None:
    endpoint = server.Endpoint([Worker()], manifest=local())
    with pytest.raises(oslo_messaging.ExpectedException):
        endpoint.perform(context, request_, reader)


@pytest.mark.parametrize('versions', [{'a': 1}, {'a': []}, {'a': 'b'}])
def test_perform_when_the_versions_are_no_manifest_rejects_it(
    versions: Any,
) -> None:
    endpoint = server.Endpoint([Worker()], manifest=local())
    request = serializer.to_bytes(MessageRequest(name='a'), None)
    for reader in (
        {**READER, 'text': {'versions': versions, 'part': ''}},
        {'digest': 'x', 'manifest': versions},
    ):
        with pytest.raises(oslo_messaging.ExpectedException):
            endpoint.perform({}, request.decode(), reader)
