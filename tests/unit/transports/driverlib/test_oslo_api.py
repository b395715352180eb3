# SPDX-License-Identifier: Apache-2.0
"""The private parts of oslo.messaging are as the drivers expect."""

from __future__ import annotations

import inspect
import json
import sys

import pytest

from oslo_messaging_driverlib import oslo_api
from oslo_messaging_embedded.driver import EmbeddedDriver
from oslo_messaging_embedded.listener import Listener as EmbeddedListener
from oslo_messaging_embedded.peer import IncomingMessage as EmbeddedMessage
from oslo_messaging_pyamqp.driver import PyAmqpDriver
from oslo_messaging_pyamqp.listener import IncomingMessage, Listener
from oslo_messaging_pyamqp.notifications import (
    Notification,
    NotificationListener,
)


def public_methods(cls: type) -> dict[str, list[str]]:
    """Return the public methods of a class and their parameters."""
    return {
        name: [*inspect.signature(method).parameters]
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith('_')
    }


@pytest.mark.parametrize(
    ('base', 'ours'),
    [
        (oslo_api.BaseDriver, EmbeddedDriver),
        (oslo_api.BaseDriver, PyAmqpDriver),
        (oslo_api.Listener, EmbeddedListener),
        (oslo_api.Listener, Listener),
        (oslo_api.RpcIncomingMessage, EmbeddedMessage),
        (oslo_api.RpcIncomingMessage, IncomingMessage),
        (oslo_api.RpcIncomingMessage, Notification),
    ],
)
def test_class_implements_each_method_of_its_base(
    base: type, ours: type
) -> None:
    methods = public_methods(ours)
    for name, parameters in public_methods(base).items():
        if name != 'require_features':  # the base class rejects requeueing
            assert getattr(ours, name) is not getattr(base, name), name
        assert methods[name] == parameters, name


def test_base_classes_have_no_other_methods() -> None:
    assert {*public_methods(oslo_api.BaseDriver)} == {
        *('cleanup', 'listen', 'listen_for_notifications'),
        *('require_features', 'send', 'send_notification'),
    }
    listener = {'cleanup', 'start', 'stop'}
    assert {*public_methods(oslo_api.Listener)} == listener
    assert {*public_methods(oslo_api.PollStyleListenerAdapter)} == listener
    poll_style = {'cleanup', 'poll', 'stop'}
    assert {*public_methods(oslo_api.PollStyleListener)} == poll_style
    assert {*public_methods(NotificationListener)} == poll_style
    assert {*public_methods(oslo_api.RpcIncomingMessage)} == {
        *('acknowledge', 'heartbeat', 'reply', 'requeue')
    }


def test_remote_errors_have_the_known_description() -> None:
    try:
        raise LookupError('gone')
    except LookupError:
        text = oslo_api.serialize_remote_exception(sys.exc_info())
    content = json.loads(text)
    assert content.keys() == {
        *('args', 'class', 'kwargs', 'message', 'module', 'tb')
    }
    assert (content['class'], content['args']) == ('LookupError', ['gone'])
    error = oslo_api.deserialize_remote_exception(text, [])
    assert isinstance(error, LookupError)
