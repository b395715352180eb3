# SPDX-License-Identifier: Apache-2.0
"""The state directory: for its owner alone, and for one run at a time."""

import base64
import os
import subprocess
import sys

import pytest
from oslo_config import cfg

from vobjects.clustering.run import state

HOLDER = """
import sys, pathlib
from vobjects.clustering.run import state
lock = state.StateDirectory(pathlib.Path(sys.argv[1])).lock()
print('locked', flush=True)
sys.stdin.read()
"""


@pytest.fixture
def directory(tmp_path):
    return state.StateDirectory(tmp_path / 'deep' / 'state')


def test_directory_when_created_is_private_to_its_owner(directory):
    assert directory.path.is_dir()
    for path in (directory.path, *directory.path.iterdir()):
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize('mode', [0o777, 0o770, 0o702, 0o1777])
def test_directory_when_others_may_write_to_it_is_rejected(tmp_path, mode):
    path = tmp_path / "a state's"
    path.mkdir()
    path.chmod(mode)
    with pytest.raises(state.StateError) as caught:
        state.StateDirectory(path)
    assert list(path.iterdir()) == []
    command = str(caught.value).partition('run: ')[2]
    subprocess.run(command, shell=True, check=True)
    assert state.StateDirectory(path).path == path


def test_directory_when_it_cannot_be_created_names_the_option(tmp_path):
    (tmp_path / 'file').touch()
    with pytest.raises(state.StateError, match='--state-dir'):
        state.StateDirectory(tmp_path / 'file')


def test_directory_when_a_file_is_in_the_way_then_error_names_it(directory):
    path = directory.path / 'log'
    path.rmdir()
    path.touch()

    with pytest.raises(state.StateError, match=f'{path} cannot be created'):
        state.StateDirectory(directory.path)


@pytest.mark.parametrize('name', ['50%', 'what?', '#1'])
def test_directory_when_its_name_cannot_be_in_a_url_is_rejected(
    name, tmp_path
):
    with pytest.raises(state.StateError, match=r'cannot have [%?#] in it'):
        state.StateDirectory(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can give files away')
def test_directory_of_another_user_is_rejected(tmp_path):
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(state.StateError, match='belongs to another user'):
        state.StateDirectory(tmp_path)


def test_lock_when_held_by_a_process_then_error_names_it(directory):
    with subprocess.Popen(
        [sys.executable, '-c', HOLDER, str(directory.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout.readline() == b'locked\n'
        with pytest.raises(state.StateError, match=f'process {holder.pid};'):
            directory.lock(within=5)
        holder.stdin.close()
    os.close(directory.lock())


def test_lock_when_left_by_a_dead_process_then_waits_for_its_children(
    directory,
):
    sleeper = (
        'import pathlib, subprocess, sys;'
        ' from vobjects.clustering.run import state;'
        ' lock = state.StateDirectory(pathlib.Path(sys.argv[1])).lock();'
        " subprocess.Popen(['sleep', sys.argv[2]], pass_fds=[lock])"
    )
    command = [sys.executable, '-c', sleeper, str(directory.path)]
    subprocess.run([*command, '1'], check=True)
    with pytest.raises(state.StateError, match='try again in a few seconds'):
        directory.lock()
    os.close(directory.lock(within=10))


def test_write_configuration_when_read_by_oslo_config_then_the_same(
    directory,
):
    url = 'mysql+pymysql://us$er:p%40s$$w#;rd@[::1]:3306/db?charset=utf8'
    file = directory.write_configuration(
        {'DEFAULT': {'name': 'a = b'}, 'database': {'connection': url}}
    )
    assert file.stat().st_mode & 0o777 == 0o600
    conf = cfg.ConfigOpts()
    conf.register_opts([cfg.StrOpt('name')])
    conf.register_opts([cfg.StrOpt('connection')], group='database')
    conf(['--config-file', str(file)])
    assert conf.name == 'a = b'
    assert conf.database.connection == url


def test_write_configuration_when_a_value_has_two_lines_raises(directory):
    with pytest.raises(state.StateError, match='transport_url has a char'):
        directory.write_configuration({'DEFAULT': {'transport_url': 'a\nb'}})


def test_log_when_it_grew_long_then_put_aside(directory, monkeypatch):
    monkeypatch.setattr(state, 'LOG_LIMIT', 3)
    directory.log('api').write_text('long')
    log = directory.log('api')
    assert not log.exists()
    assert log.with_name('api.log.1').read_text() == 'long'


def test_key_when_read_again_is_the_same_and_private(directory):
    key = directory.key()
    assert state.StateDirectory(directory.path).key() == key
    assert len(base64.urlsafe_b64decode(key)) == 32
    file = directory.path / 'receivers.key'
    assert file.stat().st_mode & 0o777 == 0o600


def test_key_when_it_cannot_be_read_then_error_names_it(directory):
    (directory.path / 'receivers.key').mkdir()
    with pytest.raises(state.StateError, match=r'receivers\.key'):
        directory.key()


@pytest.mark.parametrize(
    'content',
    [
        b'',
        b'\n',
        b'a' * 43,
        b'a' * 44,
        b'a' * 43 + b'=\n[api]\n',
        b'a' * 43 + b'=,',
        b'\xff' * 44,
        b'a' * 1_000_000,
    ],
)
def test_key_when_its_file_has_something_else_is_rejected(directory, content):
    (directory.path / 'receivers.key').write_bytes(content)
    with pytest.raises(state.StateError, match=r'receivers\.key has no key'):
        directory.key()


def test_keys_after_a_rotation_are_returned(directory):
    keys = f'{"a" * 43}=, {"b" * 43}='
    (directory.path / 'receivers.key').write_text(f'{keys}\n')
    assert directory.key() == keys
