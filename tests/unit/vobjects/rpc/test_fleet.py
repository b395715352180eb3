# SPDX-License-Identifier: Apache-2.0
"""The cap and the effective maximum of a fleet."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base

from vobjects import fields, objects
from vobjects.objects.adoption import adopt
from vobjects.objects.history import added
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc.fleet import (
    DIRECT,
    EXAMPLES,
    HoldOrigin,
    Member,
    View,
    group_members,
    to_json,
)
from vobjects.versions import NULL, Maximum, Version

TOPIC = 'workers'
NEWEST = Version(1, 14)


@pytest.fixture
def types(registry: None) -> None:
    @objects.register
    class DeleteRequest(objects.Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.8': '1.1'}
        fields = {'force': added('1.1', fields.BooleanField(default=False))}

    @objects.register
    class Item(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.10': '1.1'}
        fields = {'tainted': added('1.1', fields.BooleanField(default=False))}


def member(name: str, topic: str = TOPIC, **versions: str) -> Member:
    return Member(
        id=name,
        binary='worker',
        host='host',
        topic=topic,
        release='0.1.0',
        manifest=Manifest(versions) if versions else local(),
    )


def view(*members: Member, **limits: Any) -> View:
    return View(1, group_members(members), **limits)


def test_cap_without_servers_is_empty(types: None) -> None:
    assert not view().cap(TOPIC)
    assert not view(member('a', topic='other')).cap(TOPIC)
    assert not view(held=local()).cap(TOPIC)


def test_cap_is_the_minimum_over_the_servers_of_the_topic(
    types: None,
) -> None:
    fleet = view(
        member('new'),
        member('old', DeleteRequest='1.0', Item='1.1'),
        member('api', topic='api', DeleteRequest='1.0', Item='1.0'),
    )
    assert dict(fleet.cap(TOPIC)) == {'DeleteRequest': '1.0', 'Item': '1.1'}


def test_maximum_when_all_servers_are_new_is_the_newest(types: None) -> None:
    assert view(member('a'), member('b')).maximum(TOPIC, NEWEST) == Maximum(
        NEWEST
    )


def test_maximum_follows_the_version_maps_of_adopted_types(
    registry: None,
) -> None:
    @ovo_base.VersionedObjectRegistry.register
    class Group(ovo_base.VersionedObject):
        VERSION = '1.2'
        VERSION_MAP = {'1.14': '1.2'}

    @ovo_base.VersionedObjectRegistry.register
    class Template(ovo_base.VersionedObject):
        VERSION = '1.5'

    adopt([Group, Template])
    assert dict(local()) == {'Group': '1.2', 'Template': '1.5'}
    fleet = view(member('new'), member('old', Group='1.1', Template='1.5'))

    maximum = fleet.maximum(TOPIC, NEWEST)

    assert maximum.version == Version(1, 13)
    assert 'Group 1.2' in (maximum.reason or '')
    assert view(member('new')).maximum(TOPIC, NEWEST).version == NEWEST

    # They have not opted in to capable servers, of which there are enough.
    direct = {**local(), DIRECT: '1.0'}
    capable = [
        dataclasses.replace(member(name, **direct), state='up')
        for name in 'abc'
    ]
    old = member('old', Group='1.1', Template='1.5')
    assert view(*capable, old).maximum(TOPIC, NEWEST).version < NEWEST


def test_maximum_when_a_server_is_old_explains_the_limit(types: None) -> None:
    fleet = view(member('new'), member('old', DeleteRequest='1.0', Item='1.0'))
    maximum = fleet.maximum(TOPIC, NEWEST)
    assert maximum.version == Version(1, 7)
    assert 'DeleteRequest 1.1 is needed' in maximum.reason
    assert 'a server (release 0.1.0) supports only DeleteRequest 1.0' in (
        maximum.reason
    )
    assert [str(limit.microversion) for limit in fleet.limits(TOPIC)] == [
        '1.8',
        '1.10',
    ]


@pytest.mark.parametrize('others', [[], ['new']])
def test_maximum_when_a_server_has_another_major_version_explains_it(
    types: None, others: list[str]
) -> None:
    newest = member('next', DeleteRequest='2.0', Item='1.1')
    fleet = view(newest, *map(member, others))
    assert dict(fleet.cap(TOPIC)) == {'Item': '1.1'}
    maximum = fleet.maximum(TOPIC, NEWEST)
    assert maximum.version == Version(1, 7)
    assert 'DeleteRequest 1.1 is needed' in maximum.reason
    assert 'supports only DeleteRequest 2.0' in maximum.reason


def test_only_the_explanation_for_operators_names_a_process(
    types: None,
) -> None:
    fleet = view(member('old', DeleteRequest='1.0', Item='1.0'))
    for limit in fleet.limits(TOPIC):
        assert 'but worker old on host (release 0.1.0)' in limit.explanation
        assert 'host' not in limit.reason
        assert 'worker' not in limit.reason


def test_reason_names_one_of_the_limiting_members(types: None) -> None:
    old = {'DeleteRequest': '1.0', 'Item': '1.1'}
    fleet = view(
        *(member(f'old-{number}', **old) for number in range(5)),
        member('older', DeleteRequest='1.0', Item='1.0'),
    )
    limit = fleet.limits(TOPIC)[0]
    assert sum(group.count for group in limit.groups) == 6
    assert 'and 5 more support only DeleteRequest 1.0' in limit.reason


def test_groups_name_the_first_of_their_members() -> None:
    members = [member(str(number), Item='1.0') for number in range(9)]
    (group,) = group_members(members)
    assert group.count == 9
    assert group.examples == tuple(m.process for m in members[:EXAMPLES])


def test_maximum_when_a_resource_is_old_is_limited(types: None) -> None:
    fleet = view(member('old', DeleteRequest='1.1', Item='1.0'))
    assert fleet.maximum(TOPIC, NEWEST).version == Version(1, 9)


def test_maximum_counts_joining_members(types: None) -> None:
    joining = dataclasses.replace(
        member('old', DeleteRequest='1.0', Item='1.1'), state='joining'
    )
    assert view(member('new'), joining).maximum(TOPIC, NEWEST).version == (
        Version(1, 7)
    )


@pytest.mark.parametrize(
    ('kind', 'reason'),
    [
        ('held', 'DeleteRequest is held at 1.0'),
        ('pinned', '[upgrade_levels] engine limits it to 1.0'),
    ],
)
def test_maximum_with_a_hold_or_a_pin_is_limited(
    types: None, kind: str, reason: str
) -> None:
    low = Manifest({'DeleteRequest': '1.0', 'Item': '1.1'})
    maximum = view(member('new'), **{kind: low}).maximum(TOPIC, NEWEST)
    assert maximum.version == Version(1, 7)
    assert reason in maximum.reason


def test_maximum_when_a_limit_is_the_newest_is_one_less(types: None) -> None:
    fleet = view(member('old', DeleteRequest='1.1', Item='1.0'))
    newest = Version(1, 10)
    assert fleet.maximum(TOPIC, newest).version == Version(1, 9)
    data = to_json(fleet, TOPIC, newest, [])
    assert data['max_microversion'] == '1.9'
    (limit,) = data['limits']
    assert limit['microversion'] == '1.10'


def test_maximum_when_the_first_microversion_is_limited_is_null(
    registry: None,
) -> None:
    @objects.register
    class Item(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.0': '1.1'}
        fields = {'name': added('1.1', fields.StringField(default=''))}

    maximum = view(member('old', Item='1.0')).maximum(TOPIC, Version(1, 2))
    assert maximum.version == NULL


def test_limits_name_each_type_at_its_lowest_microversion_in_their_order(
    registry: None,
) -> None:
    """Which is neither that of registration nor that of names."""
    for name, versions in {
        'Crate': {'1.9': '1.1'},
        'Item': {'1.5': '1.1', '1.8': '1.2'},
        'Shelf': {'1.2': '1.1'},
    }.items():
        newest = max(versions.values())
        changes = {
            f'f{version[2:]}': added(version, fields.IntegerField(default=0))
            for version in versions.values()
        }
        objects.register(
            type(
                name,
                (objects.Resource,),
                {
                    'VERSION': newest,
                    'VERSION_MAP': versions,
                    'fields': changes,
                },
            )
        )
    old = member('old', Crate='1.0', Item='1.0', Shelf='1.0')
    assert [
        (limit.type_name, str(limit.microversion))
        for limit in view(old).limits(TOPIC)
    ] == [('Shelf', '1.2'), ('Item', '1.5'), ('Crate', '1.9')]


def test_count_is_that_of_a_topic_or_of_all() -> None:
    fleet = view(
        member('a', Item='1.0'),
        member('b', Item='1.1'),
        member('c', topic='other', Item='1.0'),
    )
    assert (fleet.count(), fleet.count(TOPIC), fleet.count('other')) == (
        3,
        2,
        1,
    )


def test_to_json_without_limits_has_no_reason(types: None) -> None:
    new = member('new', DeleteRequest='1.1', Item='1.1')
    found = to_json(view(new), TOPIC, NEWEST, [])
    assert (found['limits'], found['reason']) == ([], '')


def test_to_json_contains_limits_groups_and_members(types: None) -> None:
    old = dataclasses.replace(
        member('old', DeleteRequest='1.0', Item='1.1'), age=2.5
    )
    digest = old.manifest.digest
    process = {
        'id': 'old',
        'binary': 'worker',
        'host': 'host',
        'release': '0.1.0',
    }
    held = Manifest({'Item': '1.1', 'DeleteRequest': '1.1'})
    origin = HoldOrigin('alice', '2.0 is new', 1_800_000_000.5)
    fleet = view(old, held=held, hold_origin=origin)
    reason = fleet.limits(TOPIC)[0].explanation
    assert 'DeleteRequest' in reason
    assert to_json(fleet, TOPIC, NEWEST, [old]) == {
        'generation': 1,
        'max_microversion': '1.7',
        'reason': reason,
        'held': dict(held),
        'hold_origin': {
            'owner': 'alice',
            'reason': '2.0 is new',
            'since': '2027-01-15T08:00:00Z',
        },
        'limits': [
            {
                'microversion': '1.8',
                'type': 'DeleteRequest',
                'needs': '1.1',
                'speaks': '1.0',
                'reason': reason,
            }
        ],
        'groups': [
            {
                'topic': TOPIC,
                'state': 'joining',
                'manifest': digest,
                'count': 1,
                'examples': [process],
            }
        ],
        'manifests': {digest: {'DeleteRequest': '1.0', 'Item': '1.1'}},
        'members': [
            {
                **process,
                'topic': TOPIC,
                'state': 'joining',
                'age': 2.5,
                'manifest': digest,
            }
        ],
    }
    assert to_json(view(old), TOPIC, NEWEST, [])['held'] is None


def test_view_without_limits_keeps_manifests_as_they_are() -> None:
    """Also types that cannot be converted, because others may be sent."""
    manifest = Manifest({'Thing': '1.0', 'Other': '2.0'})
    assert View(1, ()).limited(manifest) == manifest
