# SPDX-License-Identifier: Apache-2.0
"""Specs of health policies, and their conflicts with clusters."""

from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies.policy_helpers import (
    attach,
    create_policy,
    detach,
    enable,
    scale,
)
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters
from vobjects_simulated import tables


def spec(*modes: Any, **recovery: Any) -> dict[str, Any]:
    """Return properties with modes of detection, by name or in full."""
    return {
        'detection': {
            'detection_modes': [
                {'type': mode} if isinstance(mode, str) else mode
                for mode in modes
            ]
        },
        'recovery': recovery,
    }


def url(**options: Any) -> dict[str, Any]:
    return {
        'type': 'NODE_STATUS_POLL_URL',
        'options': {'poll_url': 'http://{nodename}/', **options},
    }


@pytest.mark.parametrize(
    ('properties', 'message'),
    [
        (spec(), 'at least one'),
        (
            spec('LIFECYCLE_EVENTS', 'NODE_STATUS_POLLING'),
            r'detection_modes: LIFECYCLE_EVENTS cannot be combined',
        ),
        (
            spec('NODE_STATUS_POLLING', 'NODE_STATUS_POLLING'),
            'detection_modes: must have each type once',
        ),
        (
            spec('NODE_STATUS_POLL_URL'),
            r'modes\[0\]\.options\.poll_url: must be an http',
        ),
        (
            spec(url(poll_url='ftp://x')),
            r'modes\[0\]\.options\.poll_url: must be an http',
        ),
        (
            spec(url(poll_url='http://x:99999')),
            r'modes\[0\]\.options\.poll_url: must be an http',
        ),
        (spec(url(poll_url_healthy_response='(')), 'response: unsupp'),
        (spec(url(poll_url_healthy_response='(?=a)')), 'syntax of RE2'),
        (spec(url(poll_url_healthy_response='x' * 1001)), 'at most 1000'),
        (spec(url(poll_url_retry_limit=101)), 'limit: must be at most 100'),
        (spec(url(poll_url_retry_interval=-1)), 'must be at least 0'),
        (
            spec(url(poll_url_retry_limit=61, poll_url_retry_interval=10)),
            r'options: .* must be at most 600 seconds, not 610',
        ),
        (spec(url(poll_url_retry_interval=201)), 'seconds, not 603'),
        (
            spec(
                'NODE_STATUS_POLLING',
                actions=[{'name': 'REBOOT'}, {'name': 'REBUILD'}],
            ),
            'actions: must have at most one item',
        ),
        (
            spec(
                'NODE_STATUS_POLLING',
                actions=[{'name': 'REBOOT', 'params': {'type': 'KICK'}}],
            ),
            "must be one of 'SOFT', 'HARD', not",
        ),
        (
            spec(
                'NODE_STATUS_POLLING',
                actions=[{'name': 'RECREATE', 'params': {'colour': 'red'}}],
            ),
            'params.colour: unknown',
        ),
        (
            spec('NODE_STATUS_POLLING', node_delete_timeout=-1),
            'node_delete_timeout: must be at least 0',
        ),
    ],
)
def test_inconsistent_spec_is_rejected(
    harness: Harness, properties: dict[str, Any], message: str
) -> None:
    with pytest.raises(errors.InvalidSpec, match=message):
        create_policy(harness.engine(), 'health', **properties)


def refusal(engine: Engine, **properties: Any) -> str:
    create_policy(engine, 'health', version='1.2', **properties)
    action = attach(engine)
    assert action.status == 'FAILED'
    return str(action.status_reason)


def test_attach_is_rejected_when_cloud_lacks_lifecycle_events(
    engine: Engine,
) -> None:
    request_helpers.create_cluster(engine, 1)
    engine.runtime.provider.lifecycle = None
    assert 'does not report events' in refusal(
        engine, **spec('LIFECYCLE_EVENTS')
    )


def test_fencing_without_recreate_is_rejected(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 1)
    properties = spec(
        'NODE_STATUS_POLLING',
        actions=[{'name': 'REBOOT'}],
        fencing=['COMPUTE'],
    )
    assert 'fencing: is supported only' in refusal(engine, **properties)


def test_interval_below_configured_minimum_is_rejected(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1)
    properties = spec('NODE_STATUS_POLLING')
    properties['detection']['interval'] = 59
    assert 'interval_min of 60' in refusal(engine, **properties)
    assert harness.rows(models.HealthRegistration) == []


def test_cluster_is_registered_while_policy_is_attached_and_enabled(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 1)
    create_policy(engine, 'health', **spec('NODE_STATUS_POLLING'))
    assert attach(engine).status == 'SUCCEEDED'
    (row,) = any_harness.rows(models.HealthRegistration)
    assert (row.enabled, row.interval, row.owner) == (True, 60, None)
    (binding,) = any_harness.rows(models.ClusterPolicy)
    assert binding.data['HealthPolicy']['data']['interval'] == 60
    enable(engine, on=False)
    assert not any_harness.rows(models.HealthRegistration)[0].enabled
    enable(engine, on=True)
    assert any_harness.rows(models.HealthRegistration)[0].enabled
    detach(engine)
    assert any_harness.rows(models.HealthRegistration) == []
    attach(engine)
    engine.run(clusters.ClusterDeleteRequest(identity='c'))
    assert any_harness.rows(models.HealthRegistration) == []


def test_cluster_recovery_uses_operation_of_policy(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 2)
    properties = spec('NODE_STATUS_POLLING', actions=[{'name': 'REBUILD'}])
    create_policy(engine, 'health', **properties)
    attach(engine)
    harness.change(tables.SimulatedServer, status='SHUTOFF')
    harness.cloud.servers.calls.clear()
    action = scale(engine, clusters.ClusterRecoverRequest, check=True)
    assert action.status == 'SUCCEEDED'
    assert action.data['health']['recover_action'] == [
        {'name': 'REBUILD', 'params': None}
    ]
    assert harness.cloud.servers.calls == [
        'rebuild',
        'rebuild',
    ]
