# SPDX-License-Identifier: Apache-2.0
"""``/healthcheck``: status and text, for proxies and operators."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from oslo_config import cfg

from api import app, health
from api import conf as api_conf
from tests.unit.api import client
from tests.unit.api.conftest import make_conf
from tests.unit.api.fake_engine import FakeEngine, FakeFleet
from vobjects.microversions import application_errors

Check = Callable[..., tuple[int, str]]


@pytest.fixture
def check(
    engine: FakeEngine, fleet: FakeFleet, tmp_path: pathlib.Path
) -> Check:
    """Return a function that requests the page, with options of its group."""
    path = tmp_path / 'api.conf'

    def request(
        method: str = 'GET',
        environ: dict[str, Any] | None = None,
        **options: Any,
    ) -> tuple[int, str]:
        lines = [f'{name} = {value}' for name, value in options.items()]
        path.write_text('\n'.join(['[healthcheck]', *lines]))
        conf = cfg.ConfigOpts()
        api_conf.register(conf)
        conf([], project='vobjects', default_config_files=[str(path)])
        response = client.call(
            app.build(conf, engine, fleet),
            method,
            health.PATH,
            **{
                'HTTP_HOST': 'localhost',
                'REMOTE_ADDR': '192.0.2.1',
                **(environ or {}),
            },
        )
        return response.status, response.content.decode()

    return request


def test_check_when_an_engine_is_live_succeeds(check: Check) -> None:
    assert check() == (200, 'engines answer')
    assert check('HEAD') == (204, '')
    status, text = check(environ={'HTTP_ACCEPT': 'application/json'})
    assert status == 200
    assert json.loads(text)['reasons'] == ['engines answer']


def test_check_when_no_engine_is_live_is_503(
    check: Check, fleet: FakeFleet
) -> None:
    fleet.live_engines = 0
    assert check() == (503, 'no live engine')
    fleet.max_version = None
    assert check() == (503, 'no engine answers')
    assert check('HEAD') == (503, '')


@pytest.mark.parametrize('method', ['GET', 'HEAD'])
def test_check_when_no_engine_is_live_has_retry_after(
    fleet: FakeFleet, method: str
) -> None:
    app_ = app.build(make_conf(), FakeEngine(), fleet)
    assert 'retry-after' not in client.call(app_, method, health.PATH).headers
    fleet.live_engines = 0
    response = client.call(app_, method, health.PATH)
    assert response.headers['retry-after'] == str(
        application_errors.RetryLater.SECONDS
    )


def test_check_when_detailed_shows_the_reason(
    check: Check, fleet: FakeFleet
) -> None:
    fleet.max_version = None
    environ = {'HTTP_ACCEPT': 'application/json'}
    assert 'db7' not in check(environ=environ)[1]
    status, text = check(environ=environ, detailed=True)
    assert status == 503
    (reason,) = json.loads(text)['reasons']
    assert reason['details'] == 'the database db7:3306 is away'


def test_check_when_the_method_is_not_a_read_is_405(check: Check) -> None:
    assert check('POST')[0] == 405


def test_check_when_the_source_is_not_allowed_is_404(check: Check) -> None:
    allowed = '198.51.100.0/24'
    assert check(allowed_source_ranges=allowed)[0] == 404
    environ = {'REMOTE_ADDR': '198.51.100.7'}
    assert check(environ=environ, allowed_source_ranges=allowed)[0] == 200


def test_check_when_disabled_by_a_file_is_503(
    check: Check, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / 'out'
    options = {
        'backends': f'{health.BACKEND},disable_by_file',
        'disable_by_file_path': path,
    }
    assert check(**options)[0] == 200
    path.touch()
    assert check(**options)[0] == 503


@pytest.mark.parametrize(
    'host', ['10.0.0.7:8777', 'haproxy', 'rebound.example.org', '-', '']
)
def test_check_answers_any_host_and_shows_no_more_than_its_state(
    check: Check, fleet: FakeFleet, host: str
) -> None:
    assert check(environ={'HTTP_HOST': host}) == (200, 'engines answer')
    fleet.max_version = None
    assert check(environ={'HTTP_HOST': host}) == (503, 'no engine answers')
