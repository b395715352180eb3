# SPDX-License-Identifier: Apache-2.0
"""Policy types and their schemas."""

from __future__ import annotations

from typing import Any

import pytest

from engine.policies import base
from vobjects.clustering import errors

REGISTRY = base.Registry.load()

MEMBERS: dict[str, dict[str, Any]] = {
    'senlin.policy.affinity-1.0': {'servergroup': {'name': 'g'}},
    'senlin.policy.batch-1.0': {'max_batch_size': 2},
    'senlin.policy.deletion-1.0': {
        'criteria': 'OLDEST_FIRST',
        'hooks': {'params': {'queue': 'goodbyes'}, 'timeout': '5'},
    },
    'senlin.policy.deletion-1.1': {
        'hooks': {'type': 'webhook', 'params': {'url': 'http://x'}}
    },
    **{
        f'senlin.policy.health-1.{minor}': {
            'detection': {
                'detection_modes': [{'type': 'NODE_STATUS_POLLING'}]
            },
            'recovery': {'actions': [{'name': 'REBOOT'}]},
        }
        for minor in range(3)
    },
    **{
        f'senlin.policy.loadbalance-1.{minor}': {'pool': {'subnet': 's'}}
        for minor in range(4)
    },
    'senlin.policy.region_placement-1.0': {
        'regions': [{'name': 'r', 'weight': 1, 'cap': 3}]
    },
    'senlin.policy.scaling-1.0': {
        'event': 'CLUSTER_SCALE_OUT',
        'adjustment': {'number': 1.5, 'type': 'CHANGE_IN_PERCENTAGE'},
    },
    'senlin.policy.zone_placement-1.0': {'zones': [{'name': 'z'}]},
}


def spec(name: str, properties: Any) -> dict[str, Any]:
    kind, _, version = name.rpartition('-')
    return {'type': kind, 'version': version, 'properties': properties}


def test_all_policy_types_of_senlin_are_installed() -> None:
    names = [f'{kind.name}-{kind.version}' for kind in REGISTRY.all()]
    assert names == sorted(MEMBERS)
    assert [REGISTRY.get(name) for name in names] == REGISTRY.all()


@pytest.mark.parametrize('name', MEMBERS)
def test_spec_of_each_type_is_checked(name: str) -> None:
    assert REGISTRY.check(spec(name, MEMBERS[name])) is REGISTRY.get(name)
    with pytest.raises(errors.InvalidSpec, match='colour: unknown'):
        REGISTRY.check(spec(name, {**MEMBERS[name], 'colour': 1}))


#: Type, property, its longest value in seconds, and longer ones.
LONG: list[tuple[str, str, int, dict[str, Any]]] = [
    ('batch-1.0', 'pause_time', 31536000, {'pause_time': 31536001}),
    ('deletion-1.0', 'grace_period', 31536000, {'grace_period': 2**63 - 1}),
    (
        'deletion-1.1',
        'hooks.timeout',
        31536000,
        {'hooks': {'params': {'queue': 'q'}, 'timeout': 31536001}},
    ),
    (
        'scaling-1.0',
        'adjustment.cooldown',
        31536000,
        {'event': 'CLUSTER_SCALE_IN', 'adjustment': {'cooldown': 10**12}},
    ),
    (
        'loadbalance-1.3',
        'lb_status_timeout',
        3600,
        {'pool': {'subnet': 's'}, 'lb_status_timeout': 3601},
    ),
    *(
        ('health-1.1', path, most, {'detection': d, 'recovery': r})
        for path, most, d, r in (
            ('detection.interval', 31536000, {'interval': 31536001}, {}),
            (
                'detection.node_update_timeout',
                31536000,
                {'node_update_timeout': 31536001},
                {},
            ),
            (
                'recovery.node_delete_timeout',
                3600,
                {},
                {'node_delete_timeout': 3601},
            ),
        )
    ),
]


@pytest.mark.parametrize(
    ('name', 'properties', 'message'),
    [
        ('scaling-1.0', {}, 'properties.event is required'),
        ('scaling-1.0', {'event': 'X'}, 'event: must be one of'),
        (
            'scaling-1.0',
            {'event': 'CLUSTER_SCALE_IN', 'adjustment': {'number': 0}},
            r'spec\.properties\.adjustment\.number: must be above 0',
        ),
        (
            'scaling-1.0',
            {'event': 'CLUSTER_SCALE_IN', 'adjustment': {'cooldown': -1}},
            r'spec\.properties\.adjustment\.cooldown: must be at least 0',
        ),
        (
            'deletion-1.0',
            {'grace_period': -1},
            'grace_period: must be at least',
        ),
        (
            'deletion-1.0',
            {'hooks': {'type': 'webhook'}},
            r'hooks\.params\.url: must be an http or https URL',
        ),
        (
            'deletion-1.1',
            {'hooks': {'params': {'queue': 'a b'}}},
            r'hooks\.params\.queue: must be the name of a queue',
        ),
        (
            'affinity-1.0',
            {'servergroup': {'name': 'x' * 256}},
            r'servergroup\.name: must have at most 255 characters',
        ),
        ('health-1.0', {'detection': {}}, 'properties.recovery is required'),
        *(
            (kind, properties, f'{path}: must be at most {most}, not')
            for kind, path, most, properties in LONG
        ),
        ('batch-1.0', {'min_in_service': -1}, 'must be at least 0'),
        ('batch-1.0', {'pause_time': -1}, 'must be at least 0'),
        ('batch-1.0', {'max_batch_size': 0}, 'must be at least 1'),
        ('loadbalance-1.0', {}, 'pool is required'),
        ('loadbalance-1.3', {'pool': {}}, 'pool.subnet is required'),
        *(
            ('loadbalance-1.0', {'pool': {'subnet': 's'}, **more}, message)
            for more, message in (
                (
                    {'pool': {'subnet': 's', 'protocol_port': 0}},
                    'protocol_port: must be at least 1',
                ),
                ({'vip': {'protocol_port': 65536}}, 'must be at most 65535'),
                ({'lb_status_timeout': 0}, 'must be at least 1'),
                ({'loadbalancer': 'x'}, 'pool.id is required'),
                (
                    {
                        'pool': {
                            'subnet': 's',
                            'session_persistence': {'type': 'APP_COOKIE'},
                        }
                    },
                    'cookie_name is required',
                ),
            )
        ),
    ],
)
def test_spec_not_matching_schema_is_rejected(
    name: str, properties: Any, message: str
) -> None:
    with pytest.raises(errors.InvalidSpec, match=message):
        REGISTRY.check(spec(f'senlin.policy.{name}', properties))


def test_spec_of_unknown_type_is_not_found() -> None:
    with pytest.raises(errors.ResourceNotFound, match='could not be found'):
        REGISTRY.check(spec('senlin.policy.batch-2.0', {}))
