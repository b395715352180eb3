# SPDX-License-Identifier: Apache-2.0
"""Directories of listening sockets."""

from __future__ import annotations

import os
import pathlib
import socket
import stat
import time

import pytest

from oslo_messaging_embedded import directory, errors
from oslo_messaging_embedded.directory import Address, Directory, SocketNames

ADDRESS = Address('exchange', 'topic', 'server')


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / 'state' / 'bus'


def test_directory_when_absent_is_created_for_this_user_only(
    root: pathlib.Path,
) -> None:
    before = os.umask(0)
    try:
        listening = Directory(str(root)).open(ADDRESS)
    finally:
        os.umask(before)
    listening.socket.close()
    path = pathlib.Path(listening.path)
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_names_of_sockets_stay_the_same(root: pathlib.Path) -> None:
    # A process of another release looks for them.
    address = Address('vobjects', 'vobjects-engine', 'host-1/2')
    topic = Directory(str(root)).topic(address)
    assert topic == f'{root}/vobjects-engine.4ce2bd9079'
    assert directory.server_prefix('host-1/2') == 'host-1_2.3572081b1d.'


@pytest.mark.parametrize('mode', [0o750, 0o701, 0o777])
def test_directory_when_others_have_access_is_rejected(
    root: pathlib.Path, mode: int
) -> None:
    root.mkdir(parents=True)
    root.chmod(mode)
    with pytest.raises(errors.UnsafeDirectory, match=f'{mode:04o}.*chmod'):
        Directory(str(root))


def test_open_when_others_have_gained_access_is_rejected(
    root: pathlib.Path,
) -> None:
    sockets = Directory(str(root))
    root.chmod(0o770)
    with pytest.raises(errors.UnsafeDirectory):
        sockets.open(ADDRESS)


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can give files away')
def test_directory_when_it_belongs_to_another_user_is_rejected(
    root: pathlib.Path,
) -> None:
    root.mkdir(parents=True, mode=0o700)
    os.chown(root, 12345, 12345)
    with pytest.raises(errors.UnsafeDirectory, match='user 12345'):
        Directory(str(root))


def test_directory_when_it_is_a_file_is_rejected(root: pathlib.Path) -> None:
    root.parent.mkdir()
    root.write_text('')
    with pytest.raises(errors.UnsafeDirectory, match='cannot be created'):
        Directory(str(root))


@pytest.mark.parametrize('length', [1, 60, 120, 200])
def test_connect_when_path_is_of_any_length_reaches_the_listener(
    tmp_path: pathlib.Path, length: int
) -> None:
    listening = Directory(str(tmp_path / ('d' * length))).open(ADDRESS)
    connected = directory.connect(listening.path, 1)
    connected.close()
    listening.socket.close()


def test_connect_when_listener_is_dead_removes_its_socket(
    root: pathlib.Path,
) -> None:
    listening = Directory(str(root)).open(ADDRESS)
    listening.socket.close()
    with pytest.raises(errors.NotHandled):
        directory.connect(listening.path, 1)
    assert not os.path.exists(listening.path)
    with pytest.raises(errors.NotHandled):
        directory.connect(listening.path, 1)


def test_open_when_repeated_uses_a_new_name(
    root: pathlib.Path,
) -> None:
    sockets = Directory(str(root))
    listeners = [sockets.open(ADDRESS) for _ in range(5)]
    for listening in listeners:
        listening.socket.close()
    assert len({listening.path for listening in listeners}) == 5


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
def test_topic_when_addresses_differ_returns_different_directories(
    root: pathlib.Path, other: Address
) -> None:
    sockets = Directory(str(root))
    paths = {sockets.topic(address) for address in (ADDRESS, other)}
    assert len(paths) == 2
    assert {os.path.dirname(path) for path in paths} == {str(root)}


def test_names_when_the_directory_is_unchanged_returns_none(
    root: pathlib.Path,
) -> None:
    sockets = Directory(str(root))
    listening = sockets.open(ADDRESS)
    listening.socket.close()
    topic = os.path.dirname(listening.path)
    long_ago = time.time() - 100
    os.utime(topic, (long_ago, long_ago))
    socket_names = SocketNames(topic)
    assert socket_names.names() == [os.path.basename(listening.path)]
    assert socket_names.names() is None
    listening.unlink()
    assert socket_names.names() == []


def test_names_when_two_changes_have_one_timestamp_returns_both(
    root: pathlib.Path,
) -> None:
    sockets = Directory(str(root))
    first = sockets.open(ADDRESS)
    topic = os.path.dirname(first.path)
    just_now = time.time() - 0.5
    socket_names = SocketNames(topic)
    os.utime(topic, (just_now, just_now))
    socket_names.names()
    second = sockets.open(ADDRESS)
    os.utime(topic, (just_now, just_now))
    names = socket_names.names()
    assert names is not None
    assert len(names) == 2
    first.socket.close()
    second.socket.close()


def test_names_when_directory_is_absent_is_empty(
    root: pathlib.Path,
) -> None:
    socket_names = SocketNames(str(root / 'nothing'))
    assert not socket_names.names()


def test_open_when_temporary_sockets_are_stale_removes_them(
    root: pathlib.Path,
) -> None:
    sockets = Directory(str(root))
    topic = pathlib.Path(sockets.topic(ADDRESS))
    topic.mkdir()
    old, young = topic / '.old', topic / '.young'
    for left in (old, young):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(left))
    an_hour_ago = time.time() - 3600
    os.utime(old, (an_hour_ago, an_hour_ago))
    listening = sockets.open(ADDRESS)
    listening.socket.close()
    assert not old.exists()
    assert young.exists()
