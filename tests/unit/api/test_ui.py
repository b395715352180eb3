# SPDX-License-Identifier: Apache-2.0
"""``/ui``: the files of the page and the data of the fleet."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from api import app, authentication, ui
from tests.unit.api import client, conftest
from tests.unit.api.client import Response
from tests.unit.api.fake_engine import FakeEngine, FakeFleet
from vobjects import exceptions
from vobjects.clustering import history, topics
from vobjects.objects import manifest
from vobjects.rpc.fleet import Member, View, group_members, to_json


@pytest.fixture
def build(engine: FakeEngine, fleet: FakeFleet) -> Any:
    def application(**options: Any) -> Any:
        return app.build(conftest.make_conf(**options), engine, fleet)

    return application


def request(application: Any, path: str, method: str = 'GET') -> Response:
    return client.call(application, method, path)


def test_page_when_loaded_links_only_to_served_files(build: Any) -> None:
    application = build()
    page = request(application, '/ui')
    assert page.status == 200
    assert page.headers['content-type'].startswith('text/html')
    links = re.findall(r'(?:src|href)="([^"]+)"', page.content.decode())
    assert len(links) == 3
    for link in links:
        file = request(application, f'/{link}')
        assert file.status == 200
        assert int(file.headers['content-length']) == len(file.content)
        assert file.content


def test_script_when_loaded_imports_only_served_files(build: Any) -> None:
    application = build()
    scripts = [path for path in ui.PATHS if path.endswith('.js')]
    assert len(scripts) > 5
    for script in scripts:
        content = request(application, script).content.decode()
        for name in re.findall(r"(?:from |import\()'\./([^']+)'", content):
            assert f'/ui/{name}' in scripts


@pytest.mark.parametrize('path', ['/ui', '/ui/console.js'])
def test_file_when_it_is_cached_is_304(build: Any, path: str) -> None:
    application = build()
    etag = request(application, path).headers['etag']
    for header, status in (
        (etag, 304),
        (f'"other", W/{etag}', 304),
        ('"other"', 200),
    ):
        response = client.call(
            application, 'GET', path, headers={'If-None-Match': header}
        )
        assert response.status == status
        assert bool(response.content) == (status == 200)
        assert response.headers['etag'] == etag
        assert 'content-security-policy' in response.headers


@pytest.mark.parametrize(
    'path', ['/ui', '/ui/console.js', '/ui/fleet', '/ui/session']
)
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
    content = json.loads(response.content)
    assert content['max_microversion'] == str(history.MAXIMUM)
    assert [item['version'] for item in content['microversions']] == list(
        reversed(history.HISTORY)
    )
    monkeypatch.setattr(authentication, 'ALL_ROLES', ('reader',))
    response = request(build(), '/ui/fleet')
    assert response.status == 403
    assert b'services:index' in response.content
    assert request(build(), '/ui').status == 200


def test_fleet_when_no_engine_is_live_is_503(
    build: Any, fleet: FakeFleet
) -> None:
    application = build()
    fleet.max_version = None
    assert request(application, '/ui/fleet').status == 503


@pytest.mark.parametrize('path', ['/ui', '/ui/console.css', '/ui/fleet'])
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


def test_fleet_when_engines_differ_groups_them_by_manifest(
    build: Any, fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = manifest.local()
    old = manifest.Manifest({**new, 'ClusterDeleteRequest': '1.0'})
    members = [
        Member(id_, 'binary', host, topic, '0.1.0', versions, state)
        for id_, host, topic, versions, state in (
            ('a', 'one', topics.ENGINE, new, 'up'),
            ('b', 'two', topics.ENGINE, old, 'up'),
            ('c', 'two', topics.ENGINE, new, 'joining'),
            ('e', 'one', topics.ENGINE, new, 'draining'),
            ('d', 'x', 'api', new, 'up'),
        )
    ]
    view = View(4, group_members(members))
    data = to_json(view, topics.ENGINE, history.MAXIMUM, members)
    monkeypatch.setattr(fleet, 'fleet_data', lambda: data)
    content = json.loads(request(build(), '/ui/fleet').content)
    assert content['max_microversion'] == '1.7'
    assert 'manifests' not in content
    first, second, api = content['groups']
    assert (first['count'], first['joining'], first['draining']) == (3, 1, 1)
    assert first['hosts'] == ['one', 'two']
    assert first['releases'] == ['0.1.0']
    assert first['max_microversion'] == str(history.MAXIMUM)
    assert second['max_microversion'] == '1.7'
    assert second['limits'] == [
        {
            'microversion': '1.8',
            'type': 'ClusterDeleteRequest',
            'needs': '1.1',
            'has': '1.0',
        }
    ]
    assert not api['serves']
    assert all('manifest' not in member for member in content['members'])


def test_summary_when_read_counts_resources(
    build: Any, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = request(build(), '/ui/summary')
    assert json.loads(response.content) == {
        'clusters': {'ACTIVE': 1},
        'nodes': {},
        'actions': {'READY': 2},
        'queue_age': 1.5,
    }
    assert engine.calls[-1][0].project_id == 'admin'
    monkeypatch.setattr(authentication, 'ALL_ROLES', ('guest',))
    assert request(build(), '/ui/summary').status == 403


def test_rollback_when_read_has_the_verdict_for_admins(
    build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = request(build(), '/ui/rollback')
    assert json.loads(response.content) == {
        'release': '0.1.0',
        'can_roll_back': False,
        'reasons': ['because'],
    }
    monkeypatch.setattr(authentication, 'ALL_ROLES', ('reader',))
    assert request(build(), '/ui/rollback').status == 403


def test_session_when_traces_are_searchable_has_the_url(
    build: Any,
) -> None:
    url = 'https://traces.example.org/search?id={request_id}'
    application = build(trace_url=url)
    session = json.loads(request(application, '/ui/session').content)
    assert session['trace_url'] == url


@pytest.mark.parametrize(
    'url', ['javascript:alert("{request_id}")', 'https://example.org/']
)
def test_trace_url_when_it_finds_no_trace_is_rejected(
    build: Any, url: str
) -> None:
    with pytest.raises(ValueError, match='match'):
        build(trace_url=url)


@pytest.mark.parametrize('path', ['/ui/summary', '/ui/rollback'])
def test_page_when_an_engine_is_older_gives_the_reason(
    build: Any, engine: FakeEngine, path: str
) -> None:
    engine.error = exceptions.UnsupportedType('SummaryRequest')
    content = json.loads(request(build(), path).content)
    assert list(content) == ['reason']


def test_session_when_read_lists_the_rules_that_allow_the_caller(
    build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = json.loads(request(build(), '/ui/session').content)
    assert session['user'] == 'admin'
    assert 'clusters:delete' in session['rules']
    assert not session['can_sign_out']
    monkeypatch.setattr(authentication, 'ALL_ROLES', ('reader',))
    session = json.loads(request(build(), '/ui/session').content)
    assert 'clusters:delete' not in session['rules']
    assert 'clusters:get' in session['rules']


@pytest.mark.parametrize('method', ['POST', 'DELETE', 'PATCH'])
def test_session_when_changed_without_keystone_is_405(
    build: Any, method: str
) -> None:
    response = request(build(), '/ui/session', method)
    assert response.status == 405
    assert response.headers['allow'] == 'GET, HEAD'


@pytest.mark.parametrize(
    'path', ['/ui/x', '/uix', '/ui/index.html', '/ui//', '/ui/__init__.py']
)
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
