# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from oslo_messaging._drivers import common

from vobjects.clustering import errors


@pytest.mark.parametrize(
    ('given', 'message', 'said'),
    [
        (('ours',), 'ours', ''),
        (('ours', 'theirs'), 'ours', 'theirs'),
        (('ours', 'theirs', 'of a newer release'), 'ours', 'theirs'),
    ],
)
def test_refusal_is_the_same_on_the_other_side_of_the_bus(
    given: tuple[str, ...], message: str, said: str
) -> None:
    sent = json.loads(
        common.serialize_remote_exception(
            (None, errors.InvalidSpec(message), None)
        )
    )
    sent['args'] = given
    received = common.deserialize_remote_exception(
        json.dumps(sent), [errors.__name__]
    )
    assert isinstance(received, errors.InvalidSpec)
    assert (str(received).splitlines()[0], received.compat_message) == (
        message,
        said,
    )
