# SPDX-License-Identifier: Apache-2.0
"""``/ui``: who is served what of it."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from api import app, ui
from tests.unit.api import conftest, memory


@pytest.fixture
def build(engine: memory.Engine, fleet: memory.Fleet) -> Any:
    def application(**options: Any) -> Any:
        return app.build(conftest.configured(**options), engine, fleet)

    return application


def ask(
    application: Any, path: str, method: str = 'GET', **environ: str
) -> tuple[int, dict[str, str], bytes]:
    answers: list[tuple[str, list[tuple[str, str]]]] = []
    parts = application(
        {
            'REQUEST_METHOD': method,
            'PATH_INFO': path,
            'REMOTE_ADDR': '127.0.0.1',
            'SERVER_NAME': 'localhost',
            'SERVER_PORT': '80',
            'wsgi.input': io.BytesIO(),
            **environ,
        },
        lambda status, headers, exc_info=None: answers.append(
            (status, headers)
        ),
    )
    ((status, headers),) = answers
    found = {name.lower(): value for name, value in headers}
    return int(status[:3]), found, b''.join(parts)


def test_the_page_asks_only_for_what_is_served(build: Any) -> None:
    application = build()
    status, headers, content = ask(application, '/ui')
    assert (status, headers['content-type'][:9]) == (200, 'text/html')
    links = re.findall(r'(?:src|href)="([^"]+)"', content.decode())
    assert len(links) == 3
    for link in links:
        if not link.startswith('data:'):
            status, headers, file = ask(application, f'/{link}')
            assert status == 200
            assert int(headers['content-length']) == len(file) > 0


@pytest.mark.parametrize('path', ['/ui', '/ui/page.js', '/ui/fleet'])
def test_nothing_else_is_loaded_run_or_framed(build: Any, path: str) -> None:
    _status, headers, _content = ask(build(), path)
    rules = headers['content-security-policy']
    assert "default-src 'none'" in rules
    assert "frame-ancestors 'none'" in rules
    assert 'unsafe' not in rules
    assert headers['x-content-type-options'] == 'nosniff'


def test_the_fleet_is_for_admins(
    build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = build()
    status, headers, content = ask(application, '/ui/fleet')
    assert (status, headers['cache-control']) == (200, 'no-store')
    assert content == b'{"max_microversion":"1.14"}'
    from api import context

    monkeypatch.setattr(context, 'ALL_ROLES', ('reader',))
    status, headers, content = ask(build(), '/ui/fleet')
    assert status == 403
    assert b'services:index' in content
    assert ask(build(), '/ui')[0] == 200


def test_the_fleet_is_asked_each_time(build: Any, fleet: memory.Fleet) -> None:
    application = build()
    fleet.served = None
    assert ask(application, '/ui/fleet')[0] == 503


@pytest.mark.parametrize('path', ['/ui', '/ui/page.css', '/ui/fleet'])
def test_it_is_only_read(build: Any, path: str) -> None:
    application = build()
    status, headers, _content = ask(application, path, 'POST')
    assert (status, headers['allow']) == (405, 'GET, HEAD')
    status, headers, content = ask(application, path, 'HEAD')
    assert (status, content) == (200, b'')
    assert int(headers['content-length']) > 0


@pytest.mark.parametrize('path', ['/ui/x', '/uix', '/ui/page.html', '/ui//'])
def test_there_is_nothing_else(build: Any, path: str) -> None:
    assert ask(build(), path)[0] == 404


def test_a_slash_too_many_is_taken_away(build: Any) -> None:
    status, headers, _content = ask(build(), '/ui/')
    assert (status, headers['location']) == (308, '../ui')


@pytest.mark.parametrize('path', [ui.PATH, ui.FLEET_PATH])
def test_it_can_be_left_out(build: Any, path: str) -> None:
    assert ask(build(ui=False), path)[0] == 404
