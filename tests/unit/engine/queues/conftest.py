# SPDX-License-Identifier: Apache-2.0
"""Each of the queue services."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Iterator

import pytest

from engine.db import database
from engine.queues import base
from tests.unit.engine.conftest import configuration, url_of
from tests.unit.engine.engine_harness import Harness
from tests.unit.engine.queues import fake


@pytest.fixture
def zaqar() -> Iterator[fake.Zaqar]:
    with fake.served() as server:
        yield server


@pytest.fixture
def to_zaqar(
    zaqar: fake.Zaqar, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[database.Database], base.Queues]:
    """Return a function that connects to it with clouds.yaml."""
    clouds = {
        'here': {
            'auth_type': 'none',
            'auth': {'endpoint': zaqar.url},
            'messaging_endpoint_override': f'{zaqar.url}/v2',
            # No test covers the retries.
            'status_code_retries': 0,
        }
    }
    path = tmp_path / 'clouds.yaml'
    path.write_text(json.dumps({'clouds': clouds}))
    monkeypatch.setenv('OS_CLIENT_CONFIG_FILE', str(path))

    def connect(target: database.Database) -> base.Queues:
        conf = configuration(url_of(target))
        conf.set_override('driver', 'zaqar', 'queues')
        conf.set_override('cloud', 'here', 'queues')
        return base.load(conf, target)

    return connect


@pytest.fixture(params=['simulated', 'zaqar'])
def service(request: pytest.FixtureRequest, harness: Harness) -> base.Queues:
    """Each of them, empty."""
    if request.param == 'zaqar':
        return request.getfixturevalue('to_zaqar')(harness.database)
    return base.load(harness.conf, harness.database)
