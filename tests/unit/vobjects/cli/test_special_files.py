# SPDX-License-Identifier: Apache-2.0
"""Paths of options that name no file."""

import argparse
import os
import socket

import pytest
from oslo_config import cfg

from vobjects import exceptions
from vobjects.cli import settings, special_files


def _socket(path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


#: Kind in the message -> what makes a path of that kind.
SPECIAL = {
    'a directory': lambda path: path.mkdir(),
    'a FIFO': os.mkfifo,
    'a socket': _socket,
    'a device': lambda path: path.symlink_to('/dev/zero'),
}

special = pytest.mark.parametrize('kind', SPECIAL)

#: Section, option: of this service, of libraries, and of a driver.
OPTIONS = [
    ('DEFAULT', 'log_config_append'),
    ('api', 'http_basic_auth_user_file'),
    ('oslo_policy', 'policy_file'),
    ('database', 'ssl_file'),
]


@pytest.fixture
def path(tmp_path):
    """A path that a test makes something of."""
    return tmp_path / 'special'


@special
def test_a_path_when_special_is_told(kind, path):
    SPECIAL[kind](path)
    assert special_files.kind_of(path) == kind
    link = path.with_name('link')
    link.symlink_to(path)
    assert special_files.kind_of(link) == kind


def test_a_path_when_it_is_read_like_a_file_is_accepted(path):
    assert special_files.kind_of(path) == ''
    assert special_files.kind_of('\0') == ''
    path.symlink_to(path)
    assert special_files.kind_of(path) == ''
    assert special_files.kind_of(__file__) == ''
    assert special_files.kind_of(os.devnull) == ''
    reading, writing = os.pipe()
    assert special_files.kind_of(f'/dev/fd/{reading}') == ''
    os.close(reading)
    os.close(writing)


def configured(section, option, value):
    conf = cfg.ConfigOpts()
    group = None if section == 'DEFAULT' else section
    conf.register_opt(cfg.StrOpt('log_dir'))
    conf.register_opt(cfg.StrOpt(option), group)
    conf([], default_config_files=[], default_config_dirs=[])
    conf.set_override(option, value, group)
    return conf


@special
@pytest.mark.parametrize(('section', 'option'), OPTIONS)
def test_an_option_when_it_names_no_file_is_rejected(
    section, option, kind, path
):
    conf = configured(section, option, str(path))
    special_files.check(conf)
    path.write_text('')
    special_files.check(conf)
    path.unlink()
    SPECIAL[kind](path)
    with pytest.raises(exceptions.VobjectsError) as caught:
        special_files.check(conf)
    assert str(caught.value) == (
        f'[{section}] {option} = {path} must be a file, not {kind}'
    )


def test_a_log_when_it_is_a_fifo_is_rejected_and_a_device_is_not(path):
    os.mkfifo(path)
    conf = configured('DEFAULT', 'log_file', path.name)
    conf.set_override('log_dir', str(path.parent))
    with pytest.raises(exceptions.VobjectsError, match='not a FIFO'):
        special_files.check(conf)
    conf.set_override('log_file', '/dev/full')
    special_files.check(conf)


@special
@pytest.mark.parametrize('by', ['option', 'folder', 'environment'])
def test_a_configuration_file_when_special_is_rejected(
    by, kind, path, monkeypatch
):
    path = path.with_name('a.conf')
    SPECIAL[kind](path)
    parser = argparse.ArgumentParser()
    settings.add_options(parser)
    arguments = {
        'option': ['--config-file', str(path)],
        'folder': ['--config-dir', str(path.parent)],
        'environment': [],
    }[by]
    monkeypatch.setenv(settings.FILES_VARIABLE, str(path))
    with pytest.raises(exceptions.VobjectsError, match=f'{path} is {kind}'):
        settings.locate(parser.parse_args(arguments))
