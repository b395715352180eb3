# SPDX-License-Identifier: Apache-2.0
"""Callers without authentication, and rules of all strategies."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from oslo_config import cfg

from api import authentication, errors
from api import conf as api_conf
from tests.unit.api import conftest
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine

SPOOFED = {
    'X-User-Id': 'mallory',
    'X-Project-Id': 'other',
    'X-Roles': 'admin',
    'X-Auth-Token': 'secret',
}


def test_caller_when_headers_name_a_user_is_the_default_user(
    api: ApiClient, engine: FakeEngine
) -> None:
    api('GET', '/v1/clusters', headers=SPOOFED)
    caller, _ = engine.calls[-1]
    assert (caller.user_id, caller.project_id) == ('admin', 'admin')
    assert caller.auth_token is None


@pytest.mark.parametrize('address', ['127.0.0.1', '127.8.8.8', '::1', ''])
def test_request_when_local_is_accepted(api: ApiClient, address: str) -> None:
    local = {'REMOTE_ADDR': address}
    assert api('GET', '/v1/clusters', environ=local).status == 200


def test_request_when_remote_is_403_unless_configured(
    api: ApiClient, make_api: Callable[..., ApiClient]
) -> None:
    remote = {'REMOTE_ADDR': '192.0.2.7'}
    response = api('GET', '/v1/clusters', environ=remote)
    assert response.status == 403
    assert 'auth_strategy' in response.detail
    assert api('GET', '/v1', environ=remote).status == 200
    remote_api = make_api(none_beyond_loopback=True)
    assert remote_api('GET', '/v1/clusters', environ=remote).status == 200


def test_host_when_not_loopback_is_rejected_unless_configured() -> None:
    conf = conftest.make_conf(host='0.0.0.0')
    with pytest.raises(
        api_conf.InsecureConfiguration, match='none_beyond_loopback'
    ):
        api_conf.check(conf)
    api_conf.check(
        conftest.make_conf(host='0.0.0.0', none_beyond_loopback=True)
    )


def test_caller_when_unknown_is_401_before_the_body_is_read(
    make_api: Callable[..., ApiClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def strategy(conf: cfg.ConfigOpts) -> authentication.Authenticate:
        def reject(environ: object) -> None:
            raise errors.Unauthenticated('Test realm="here"')

        return reject

    monkeypatch.setattr(authentication, 'noauth', strategy)
    api = make_api()
    for path in ('/v1/profiles', '/v1/clusters/c/actions'):
        response = api('POST', path, raw=b'{"no JSON')
        assert response.status == 401
        assert response.headers['www-authenticate'] == 'Test realm="here"'
        assert response.json['error']['code'] == 401
    assert api('GET', '/v1/nothing').status == 404
    assert api('GET', '/v1').status == 200
    assert api('POST', '/v1/webhooks/w/trigger').status == 400
