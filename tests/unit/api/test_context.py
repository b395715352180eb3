# SPDX-License-Identifier: Apache-2.0
"""Who asks, where nobody is authenticated; what every strategy shares."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from oslo_config import cfg

from api import conf as api_conf
from api import context, errors
from tests.unit.api import client, conftest, fake_engine

SPOOFED = {
    'X-User-Id': 'mallory',
    'X-Project-Id': 'other',
    'X-Roles': 'admin',
    'X-Auth-Token': 'secret',
}


def test_everybody_is_the_default_user_whatever_headers_say(
    api: client.ApiClient, engine: fake_engine.FakeEngine
) -> None:
    api('GET', '/v1/clusters', headers=SPOOFED)
    caller, _ = engine.calls[-1]
    assert (caller.user_id, caller.project_id) == ('admin', 'admin')
    assert caller.auth_token is None


@pytest.mark.parametrize('address', ['127.0.0.1', '127.8.8.8', '::1', ''])
def test_request_from_this_machine_is_served(
    api: client.ApiClient, address: str
) -> None:
    near = {'REMOTE_ADDR': address}
    assert api('GET', '/v1/clusters', environ=near).status == 200


def test_request_from_elsewhere_is_refused_unless_that_is_wanted(
    api: client.ApiClient, make_api: Callable[..., client.ApiClient]
) -> None:
    far = {'REMOTE_ADDR': '192.0.2.7'}
    refused = api('GET', '/v1/clusters', environ=far)
    assert refused.status == 403
    assert 'auth_strategy' in refused.detail
    assert api('GET', '/v1', environ=far).status == 200
    opened = make_api(none_beyond_loopback=True)
    assert opened('GET', '/v1/clusters', environ=far).status == 200


def test_address_for_strangers_is_refused_unless_that_is_wanted() -> None:
    conf = conftest.make_conf(host='0.0.0.0')
    with pytest.raises(
        api_conf.InsecureConfiguration, match='none_beyond_loopback'
    ):
        api_conf.check(conf)
    api_conf.check(
        conftest.make_conf(host='0.0.0.0', none_beyond_loopback=True)
    )


def test_caller_is_known_before_the_body_is_read(
    make_api: Callable[..., client.ApiClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(conf: cfg.ConfigOpts) -> context.Authenticate:
        def refuse(environ: object) -> None:
            raise errors.Unauthenticated('Test realm="here"')

        return refuse

    monkeypatch.setitem(context.STRATEGIES, 'none', unknown)
    api = make_api()
    for path in ('/v1/profiles', '/v1/clusters/c/actions'):
        response = api('POST', path, raw=b'{"no JSON')
        assert response.status == 401
        assert response.headers['www-authenticate'] == 'Test realm="here"'
        assert response.json['error']['code'] == 401
    assert api('GET', '/v1/nothing').status == 404
    assert api('GET', '/v1').status == 200
    assert api('POST', '/v1/webhooks/w/trigger').status == 400
