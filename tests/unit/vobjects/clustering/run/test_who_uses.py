# SPDX-License-Identifier: Apache-2.0
"""`vobjects api who-uses` against an API on a socket."""

from __future__ import annotations

import json
import pathlib
import time
from unittest import mock

import pytest

from tests.unit.vobjects.microversions import wsgi
from vobjects import exceptions
from vobjects.cli.parser import Parser
from vobjects.clustering.run import who_uses
from vobjects.microversions import presets, version_policy
from vobjects.microversions import usage_metrics as counting
from vobjects.versions import Version

ROUTE = '/v1/clusters/{identity}'


def run_who_uses(*arguments: str) -> int:
    parser = Parser()
    parser.add_commands({'who-uses': who_uses.DEFINITION})
    options = parser.parse_args(['who-uses', *arguments])
    code: int = options.run(options)
    return code


def counted(*requests, since=0.0):
    """Return an API that has served (version, agent, times)."""
    with mock.patch.object(time, 'time', return_value=since):
        metrics = counting.UsageMetrics(presets.SENLIN)
    for version, agent, times in requests:
        for _ in range(times):
            environ = {
                'REQUEST_METHOD': 'GET',
                'HTTP_USER_AGENT': agent,
                version_policy.MICROVERSION: Version.parse(version),
                version_policy.ROUTE: ROUTE,
            }
            metrics.record(environ, '200', 0.1)

    def app(environ, start_response):
        if environ['PATH_INFO'] != '/metrics':
            return wsgi.echo(environ, start_response)
        media_type, content = metrics.text(14)
        start_response('200 OK', [('Content-Type', media_type)])
        return [content]

    return app


def app_returning(text, status='200 OK'):
    def app(environ, start_response):
        start_response(status, [('Content-Type', 'text/plain')])
        return [text]

    return app


def test_who_uses_lists_agents_routes_and_counts(capsys):
    app = counted(('1.2', 'curl/8', 2), ('1.7', 'x', 1), ('1.2', 'sdk/4', 3))
    with wsgi.serve(app) as url:
        assert run_who_uses('1.2', '--url', url) == 0

    first, _, head, *rows = capsys.readouterr().out.splitlines()
    assert first == '5 requests at 1.2 since 1970-01-01 00:00:00 UTC:'
    assert head.split() == ['AGENT', 'VERSION', 'METHOD', 'ROUTE', 'REQUESTS']
    assert [row.split() for row in rows] == [
        ['sdk', '1.2', 'GET', ROUTE, '3'],
        ['curl', '1.2', 'GET', ROUTE, '2'],
    ]


def test_range_is_compared_as_numbers(capsys):
    app = counted(('1.2', 'a', 1), ('1.9', 'a', 2), ('1.10', 'a', 4))
    with wsgi.serve(app) as url:
        run_who_uses('1.9-1.10', '--url', f'{url}/')

    assert capsys.readouterr().out.startswith('6 requests at 1.9-1.10 ')


def test_several_apis_are_added_and_the_latest_start_counts(capsys):
    older = counted(('1.2', 'a', 1), ('1.2', 'b', 1), since=10.0)
    younger = counted(('1.2', 'a', 2), since=20.0)
    with wsgi.serve(older) as first, wsgi.serve(younger) as second:
        run_who_uses(
            '1.2', '-o', 'json', '--url', first, '--url', f'{second}/metrics'
        )

    report = json.loads(capsys.readouterr().out)
    assert (report['versions'], report['since']) == ('1.2', 20.0)
    assert [(use['agent'], use['requests']) for use in report['uses']] == [
        ('a', 3),
        ('b', 1),
    ]


def test_no_use_is_reported(capsys):
    with wsgi.serve(counted()) as url:
        assert run_who_uses('1.2', '--url', url) == 0

    assert capsys.readouterr().out == (
        'No client has used 1.2 since 1970-01-01 00:00:00 UTC.\n'
    )


def test_state_directory_has_the_address_of_the_api(tmp_path, capsys):
    with wsgi.serve(counted(('1.2', 'a', 1))) as url:
        host, _, port = url.removeprefix('http://').partition(':')
        file = tmp_path / 'vobjects.conf'
        file.write_text(f'[api]\nhost = {host}\nport = {port}\n')
        run_who_uses('1.2', '--state-dir', str(tmp_path))

    assert capsys.readouterr().out.startswith('1 requests at 1.2 ')


def test_token_of_the_environment_is_sent(monkeypatch, capsys):
    tokens = []
    app = counted()

    def record_token(environ, start_response):
        tokens.append(environ.get('HTTP_X_AUTH_TOKEN'))
        return app(environ, start_response)

    monkeypatch.setenv('OS_TOKEN', 'secret')
    with wsgi.serve(record_token) as url:
        run_who_uses('1.2', '--url', url)

    assert tokens == ['secret']
    assert 'secret' not in capsys.readouterr().out


@pytest.mark.parametrize(
    ('app', 'message'),
    [
        (
            app_returning(b'{}', '403 Forbidden'),
            '403 Forbidden; see .api. metrics',
        ),
        (app_returning(b'a{b="'), 'cannot be read'),
        (app_returning(b'up 1\n'), 'another service'),
        (
            app_returning(b'vobjects_api_uses_total{a="b"} 1\n'),
            'cannot be read',
        ),
        (app_returning(b'vobjects_api_uses_total 1\xff\n'), 'cannot be read'),
    ],
)
def test_response_without_the_apis_metrics_is_rejected(app, message):
    with (
        wsgi.serve(app) as url,
        pytest.raises(exceptions.VobjectsError, match=message),
    ):
        run_who_uses('1.2', '--url', url)


def test_api_that_does_not_answer_is_unreachable():
    with wsgi.serve(counted()) as url:
        pass
    with pytest.raises(exceptions.Unreachable, match='/metrics'):
        run_who_uses('1.2', '--url', url)


@pytest.mark.parametrize(
    ('version', 'message'),
    [('1.02', 'is not a version'), ('', 'is not'), ('1.4-1.2', 'no range')],
)
def test_version_when_malformed_is_rejected(version, message):
    with pytest.raises(exceptions.VobjectsError, match=message):
        run_who_uses(version, '--url', 'http://127.0.0.1:1')


def test_url_of_another_scheme_is_rejected():
    with pytest.raises(exceptions.VobjectsError, match='no http'):
        run_who_uses('1.2', '--url', 'file:///etc/passwd')


def test_directory_without_a_service_is_rejected(tmp_path: pathlib.Path):
    with pytest.raises(exceptions.VobjectsError, match='no "vobjects up"'):
        run_who_uses('1.2', '--state-dir', str(tmp_path))
