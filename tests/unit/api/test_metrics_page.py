# SPDX-License-Identifier: Apache-2.0
"""``/metrics``: counted requests and access control."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from api import app, conf, metrics_page
from tests.unit.api import client, conftest
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet
from vobjects.clustering import history

LOCAL = {'REMOTE_ADDR': '127.0.0.1'}


class Service:
    """Calls the application; /metrics is text, which ApiClient rejects."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.api = ApiClient(application)

    def metrics(self, method: str = 'GET', **environ: Any) -> tuple[int, str]:
        response = client.call(
            self.application, method, '/metrics', **{**LOCAL, **environ}
        )
        return response.status, response.content.decode()


@pytest.fixture
def make_service(
    engine: FakeEngine, fleet: FakeFleet
) -> Callable[..., Service]:
    def make(**options: Any) -> Service:
        conf = conftest.make_conf(**options)
        return Service(app.build(conf, engine, fleet))

    return make


def test_metrics_when_requests_were_served_count_them_by_route(
    make_service: Callable[..., Service],
) -> None:
    service = make_service()
    service.api('GET', '/v1/clusters', version='1.2')
    service.api('GET', '/v1/clusters/no-such-one', version='1.2')
    service.api('GET', '/v1/clusters', version='9.9')
    service.api('GET', '/v1')

    status, text = service.metrics()

    assert status == 200
    labels = 'agent="(none)",method="GET",route="/v1/clusters",version="1.2"'
    assert f'vobjects_api_uses_total{{{labels}}} 1.0' in text
    assert 'route="/v1/clusters/{identity}"' in text
    assert 'no-such-one' not in text
    assert 'refusals_total{code="microversion-unsupported"} 1.0' in text
    assert 'refusals_total{code="resource-not-found"} 1.0' in text
    newest = float(history.MAXIMUM.minor)
    assert f'vobjects_api_served_maximum_minor {newest}' in text
    assert service.metrics('HEAD') == (200, '')


@pytest.mark.parametrize(
    'method', ['OPTIONS', 'HEAD', 'GET', 'POST', 'PATCH', 'TRACE', 'X']
)
@pytest.mark.parametrize(
    'path', ['/none', '/v1/none', '/v1/clusters/a/none', '/ui/none', '//none']
)
def test_path_without_a_route_is_no_label(
    make_service: Callable[..., Service], method: str, path: str
) -> None:
    service = make_service()

    client.call(service.application, method, path)

    status, text = service.metrics()
    assert status == 200
    assert 'none/' not in text
    assert '/none' not in text


def test_maximum_when_the_last_engine_has_left_is_minus_one(
    make_service: Callable[..., Service], fleet: FakeFleet
) -> None:
    fleet.live_engines = 0
    # It remains known without an engine.
    assert fleet.maximum().version == history.MAXIMUM
    status, text = make_service().metrics()

    assert status == 200
    assert 'vobjects_api_served_maximum_minor -1.0' in text


@pytest.mark.parametrize(
    ('environ', 'status'),
    [
        ({}, 200),
        ({'REMOTE_ADDR': '::1'}, 200),
        ({'REMOTE_ADDR': '192.0.2.7'}, 403),
        ({'REMOTE_ADDR': ''}, 403),
        ({'HTTP_X_FORWARDED_FOR': '127.0.0.1'}, 403),
        ({'HTTP_FORWARDED': 'for=127.0.0.1'}, 403),
        ({'HTTP_VIA': '1.1 proxy'}, 403),
    ],
)
def test_metrics_when_not_configured_are_local(
    make_service: Callable[..., Service], environ: dict[str, str], status: int
) -> None:
    assert make_service().metrics(**environ)[0] == status


def test_metrics_when_configured_accept_other_clients(
    make_service: Callable[..., Service],
) -> None:
    remote_client = {'REMOTE_ADDR': '192.0.2.7'}

    assert make_service(metrics='all').metrics(**remote_client)[0] == 200
    # With auth_strategy = none, each accepted caller is an admin.
    assert make_service(metrics='admin').metrics(**remote_client)[0] == 403
    remote = make_service(metrics='admin', none_beyond_loopback=True)
    assert remote.metrics(**remote_client)[0] == 200
    assert make_service(metrics='none').metrics()[0] == 404


def test_metrics_when_for_admins_reject_members() -> None:
    class NoAdmin:
        def is_admin(self, context: object) -> bool:
            return context == 'admin'

    may = metrics_page.access_check(
        conftest.make_conf(metrics='admin'),
        lambda environ: environ['caller'],
        NoAdmin(),
    )

    may({'caller': 'admin'})
    with pytest.raises(metrics_page.errors.Forbidden):
        may({'caller': 'member', **LOCAL})


def test_metrics_when_the_method_is_not_a_read_are_405(
    make_service: Callable[..., Service],
) -> None:
    status, text = make_service().metrics('POST')

    assert status == 405
    assert 'GET, HEAD' in text


def test_directory_when_shared_is_emptied_first(
    tmp_path: pathlib.Path,
) -> None:
    home = tmp_path / 'a' / 'b'
    home.mkdir(parents=True)
    (home / 'counter_7.db').touch()
    (home / 'notes').touch()

    with metrics_page.shared_counters(
        conftest.make_conf(metrics_directory=str(home))
    ):
        assert os.environ[metrics_page.DIRECTORY] == str(home)
        assert [path.name for path in home.iterdir()] == ['notes']
    assert metrics_page.DIRECTORY not in os.environ


def test_directory_when_not_configured_is_temporary() -> None:
    with metrics_page.shared_counters(conftest.make_conf()):
        created = pathlib.Path(os.environ[metrics_page.DIRECTORY])
        assert created.is_dir()
    assert not created.exists()


def test_directory_when_metrics_are_off_is_not_shared() -> None:
    with metrics_page.shared_counters(conftest.make_conf(metrics='none')):
        assert metrics_page.DIRECTORY not in os.environ


def test_options_when_listed_contain_those_of_metrics() -> None:
    names = {option.name for option in dict(conf.list_opts())['api']}
    assert {'metrics', 'metrics_directory', 'metrics_agents'} <= names
