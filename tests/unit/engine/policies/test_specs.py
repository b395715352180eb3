# SPDX-License-Identifier: Apache-2.0
"""Every type of policy is there, with its schema."""

from __future__ import annotations

from typing import Any

import pytest

from engine.policies import base
from vobjects.clustering import errors

REGISTRY = base.Registry.load()

MEMBERS: dict[str, dict[str, Any]] = {
    'senlin.policy.affinity-1.0': {'servergroup': {'name': 'g'}},
    'senlin.policy.batch-1.0': {'max_batch_size': 2},
    'senlin.policy.deletion-1.0': {'criteria': 'OLDEST_FIRST'},
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


def test_every_type_of_senlin_is_there() -> None:
    names = [f'{kind.name}-{kind.version}' for kind in REGISTRY.all()]
    assert names == sorted(MEMBERS)
    assert [REGISTRY.get(name) for name in names] == REGISTRY.all()


@pytest.mark.parametrize('name', MEMBERS)
def test_spec_of_each_type_is_checked(name: str) -> None:
    assert REGISTRY.check(spec(name, MEMBERS[name])) is REGISTRY.get(name)
    with pytest.raises(errors.InvalidSpec, match="there is no 'colour'"):
        REGISTRY.check(spec(name, {**MEMBERS[name], 'colour': 1}))


@pytest.mark.parametrize(
    ('name', 'properties', 'says'),
    [
        ('scaling-1.0', {}, 'properties.event is required'),
        ('scaling-1.0', {'event': 'X'}, 'event: .* is not one of'),
        (
            'scaling-1.0',
            {'event': 'CLUSTER_SCALE_IN', 'adjustment': {'number': 0}},
            "'number' for 'adjustment' must be > 0",
        ),
        (
            'scaling-1.0',
            {'event': 'CLUSTER_SCALE_IN', 'adjustment': {'cooldown': -1}},
            "'cooldown' for 'adjustment' must be >= 0",
        ),
        ('deletion-1.0', {'grace_period': -1}, 'must be >= 0'),
        ('deletion-1.0', {'hooks': {}}, "there is no 'hooks'"),
        (
            'affinity-1.0',
            {'servergroup': {'name': 'x' * 256}},
            r'servergroup\.name: must have at most 255 characters',
        ),
        ('health-1.0', {'detection': {}}, 'properties.recovery is required'),
        ('loadbalance-1.3', {'pool': {}}, 'pool.subnet is required'),
    ],
)
def test_spec_that_does_not_fit_is_refused(
    name: str, properties: Any, says: str
) -> None:
    with pytest.raises(errors.InvalidSpec, match=says):
        REGISTRY.check(spec(f'senlin.policy.{name}', properties))


def test_spec_of_no_type_is_not_found() -> None:
    with pytest.raises(errors.ResourceNotFound, match='no policy type'):
        REGISTRY.check(spec('senlin.policy.batch-2.0', {}))
