# SPDX-License-Identifier: Apache-2.0
"""Tokens: what is remembered of them, and what it takes to check them.

That they are checked is seen with a real Keystone, in the functional tests.
"""

from __future__ import annotations

import logging

import pytest

from api import app, keystone
from tests.unit.api import client, conftest, fake_engine


def test_cache_keeps_what_is_young() -> None:
    now = [0.0]
    cache = keystone.TokenCache(clock=lambda: now[0])
    assert cache.get('a') is None
    cache.set('a', b'1', time=10)
    cache.set('a', b'2', time=10)
    assert cache.get('a') == b'2'
    now[0] = 10
    assert cache.get('a') is None


def test_cache_forgets_the_oldest_when_it_is_full() -> None:
    cache = keystone.TokenCache(max_entries=2, clock=lambda: 0.0)
    for key in ('a', 'b', 'a', 'c'):
        cache.set(key, key.encode(), time=1)
    assert [cache.get(key) for key in ('a', 'b', 'c')] == [b'a', None, b'c']


@pytest.mark.parametrize(
    ('values', 'says'),
    [
        ({}, 'auth_type'),
        ({'auth_type': 'password'}, 'auth_url'),
        ({'auth_type': 'magic'}, 'magic'),
        ({'auth_type': 'none'}, 'www_authenticate_uri'),
    ],
)
def test_configuration_that_cannot_check_is_refused(
    values: dict[str, str], says: str
) -> None:
    conf = conftest.make_conf(auth_strategy='keystone')
    with pytest.raises(keystone.InvalidKeystoneConfig):
        keystone.check(conf)
    for name, value in values.items():
        conf.set_override(name, value, keystone.GROUP)
    with pytest.raises(keystone.InvalidKeystoneConfig, match=says):
        keystone.check(conf)


def test_keystone_that_is_away_is_told_from_a_bad_token(
    engine: fake_engine.FakeEngine,
    fleet: fake_engine.FakeFleet,
    caplog: pytest.LogCaptureFixture,
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
    api = client.ApiClient(app.build(conf, engine, fleet))

    with caplog.at_level(logging.CRITICAL + 1):
        response = api(
            'GET', '/v1/clusters', headers={'X-Auth-Token': 'secret'}
        )
    assert response.status == 503
    assert response.headers['retry-after']
    assert 'secret' not in caplog.text
    # No token, no question.
    assert api('GET', '/v1/clusters').status == 401
    assert api('GET', '/v1').status == 200
