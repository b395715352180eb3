# SPDX-License-Identifier: Apache-2.0
"""The application over an engine in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from oslo_config import cfg

from api import app
from api import conf as api_conf
from tests.unit.api import http, memory


class Stage:
    """Holds the engine and the fleet of the test that runs.

    Building the application takes longer than a request; most tests share
    one, and each has an engine of its own behind it.
    """

    def __init__(self) -> None:
        self.engine = memory.Engine()
        self.fleet = memory.Fleet()

    def call(self, *arguments: Any) -> Any:
        return self.engine.call(*arguments)

    def maximum(self) -> Any:
        return self.fleet.maximum()

    def server_count(self) -> int:
        return self.fleet.server_count()

    def fleet_data(self) -> Any:
        return self.fleet.fleet_data()


def configured(**options: Any) -> cfg.ConfigOpts:
    """Return a configuration; names are those of ``[api]``."""
    conf = cfg.ConfigOpts()
    api_conf.register(conf)
    conf(args=[], project='vobjects', default_config_files=[])
    conf.set_override('allowed_hosts', [http.HOST], 'api')
    for name, value in options.items():
        conf.set_override(name, value, 'api')
    return conf


@pytest.fixture(scope='session')
def stage() -> Stage:
    return Stage()


@pytest.fixture(scope='session')
def shared(stage: Stage) -> http.Api:
    return http.Api(app.build(configured(), stage, stage))


@pytest.fixture
def engine(stage: Stage) -> memory.Engine:
    stage.engine = memory.Engine()
    return stage.engine


@pytest.fixture
def fleet(stage: Stage) -> memory.Fleet:
    stage.fleet = memory.Fleet()
    return stage.fleet


@pytest.fixture
def api(
    shared: http.Api, engine: memory.Engine, fleet: memory.Fleet
) -> http.Api:
    return shared


@pytest.fixture(scope='session')
def shared_strict(stage: Stage) -> http.Api:
    conf = configured(strict_versions=True)
    return http.Api(app.build(conf, stage, stage))


@pytest.fixture
def strict(
    shared_strict: http.Api, engine: memory.Engine, fleet: memory.Fleet
) -> http.Api:
    """An API that accepts nothing before the version that documents it."""
    return shared_strict


@pytest.fixture
def api_with(
    engine: memory.Engine, fleet: memory.Fleet
) -> Callable[..., http.Api]:
    """Return what builds the application with other options."""

    def build(**options: Any) -> http.Api:
        return http.Api(app.build(configured(**options), engine, fleet))

    return build
