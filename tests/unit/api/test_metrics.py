# SPDX-License-Identifier: Apache-2.0
"""``/metrics``: what is counted of the API's requests, and who may see it."""

from __future__ import annotations

import io
import os
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from api import app, conf, metrics
from tests.unit.api import conftest, http, memory
from vobjects import exceptions

LOCAL = {'REMOTE_ADDR': '127.0.0.1'}


@pytest.fixture
def service(
    engine: memory.Engine, fleet: memory.Fleet
) -> Callable[..., Service]:
    def build(**options: Any) -> Service:
        return Service(
            app.build(conftest.configured(**options), engine, fleet)
        )

    return build


class Service:
    """Calls the application; /metrics is text, which http.Api refuses."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.api = http.Api(application)

    def metrics(self, method: str = 'GET', **environ: Any) -> tuple[int, str]:
        found: list[str] = []
        sent = {
            'REQUEST_METHOD': method,
            'PATH_INFO': '/metrics',
            'SERVER_NAME': 'localhost',
            'SERVER_PORT': '80',
            'wsgi.input': io.BytesIO(),
            **LOCAL,
            **environ,
        }
        parts = self.application(
            sent, lambda status, headers, exc_info=None: found.append(status)
        )
        return int(found[-1][:3]), b''.join(parts).decode()


def test_requests_are_counted_by_the_template_of_their_route(
    service: Callable[..., Service],
) -> None:
    found = service()
    found.api('GET', '/v1/clusters', version='1.2')
    found.api('GET', '/v1/clusters/no-such-one', version='1.2')
    found.api('GET', '/v1/clusters', version='9.9')
    found.api('GET', '/v1')

    status, text = found.metrics()

    assert status == 200
    labels = 'agent="(none)",method="GET",route="/v1/clusters",version="1.2"'
    assert f'vobjects_api_uses_total{{{labels}}} 1.0' in text
    assert 'route="/v1/clusters/{identity}"' in text
    assert 'no-such-one' not in text
    assert 'refusals_total{code="microversion-unsupported"} 1.0' in text
    assert 'refusals_total{code="resource-not-found"} 1.0' in text
    assert 'vobjects_api_served_maximum_minor 14.0' in text
    assert found.metrics('HEAD') == (200, '')


def test_maximum_without_any_engine_is_told_as_none(
    service: Callable[..., Service], fleet: memory.Fleet
) -> None:
    def maximum() -> Any:
        raise exceptions.NoLivePeer('none')

    fleet.maximum = maximum  # type: ignore[method-assign]
    status, text = service().metrics()

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
def test_metrics_are_for_this_machine_by_default(
    service: Callable[..., Service], environ: dict[str, str], status: int
) -> None:
    assert service().metrics(**environ)[0] == status


def test_metrics_are_for_those_whom_the_operator_names(
    service: Callable[..., Service],
) -> None:
    far = {'REMOTE_ADDR': '192.0.2.7'}

    assert service(metrics='all').metrics(**far)[0] == 200
    # With auth_strategy = none everybody is one, if let in at all.
    assert service(metrics='admin').metrics(**far)[0] == 403
    opened = service(metrics='admin', none_beyond_loopback=True)
    assert opened.metrics(**far)[0] == 200
    assert service(metrics='none').metrics()[0] == 404


def test_metrics_are_for_admins_only_where_callers_differ() -> None:
    class NoAdmin:
        def is_admin(self, context: object) -> bool:
            return context == 'admin'

    may = metrics.access_check(
        conftest.configured(metrics='admin'),
        lambda environ: environ['caller'],  # type: ignore[arg-type,return-value]
        NoAdmin(),  # type: ignore[arg-type]
    )

    may({'caller': 'admin'})
    with pytest.raises(metrics.errors.Forbidden):
        may({'caller': 'member', **LOCAL})


def test_other_methods_are_not_allowed(
    service: Callable[..., Service],
) -> None:
    status, text = service().metrics('POST')

    assert status == 405
    assert 'GET, HEAD' in text


def test_shared_directory_is_emptied_at_the_start(
    tmp_path: pathlib.Path,
) -> None:
    home = tmp_path / 'a' / 'b'
    home.mkdir(parents=True)
    (home / 'counter_7.db').touch()
    (home / 'notes').touch()

    with metrics.shared_counters(
        conftest.configured(metrics_directory=str(home))
    ):
        assert os.environ[metrics.DIRECTORY] == str(home)
        assert [path.name for path in home.iterdir()] == ['notes']
    assert metrics.DIRECTORY not in os.environ


def test_directory_when_none_is_named_lasts_as_long_as_the_service() -> None:
    with metrics.shared_counters(conftest.configured()):
        made = pathlib.Path(os.environ[metrics.DIRECTORY])
        assert made.is_dir()
    assert not made.exists()


def test_nothing_is_shared_when_nothing_is_counted() -> None:
    with metrics.shared_counters(conftest.configured(metrics='none')):
        assert metrics.DIRECTORY not in os.environ


def test_options_are_known_to_the_generator() -> None:
    names = {option.name for option in dict(conf.list_opts())['api']}
    assert {'metrics', 'metrics_directory', 'metrics_agents'} <= names
