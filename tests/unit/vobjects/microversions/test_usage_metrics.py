# SPDX-License-Identifier: Apache-2.0
"""Usage metrics, and their bounded number of series."""

import os
import sys
import time
from unittest import mock

import pytest
from prometheus_client import parser

from tests.programs import run_program
from tests.unit.vobjects.microversions import wsgi
from vobjects import metric_series
from vobjects.microversions import (
    errors,
    middleware,
    presets,
    usage_metrics,
    version_policy,
)

HEADER = 'OpenStack-API-Version'


def routed(environ, start_response):
    """Serve things by id, as an application that names its routes does."""
    path = environ['PATH_INFO']
    if not path.startswith('/v1/things/'):
        start_response('404 Not Found', [('Content-Type', 'text/plain')])
        return [b'']
    environ[version_policy.ROUTE] = '/v1/things/{id}'
    if path.endswith('/bad'):
        raise errors.ValidationError('body', 'is bad')
    return wsgi.echo(environ, start_response)


class Service:
    """An application that counts."""

    def __init__(self, **options):
        with mock.patch.object(time, 'time', return_value=77.0):
            self.usage = usage_metrics.UsageMetrics(presets.SENLIN, **options)
        inner = middleware.Discovery(routed, presets.SENLIN)
        self.app = usage_metrics.UsageMiddleware(
            middleware.Microversions(inner, presets.SENLIN), self.usage
        )

    def send(self, path='/v1/things/a', version='1.2', agent='', **extra):
        headers = {HEADER: f'clustering {version}'} if version else {}
        if agent:
            headers['User-Agent'] = agent
        return wsgi.call(self.app, path, headers=headers, **extra)

    def samples(self, name):
        # The parser is slow: leave out the other metrics.
        text = self.usage.text(14)[1].decode()
        lines = [line for line in text.splitlines() if line.startswith(name)]
        return [
            (
                tuple(sample.labels[key] for key in sorted(sample.labels)),
                sample.value,
            )
            for family in parser.text_string_to_metric_families(
                '\n'.join([*lines, ''])
            )
            for sample in family.samples
            if sample.name == name
        ]

    def uses(self):
        samples = self.samples('vobjects_api_uses_total')
        return {
            (labels[3], *labels[1:3], labels[0]): n for labels, n in samples
        }

    def agents(self):
        samples = self.samples('vobjects_api_uses_total')
        return {labels[0]: number for labels, number in samples}


@pytest.fixture
def service():
    return Service()


def test_request_is_counted_by_version_route_and_agent(service):
    for version in ('1.2', '1.2', '1.7', ''):
        service.send(version=version, agent='openstacksdk/4.0 python/3')
    service.send('/v1/things/b', agent='curl/8.1', method='DELETE')

    route = '/v1/things/{id}'
    assert service.uses() == {
        ('1.2', 'GET', route, 'openstacksdk'): 2,
        ('1.7', 'GET', route, 'openstacksdk'): 1,
        ('1.0', 'GET', route, 'openstacksdk'): 1,
        ('1.2', 'DELETE', route, 'curl'): 1,
    }


@pytest.mark.parametrize(
    ('path', 'version'),
    [
        ('/', '1.2'),
        ('/v1', '1.2'),
        ('/v1/nowhere', '1.2'),
        ('/v1/things/a', '9.9'),
        ('/v1/things/a', 'pony'),
    ],
)
def test_request_without_a_route_counts_no_version(service, path, version):
    service.send(path, version)

    assert service.uses() == {}


@pytest.mark.parametrize(
    ('header', 'agent'),
    [
        ('openstacksdk/4.4.0 keystoneauth1/5.9 CPython/3.11', 'openstacksdk'),
        ('curl', 'curl'),
        ('python-senlinclient\tx', 'python-senlinclient'),
        ('(a comment first)', usage_metrics.UNNAMED),
        ('', usage_metrics.UNNAMED),
        ('/4.0', usage_metrics.UNNAMED),
        ('a"b', usage_metrics.UNNAMED),
        ('gar\u00e7on/1', usage_metrics.UNNAMED),
        ('x' * 64, 'x' * 64),
        ('x' * 65, usage_metrics.UNNAMED),
    ],
)
def test_agent_is_the_first_product_without_its_version(
    service, header, agent
):
    service.send(agent=header)

    assert service.agents() == {agent: 1}


def test_agents_beyond_the_limit_count_as_other():
    service = Service(max_agents=3)

    for number in range(10):
        service.send(agent=f'a{number}/1')
    service.send(agent='a1/2')

    assert service.agents() == {
        'a0': 1,
        'a1': 2,
        'a2': 1,
        metric_series.OTHER: 7,
    }


def test_new_agent_is_not_counted_for_an_error():
    service = Service(max_agents=1)

    service.send('/v1/things/bad', agent='stranger')
    service.send(agent='friend')
    service.send('/v1/things/bad', agent='friend')

    assert service.agents() == {metric_series.OTHER: 1, 'friend': 2}


def test_number_of_series_is_bounded(service):
    for number in range(30):
        service.send(f'/v1/things/{number}')
        service.send(f'/made/up/{number}')
        service.send(version=f'1.{number + 50}')
        environ = {
            'REQUEST_METHOD': f'MADEUP{number}',
            version_policy.ROUTE: '/v1',
        }
        service.usage.record(environ, '405', 0.1)

    name = 'vobjects_api_request_duration_seconds_count'
    assert dict(service.samples(name)) == {
        ('GET', '/v1/things/{id}', '200'): 30,
        (metric_series.OTHER, '/v1', '405'): 30,
        ('GET', metric_series.OTHER, '404'): 30,
        ('GET', metric_series.OTHER, '406'): 30,
    }


@pytest.mark.parametrize('label', ['method', 'route', 'status', 'agent'])
def test_label_of_many_values_has_bounded_series(service, label):
    for number in range(5_000):
        value = f'{number:0300}'
        environ = {
            'REQUEST_METHOD': value if label == 'method' else 'GET',
            'HTTP_USER_AGENT': value if label == 'agent' else 'curl',
            version_policy.ROUTE: value if label == 'route' else '/v1',
            version_policy.MICROVERSION: presets.SENLIN.maximum,
            version_policy.ERROR_CODE: value,
        }
        status = value if label == 'status' else '200'
        service.usage.record(environ, status, 0.1)

    content = service.usage.text(14)[1]
    assert len(content) < 15 * metric_series.MAX_SERIES * 200
    for name in ('request_duration_seconds_count', 'refusals_total'):
        samples = service.samples(f'vobjects_api_{name}')
        assert sum(count for _labels, count in samples) == 5_000
        assert len(samples) <= metric_series.MAX_SERIES + 1


def test_rejections_are_counted_by_error_code(service):
    service.send(version='9.9')
    service.send(version='9.8')
    service.send('/v1/things/bad')

    assert dict(service.samples('vobjects_api_refusals_total')) == {
        ('microversion-unsupported',): 2,
        ('validation-failed',): 1,
    }


def test_downgrades_are_counted_by_type(service):
    for name in ('A', 'B', 'A'):
        service.usage.count_downgrade(name)

    assert dict(service.samples('vobjects_api_downgrades_total')) == {
        ('A',): 2,
        ('B',): 1,
    }


def test_gauges_have_the_versions_and_the_start(service):
    def value(name):
        ((_labels, number),) = service.samples(name)
        return number

    assert value('vobjects_api_newest_minor') == 14
    assert value('vobjects_api_served_maximum_minor') == 14
    assert value('vobjects_api_counting_since_seconds') == 77


def test_response_when_started_late_is_counted_with_its_status(service):
    def late(environ, start_response):
        environ[version_policy.ROUTE] = '/late'
        start_response('201 Created', [('Content-Type', 'text/plain')])
        yield b'x'

    wsgi.call(usage_metrics.UsageMiddleware(late, service.usage))

    name = 'vobjects_api_request_duration_seconds_count'
    assert service.samples(name) == [(('GET', '/late', '201'), 1)]


def test_processes_that_share_a_directory_count_together(tmp_path):
    # Requests of ended processes count, too.
    code = """
import sys
from tests.unit.vobjects.microversions.test_usage_metrics import Service
service = Service()
for _ in range(int(sys.argv[1])):
    service.send(agent='curl')
print(service.uses())
"""
    printed = [
        run_program(
            [sys.executable, '-W', 'ignore', '-c', code, count],
            check=True,
            env={**os.environ, usage_metrics.DIRECTORY: str(tmp_path)},
        ).stdout
        for count in ('2', '3')
    ]

    key = ('1.2', 'GET', '/v1/things/{id}', 'curl')
    assert printed == [f'{ {key: 2.0} }\n', f'{ {key: 5.0} }\n']
