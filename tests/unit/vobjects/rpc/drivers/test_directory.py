# SPDX-License-Identifier: Apache-2.0
"""Where listeners are found, and who may look."""

from __future__ import annotations

import os
import pathlib
import socket
import stat
import time

import pytest

from vobjects.rpc.drivers import directory, errors
from vobjects.rpc.drivers.directory import Address, Directory, SocketNames

ADDRESS = Address('exchange', 'topic', 'server')


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / 'state' / 'bus'


def test_directory_when_absent_is_made_for_us_alone(
    root: pathlib.Path,
) -> None:
    before = os.umask(0)
    try:
        door = Directory(str(root)).open(ADDRESS)
    finally:
        os.umask(before)
    door.socket.close()
    path = pathlib.Path(door.path)
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize('mode', [0o750, 0o701, 0o777])
def test_directory_when_others_have_access_is_refused(
    root: pathlib.Path, mode: int
) -> None:
    root.mkdir(parents=True)
    root.chmod(mode)
    with pytest.raises(errors.UnsafeDirectory, match=f'{mode:04o}.*chmod'):
        Directory(str(root))


def test_open_when_directory_was_opened_to_others_is_refused(
    root: pathlib.Path,
) -> None:
    made = Directory(str(root))
    root.chmod(0o770)
    with pytest.raises(errors.UnsafeDirectory):
        made.open(ADDRESS)


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can give files away')
def test_directory_when_it_is_another_users_is_refused(
    root: pathlib.Path,
) -> None:
    root.mkdir(parents=True, mode=0o700)
    os.chown(root, 12345, 12345)
    with pytest.raises(errors.UnsafeDirectory, match='user 12345'):
        Directory(str(root))


def test_directory_when_it_is_a_file_is_refused(root: pathlib.Path) -> None:
    root.parent.mkdir()
    root.write_text('')
    with pytest.raises(errors.UnsafeDirectory, match='cannot be made'):
        Directory(str(root))


@pytest.mark.parametrize('length', [1, 60, 120, 200])
def test_connect_when_path_is_of_any_length_reaches_the_listener(
    tmp_path: pathlib.Path, length: int
) -> None:
    door = Directory(str(tmp_path / ('d' * length))).open(ADDRESS)
    connected = directory.connect(door.path, 1)
    assert connected is not None
    connected.close()
    door.socket.close()


def test_connect_when_listener_is_dead_removes_its_socket(
    root: pathlib.Path,
) -> None:
    door = Directory(str(root)).open(ADDRESS)
    door.socket.close()
    assert directory.connect(door.path, 1) is None
    assert not os.path.exists(door.path)
    assert directory.connect(door.path, 1) is None


def test_open_when_repeated_never_takes_a_name_again(
    root: pathlib.Path,
) -> None:
    made = Directory(str(root))
    doors = [made.open(ADDRESS) for _ in range(5)]
    for door in doors:
        door.socket.close()
    assert len({door.path for door in doors}) == 5


@pytest.mark.parametrize(
    'other',
    [
        Address('exchange2', 'topic', 'server'),
        Address('exchange', 'topic2', 'server'),
        Address('exchange', 'to/../pic', 'server'),
        Address('exchange', 'to_.._pic', 'server'),
        Address('exchange', 'ü' * 100, 'server'),
    ],
)
def test_topic_when_anything_differs_has_a_directory_of_its_own(
    root: pathlib.Path, other: Address
) -> None:
    made = Directory(str(root))
    paths = {made.topic(address) for address in (ADDRESS, other)}
    assert len(paths) == 2
    assert {os.path.dirname(path) for path in paths} == {str(root)}


def test_names_when_nothing_changed_for_long_are_not_read_again(
    root: pathlib.Path,
) -> None:
    made = Directory(str(root))
    door = made.open(ADDRESS)
    door.socket.close()
    topic = os.path.dirname(door.path)
    long_ago = time.time() - 100
    os.utime(topic, (long_ago, long_ago))
    listing = SocketNames(topic)
    assert listing.names() == [os.path.basename(door.path)]
    assert listing.names() is None
    door.unlink()
    assert listing.names() == []


def test_names_when_two_changes_have_one_time_sees_both(
    root: pathlib.Path,
) -> None:
    made = Directory(str(root))
    first = made.open(ADDRESS)
    topic = os.path.dirname(first.path)
    just_now = time.time() - 0.5
    listing = SocketNames(topic)
    os.utime(topic, (just_now, just_now))
    listing.names()
    second = made.open(ADDRESS)
    os.utime(topic, (just_now, just_now))
    names = listing.names()
    assert names is not None
    assert len(names) == 2
    first.socket.close()
    second.socket.close()


def test_names_when_directory_is_absent_are_none_at_all(
    root: pathlib.Path,
) -> None:
    listing = SocketNames(str(root / 'nothing'))
    assert not listing.names()


def test_open_when_another_died_before_it_had_a_name_cleans_up(
    root: pathlib.Path,
) -> None:
    made = Directory(str(root))
    topic = pathlib.Path(made.topic(ADDRESS))
    topic.mkdir()
    old, young = topic / '.old', topic / '.young'
    for left in (old, young):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(left))
    an_hour_ago = time.time() - 3600
    os.utime(old, (an_hour_ago, an_hour_ago))
    door = made.open(ADDRESS)
    door.socket.close()
    assert not old.exists()
    assert young.exists()
