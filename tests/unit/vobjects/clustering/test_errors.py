# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from oslo_messaging._drivers import common

from vobjects.clustering import errors


@pytest.mark.parametrize(
    ('arguments', 'message', 'compat_message'),
    [
        (('ours',), 'ours', ''),
        (('ours', 'theirs'), 'ours', 'theirs'),
        (('ours', 'theirs', 'of a newer release'), 'ours', 'theirs'),
    ],
)
def test_error_when_deserialized_has_its_messages(
    arguments: tuple[str, ...], message: str, compat_message: str
) -> None:
    sent = json.loads(
        common.serialize_remote_exception(
            (None, errors.InvalidSpec(message), None)
        )
    )
    sent['args'] = arguments
    received = common.deserialize_remote_exception(
        json.dumps(sent), [errors.__name__]
    )
    assert isinstance(received, errors.InvalidSpec)
    assert (str(received).splitlines()[0], received.compat_message) == (
        message,
        compat_message,
    )
