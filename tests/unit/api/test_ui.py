# SPDX-License-Identifier: Apache-2.0
"""``/ui``: the files of the page and the data of the fleet."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from api import app, authentication, ui
from tests.unit.api import client, conftest, fake_engine
from vobjects.clustering import history


@pytest.fixture
def build(engine: fake_engine.FakeEngine, fleet: fake_engine.FakeFleet) -> Any:
    def application(**options: Any) -> Any:
        return app.build(conftest.make_conf(**options), engine, fleet)

    return application


def request(
    application: Any, path: str, method: str = 'GET'
) -> client.Response:
    return client.call(application, method, path)


def test_page_when_loaded_links_only_to_served_files(build: Any) -> None:
    application = build()
    page = request(application, '/ui')
    assert page.status == 200
    assert page.headers['content-type'].startswith('text/html')
    links = re.findall(r'(?:src|href)="([^"]+)"', page.content.decode())
    assert len(links) == 3
    for link in links:
        if not link.startswith('data:'):
            file = request(application, f'/{link}')
            assert file.status == 200
            assert int(file.headers['content-length']) == len(file.content)
            assert file.content


@pytest.mark.parametrize('path', ['/ui', '/ui/page.js', '/ui/fleet'])
def test_page_when_loaded_forbids_other_content(build: Any, path: str) -> None:
    headers = request(build(), path).headers
    rules = headers['content-security-policy']
    assert "default-src 'none'" in rules
    assert "frame-ancestors 'none'" in rules
    assert 'unsafe' not in rules
    assert headers['x-content-type-options'] == 'nosniff'


def test_fleet_when_the_caller_is_no_admin_is_403(
    build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = request(build(), '/ui/fleet')
    assert response.status == 200
    assert response.headers['cache-control'] == 'no-store'
    assert json.loads(response.content) == {
        'max_microversion': str(history.MAXIMUM)
    }
    monkeypatch.setattr(authentication, 'ALL_ROLES', ('reader',))
    response = request(build(), '/ui/fleet')
    assert response.status == 403
    assert b'services:index' in response.content
    assert request(build(), '/ui').status == 200


def test_fleet_when_no_engine_is_live_is_503(
    build: Any, fleet: fake_engine.FakeFleet
) -> None:
    application = build()
    fleet.max_version = None
    assert request(application, '/ui/fleet').status == 503


@pytest.mark.parametrize('path', ['/ui', '/ui/page.css', '/ui/fleet'])
def test_page_when_the_method_is_not_a_read_is_405(
    build: Any, path: str
) -> None:
    application = build()
    response = request(application, path, 'POST')
    assert response.status == 405
    assert response.headers['allow'] == 'GET, HEAD'
    response = request(application, path, 'HEAD')
    assert (response.status, response.content) == (200, b'')
    assert int(response.headers['content-length']) > 0


@pytest.mark.parametrize('path', ['/ui/x', '/uix', '/ui/page.html', '/ui//'])
def test_page_when_the_path_is_unknown_is_404(build: Any, path: str) -> None:
    assert request(build(), path).status == 404


def test_page_when_the_path_ends_with_a_slash_is_redirected(
    build: Any,
) -> None:
    response = request(build(), '/ui/')
    assert (response.status, response.headers['location']) == (308, '../ui')


@pytest.mark.parametrize('path', ui.PATHS)
def test_page_when_disabled_is_404(build: Any, path: str) -> None:
    assert request(build(ui=False), path).status == 404
