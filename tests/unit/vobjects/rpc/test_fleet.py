# SPDX-License-Identifier: Apache-2.0
"""The cap and the effective maximum of a fleet."""

from __future__ import annotations

import dataclasses

import pytest

from vobjects import fields, objects
from vobjects.objects.history import added
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc.fleet import EXAMPLES, Member, View, group_members
from vobjects.versions import Maximum, Version

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


def view(*members: Member, **limits: Manifest) -> View:
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


def test_maximum_when_a_server_is_old_explains_the_limit(types: None) -> None:
    fleet = view(member('new'), member('old', DeleteRequest='1.0', Item='1.0'))
    maximum = fleet.maximum(TOPIC, NEWEST)
    assert maximum.version == Version(1, 7)
    assert 'DeleteRequest 1.1 is needed' in maximum.reason
    assert 'worker old on host (release 0.1.0)' in maximum.reason
    assert 'supports only DeleteRequest 1.0' in maximum.reason
    assert [str(limit.microversion) for limit in fleet.limits(TOPIC)] == [
        '1.8',
        '1.10',
    ]


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


@pytest.mark.parametrize('kind', ['held', 'pinned'])
def test_maximum_with_a_hold_or_a_pin_is_limited(
    types: None, kind: str
) -> None:
    low = Manifest({'DeleteRequest': '1.0', 'Item': '1.1'})
    maximum = view(member('new'), **{kind: low}).maximum(TOPIC, NEWEST)
    assert maximum.version == Version(1, 7)
    assert 'DeleteRequest is held at 1.0' in maximum.reason
