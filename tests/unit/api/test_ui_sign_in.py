# SPDX-License-Identifier: Apache-2.0
"""``POST /ui/session`` without Keystone; functional tests have a real one."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from api import app, keystone, ui
from tests.unit.api import client, conftest
from tests.unit.api.client import Response
from tests.unit.api.fake_engine import FakeEngine, FakeFleet

NOWHERE = 'http://127.0.0.1:1/v3'

GOOD = {'user': 'alice', 'password': 'secret'}


@pytest.fixture
def application(engine: FakeEngine, fleet: FakeFleet) -> Any:
    conf = conftest.make_conf(auth_strategy='keystone')
    with pytest.raises(keystone.InvalidKeystoneConfig):
        keystone.check(conf)  # registers the options
    conf.set_override('auth_type', 'v3token', keystone.GROUP)
    with pytest.raises(keystone.InvalidKeystoneConfig):
        keystone.check(conf)  # registers those of the plugin
    for name, value in {
        'auth_url': NOWHERE,
        'token': 'ours',
        'www_authenticate_uri': NOWHERE,
        'http_request_max_retries': 0,
    }.items():
        conf.set_override(name, value, keystone.GROUP)
    return app.build(conf, engine, fleet)


def post(
    application: Any, body: Any, headers: dict[str, str] | None = None
) -> Response:
    return client.call(
        application,
        'POST',
        ui.SESSION_PATH,
        json.dumps(body).encode(),
        {'Content-Type': 'application/json', **(headers or {})},
    )


@pytest.mark.parametrize(
    ('body', 'expected'),
    [
        ([], 'must be a JSON object'),
        ({}, 'body.user'),
        ({'user': 'alice'}, 'body.password'),
        ({'user': 'alice', 'password': ''}, 'body.password'),
        ({**GOOD, 'user': 1}, 'body.user: must be a string'),
        ({**GOOD, 'project': ['web']}, 'body.project: must be a string'),
        ({**GOOD, 'password': 'x' * 5000}, 'at most 4096'),
        ({**GOOD, 'token': 'x'}, 'may have only'),
    ],
)
def test_sign_in_when_the_body_is_invalid_is_400(
    application: Any, body: Any, expected: str
) -> None:
    response = post(application, body)
    assert response.status == 400
    assert expected in response.detail


def test_sign_in_when_the_body_is_too_large_is_413(application: Any) -> None:
    assert post(application, {**GOOD, 'user': 'x' * 70000}).status == 413


def test_sign_in_when_keystone_is_unavailable_is_503(
    application: Any, caplog: pytest.LogCaptureFixture
) -> None:
    response = post(application, GOOD)
    assert response.status == 503
    assert response.headers['retry-after']
    assert GOOD['password'] not in caplog.text


@pytest.mark.parametrize('method', ['POST', 'DELETE'])
def test_sign_in_when_sent_by_a_page_of_another_site_is_403(
    application: Any, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.CRITICAL + 1):
        response = client.call(
            application,
            method,
            ui.SESSION_PATH,
            json.dumps(GOOD).encode(),
            {
                'Content-Type': 'application/json',
                'Origin': 'https://evil.example',
            },
        )
    assert response.status == 403
    assert response.code == 'clustering.cross-origin'


def test_session_when_nobody_is_signed_in_is_401(application: Any) -> None:
    response = client.call(application, 'GET', ui.SESSION_PATH)
    assert response.status == 401
    assert response.headers['www-authenticate'].startswith('Keystone')
    assert client.call(application, 'GET', '/ui').status == 200
