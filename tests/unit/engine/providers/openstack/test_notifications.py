# SPDX-License-Identifier: Apache-2.0
"""Conversion of Nova's notifications; a real Nova sends them, too."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from oslo_config import cfg
from oslo_messaging import NotificationResult

from engine.db import database, models
from engine.providers.openstack import notifications
from tests.unit.engine import request_helpers
from tests.unit.engine.conftest import configuration, delete_rows, url_of
from tests.unit.engine.engine_harness import Harness
from tests.unit.engine.policies.policy_helpers import attach, create_policy
from tests.unit.engine.policies.test_health import spec
from vobjects import exceptions

PUBLISHER = 'nova-compute:host-1'


@pytest.fixture
def conf(sqlite_database: database.Database) -> Iterator[cfg.ConfigOpts]:
    """The configuration of a database; no cloud is used."""
    yield configuration(url_of(sqlite_database))
    sqlite_database.write(delete_rows)


def payload(server: Any) -> dict[str, Any]:
    """Return what Nova says of an action on a server, in short."""
    return {
        'nova_object.name': 'InstanceActionPayload',
        'nova_object.namespace': 'nova',
        'nova_object.version': '1.8',
        'nova_object.data': {'uuid': server, 'state': 'stopped'},
    }


def notify(harness: Harness, event: str, content: Any) -> str:
    endpoint = notifications.Endpoint(harness.database)
    callback = endpoint.error if event.endswith('error') else endpoint.info
    return callback({}, PUBLISHER, event, content, {})


def monitored_server(harness: Harness) -> str:
    """Return the server of a cluster with a health policy."""
    engine = harness.engine()
    request_helpers.create_cluster(engine, 1)
    create_policy(engine, 'health', version='1.2', **spec('LIFECYCLE_EVENTS'))
    assert attach(engine).status == 'SUCCEEDED'
    (node,) = harness.rows(models.Node)
    server_id: str = node.physical_id
    return server_id


def stored_events(harness: Harness) -> list[tuple[str, str]]:
    rows = harness.rows(models.LifecycleEvent)
    return [(row.server_id, row.type) for row in rows]


def test_failure_of_a_monitored_server_is_stored(any_harness: Harness) -> None:
    server = monitored_server(any_harness)
    node_id = request_helpers.create_node(any_harness.engine())
    unmonitored = any_harness.row(models.Node, node_id).physical_id
    for content in (
        payload(server),
        payload(unmonitored),
        payload(uuid.uuid4()),
    ):
        for event in ('instance.power_off.end', 'instance.rebuild.error'):
            assert notify(any_harness, event, content) == 'handled'
    assert stored_events(any_harness) == [
        (server, 'compute.instance.power_off.end'),
        (server, 'compute.instance.rebuild.error'),
    ]


@pytest.mark.parametrize(
    'event',
    ['instance.create.end', 'instance.power_off.start', 'instance.update'],
)
def test_notification_when_no_failure_is_ignored(
    harness: Harness, event: str
) -> None:
    server = monitored_server(harness)
    assert notify(harness, event, payload(server)) == 'handled'
    assert stored_events(harness) == []


@pytest.mark.parametrize(
    'content',
    [
        None,
        'text',
        [],
        {},
        {'nova_object.data': None},
        {'nova_object.data': {}},
        payload(None),
        payload(7),
        payload(['x']),
        payload('no-uuid'),
    ],
)
def test_malformed_notification_is_ignored_with_a_warning(
    harness: Harness, caplog: pytest.LogCaptureFixture, content: Any
) -> None:
    assert notify(harness, 'instance.power_off.end', content) == 'handled'
    (record,) = caplog.records
    assert record.levelname == 'WARNING'
    assert PUBLISHER in record.getMessage()


def test_notification_when_it_cannot_be_stored_is_requeued(
    harness: Harness,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*arguments: Any) -> Any:
        raise exceptions.Unreachable('away')

    monkeypatch.setattr(notifications, 'PAUSE', 0.0)
    monkeypatch.setattr(harness.database, 'write', fail)
    result = notify(
        harness, 'instance.power_off.end', payload(str(uuid.uuid4()))
    )
    assert result == NotificationResult.REQUEUE
