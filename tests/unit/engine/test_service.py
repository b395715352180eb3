# SPDX-License-Identifier: Apache-2.0
"""Whole engines, on a message bus of this host."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

import oslo_messaging as messaging
import pytest
from oslo_config import cfg

from engine import service
from engine.db import database
from engine.db import ledger as services_db
from tests import waiting
from tests.unit.engine import engine_harness
from tests.unit.engine.conftest import configuration
from vobjects.clustering import errors, topics
from vobjects.clustering.requests import clusters, profiles, services
from vobjects.clustering.service import SERVICE
from vobjects.objects import manifest
from vobjects.rpc import client, transport


@pytest.fixture
def bus(conf: cfg.ConfigOpts) -> Iterator[cfg.ConfigOpts]:
    """A configuration with a bus; the paths of sockets must be short."""
    messaging.TransportURL.parse(conf, 'embedded://')  # registers its options
    with tempfile.TemporaryDirectory(prefix='vo-') as directory:
        conf.set_override('transport_url', f'embedded://{directory}')
        yield conf


def test_engines_share_requests_and_actions(bus: cfg.ConfigOpts) -> None:
    engines = [service.Engine(bus, host=name) for name in ('one', 'two')]
    for engine in engines:
        engine.start()
    membership = engines[0].worker.membership
    opened = transport.open_transport(
        bus, topics.EXCHANGE, tuple(SERVICE.error_modules)
    )
    caller = client.Client(
        opened,
        topics.ENGINE,
        get_view=membership.current,
        refresh_view=membership.refresh,
        timeout=240,
    )

    def ask(request: Any) -> Any:
        return caller.call(engine_harness.request_context(), request)

    ask(profiles.ProfileCreateRequest(name='p', spec=engine_harness.SPEC))
    ask(
        clusters.ClusterCreateRequest(
            name='c', profile_id='p', desired_capacity=4
        )
    )
    waiting.eventually(
        lambda: (
            ask(clusters.ClusterGetRequest(identity='c')).status == 'ACTIVE'
        )
    )
    hosts = [service.host for service in ask(services.ServiceListRequest())]
    assert sorted(hosts) == ['one', 'two']
    with pytest.raises(errors.ResourceNotFound):
        ask(clusters.ClusterGetRequest(identity='none'))
    engines[0].stop()
    assert [m.host for m in engines[1].ledger.members(9)] == ['two']
    engines[1].stop()
    opened.cleanup()


def test_emulated_older_engine_announces_its_manifest(
    bus: cfg.ConfigOpts,
) -> None:
    speaks = manifest.Manifest(
        {**manifest.local(), 'NodeUpdateRequest': '1.0'}
    )
    engine = service.Engine(bus, speaks=speaks, release='0.0.9')
    engine.start()
    (member,) = engine.ledger.members(9)
    engine.stop()
    assert member.release == '0.0.9'
    assert member.manifest == speaks


def test_outdated_database_is_rejected(tmp_path: pathlib.Path) -> None:
    target = database.Database(
        configuration(f'sqlite:///{tmp_path / "empty.sqlite"}')
    )
    with pytest.raises(service.SchemaError, match='vobjects db expand'):
        service.check_schema(target)
    target.close()


def test_cap_is_known_inside_a_transaction_after_the_lease(
    bus: cfg.ConfigOpts,
) -> None:
    """A heartbeat would wait there for the transaction that waits for it."""
    engine = service.Engine(bus)
    reported = engine.worker.membership.member
    fleet_ledger = services_db.open_ledger(engine.database)
    fleet_ledger.report(reported)

    with engine.database.writer():
        assert engine.runtime.cap() == reported.manifest
    engine.database.close()
