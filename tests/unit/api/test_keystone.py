# SPDX-License-Identifier: Apache-2.0
"""The token cache and the configuration of Keystone.

Functional tests validate tokens with a real Keystone.
"""

from __future__ import annotations

import logging

import pytest

from api import app, keystone
from tests.unit.api import conftest
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet


def test_cache_when_an_entry_expires_drops_it() -> None:
    now = [0.0]
    cache = keystone.TokenCache(clock=lambda: now[0])
    assert cache.get('a') is None
    cache.set('a', b'1', time=10)
    cache.set('a', b'2', time=10)
    assert cache.get('a') == b'2'
    now[0] = 10
    assert cache.get('a') is None


def test_cache_when_full_drops_the_oldest_entry() -> None:
    cache = keystone.TokenCache(max_entries=2, clock=lambda: 0.0)
    for key in ('a', 'b', 'a', 'c'):
        cache.set(key, key.encode(), time=1)
    assert [cache.get(key) for key in ('a', 'b', 'c')] == [b'a', None, b'c']


@pytest.mark.parametrize(
    ('values', 'expected'),
    [
        ({}, 'auth_type'),
        ({'auth_type': 'password'}, 'auth_url'),
        ({'auth_type': 'magic'}, 'magic'),
        ({'auth_type': 'none'}, 'www_authenticate_uri'),
    ],
)
def test_configuration_when_incomplete_is_rejected(
    values: dict[str, str], expected: str
) -> None:
    conf = conftest.make_conf(auth_strategy='keystone')
    with pytest.raises(keystone.InvalidKeystoneConfig):
        keystone.check(conf)
    for name, value in values.items():
        conf.set_override(name, value, keystone.GROUP)
    with pytest.raises(keystone.InvalidKeystoneConfig, match=expected):
        keystone.check(conf)


def test_token_when_keystone_is_unavailable_is_503(
    engine: FakeEngine, fleet: FakeFleet, caplog: pytest.LogCaptureFixture
) -> None:
    conf = conftest.make_conf(auth_strategy='keystone')
    with pytest.raises(keystone.InvalidKeystoneConfig):
        keystone.check(conf)  # registers the options
    nowhere = 'http://127.0.0.1:1/v3'
    for name, value in {
        'auth_type': 'v3token',
        'www_authenticate_uri': nowhere,
        'http_request_max_retries': 0,
    }.items():
        conf.set_override(name, value, keystone.GROUP)
    with pytest.raises(keystone.InvalidKeystoneConfig):
        app.build(conf, engine, fleet)
    conf.set_override('auth_url', nowhere, keystone.GROUP)
    conf.set_override('token', 'ours', keystone.GROUP)
    api = ApiClient(app.build(conf, engine, fleet))

    with caplog.at_level(logging.CRITICAL + 1):
        response = api(
            'GET', '/v1/clusters', headers={'X-Auth-Token': 'secret'}
        )
    assert response.status == 503
    assert response.headers['retry-after']
    assert 'secret' not in caplog.text
    # Without a token, the API sends no request to Keystone.
    assert api('GET', '/v1/clusters').status == 401
    assert api('GET', '/v1').status == 200
