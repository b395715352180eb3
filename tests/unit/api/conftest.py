# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the application with an engine in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from oslo_config import cfg

from api import app
from api import conf as api_conf
from tests.unit.api import client
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet


class Backend:
    """Delegates to the engine and the fleet of the running test.

    Most tests share one application, because building it takes longer than a
    request; each test has its own engine behind it.
    """

    def __init__(self) -> None:
        self.engine = FakeEngine()
        self.fleet = FakeFleet()

    def call(self, *arguments: Any) -> Any:
        return self.engine.call(*arguments)

    def call_for_text(self, *arguments: Any, **options: Any) -> Any:
        return self.engine.call_for_text(*arguments, **options)

    def maximum(self) -> Any:
        return self.fleet.maximum()

    def server_count(self) -> int:
        return self.fleet.server_count()

    def known_server_count(self) -> int:
        return self.fleet.known_server_count()

    def fleet_data(self) -> Any:
        return self.fleet.fleet_data()


def make_conf(**options: Any) -> cfg.ConfigOpts:
    """Return a configuration with options of ``[api]``."""
    conf = cfg.ConfigOpts()
    api_conf.register(conf)
    conf(args=[], project='vobjects', default_config_files=[])
    conf.set_override('allowed_hosts', [client.HOST], 'api')
    for name, value in options.items():
        conf.set_override(name, value, 'api')
    return conf


@pytest.fixture(scope='session')
def backend() -> Backend:
    return Backend()


@pytest.fixture(scope='session')
def shared_api(backend: Backend) -> ApiClient:
    return ApiClient(app.build(make_conf(), backend, backend))


@pytest.fixture
def engine(backend: Backend) -> FakeEngine:
    backend.engine = FakeEngine()
    return backend.engine


@pytest.fixture
def fleet(backend: Backend) -> FakeFleet:
    backend.fleet = FakeFleet()
    return backend.fleet


@pytest.fixture
def api(
    shared_api: ApiClient, engine: FakeEngine, fleet: FakeFleet
) -> ApiClient:
    return shared_api


@pytest.fixture(scope='session')
def shared_strict_api(backend: Backend) -> ApiClient:
    conf = make_conf(strict_versions=True)
    return ApiClient(app.build(conf, backend, backend))


@pytest.fixture
def strict_api(
    shared_strict_api: ApiClient, engine: FakeEngine, fleet: FakeFleet
) -> ApiClient:
    """Return an API with ``strict_versions``."""
    return shared_strict_api


@pytest.fixture
def make_api(engine: FakeEngine, fleet: FakeFleet) -> Callable[..., ApiClient]:
    """Return a function that builds an API with options of ``[api]``."""

    def build(**options: Any) -> ApiClient:
        return ApiClient(app.build(make_conf(**options), engine, fleet))

    return build
