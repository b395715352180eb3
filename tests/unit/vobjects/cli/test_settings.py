# SPDX-License-Identifier: Apache-2.0
"""Configuration files and options that commands require."""

import argparse
import pathlib

import pytest
from oslo_config import cfg

from vobjects import exceptions
from vobjects.cli import settings
from vobjects.rpc import conf as rpc_conf


def configured(*files):
    conf = cfg.ConfigOpts()
    rpc_conf.register(conf)
    conf([], default_config_files=list(files), default_config_dirs=[])
    return conf


def _write(folder, text):
    path = folder / 'vobjects.conf'
    path.write_text(text)
    return str(path)


def test_require_bus_when_only_the_default_is_set_names_the_option(tmp_path):
    with pytest.raises(settings.NotConfigured, match='transport_url is not'):
        settings.require_bus(configured(_write(tmp_path, '[fleet]\n')))


def test_require_bus_when_set_returns_it(tmp_path):
    file = _write(tmp_path, '[DEFAULT]\ntransport_url = rabbit://\n')
    assert settings.require_bus(configured(file)) == 'rabbit://'


def test_default_state_directory_when_xdg_state_home_is_set_then_below_it(
    monkeypatch,
):
    monkeypatch.setenv('XDG_STATE_HOME', '/var/state')
    assert settings.default_state_directory() == pathlib.Path(
        '/var/state/vobjects'
    )


@pytest.mark.parametrize('home', ['', 'relative/path'])
def test_default_state_directory_when_xdg_is_relative_then_usual_place(
    home, monkeypatch
):
    monkeypatch.setenv('XDG_STATE_HOME', home)
    monkeypatch.setenv('HOME', '/home/someone')
    assert settings.default_state_directory() == pathlib.Path(
        '/home/someone/.local/state/vobjects'
    )


@pytest.fixture
def somewhere(tmp_path, monkeypatch):
    """An empty home and working directory, without a configuration."""
    monkeypatch.setenv('HOME', str(tmp_path))
    for name in ('XDG_STATE_HOME', 'VOBJECTS_CONFIG_FILE'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv('VOBJECTS_STATE_DIR', raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _state(directory):
    directory.mkdir(mode=0o700, parents=True)
    return _write(directory, '[fleet]\n')


def _located(*arguments):
    parser = argparse.ArgumentParser()
    settings.add_options(parser)
    return settings.locate(parser.parse_args(arguments))


def test_locate_when_nothing_exists_finds_no_files(somewhere):
    assert _located() == settings.Sources([])


def test_locate_takes_the_first_place_that_exists(somewhere, monkeypatch):
    places = [
        _state(somewhere / '.local' / 'state' / 'vobjects'),
        _state(somewhere / '.state'),
    ]
    (somewhere / '.vobjects').mkdir()
    for place in reversed(places):
        pathlib.Path(place).chmod(0o600)
    found = [list(_located().files)]
    places.append(_write(somewhere / '.vobjects', '[fleet]\n'))
    found.append(list(_located().files))
    places.append(_state(somewhere / 'named'))
    monkeypatch.setenv('VOBJECTS_STATE_DIR', str(somewhere / 'named'))
    found.append(list(_located().files))
    monkeypatch.setenv('VOBJECTS_CONFIG_FILE', '/a.conf:/b.conf')
    found.append(list(_located().files))
    found.append(
        list(_located('--state-dir', str(somewhere / '.state')).files)
    )
    assert found == [
        [places[1]],
        [places[2]],
        [places[3]],
        ['/a.conf', '/b.conf'],
        [places[1]],
    ]


def test_locate_when_others_may_write_the_file_ignores_it(somewhere):
    file = pathlib.Path(_state(somewhere / '.state'))
    file.chmod(0o622)
    assert not _located().files
    file.chmod(0o600)
    assert list(_located().files) == [str(file)]
    file.parent.chmod(0o777)
    assert not _located().files


def test_locate_when_a_directory_is_named_has_its_files_last(somewhere):
    file = _write(somewhere, '[fleet]\n')
    directory = somewhere / 'more'
    directory.mkdir()
    for name in ('20.conf', '10.conf', 'notes.txt'):
        (directory / name).write_text('')
    sources = _located('--config-dir', str(directory), '--config-file', file)
    assert sources.all_files() == [
        file,
        str(directory / '10.conf'),
        str(directory / '20.conf'),
    ]


@pytest.mark.parametrize(
    ('arguments', 'error_text'),
    [
        (['--config-file=none.conf'], 'none.conf does not exist; name the'),
        (['--config-file=/'], '/ is a directory; name the state directory'),
        (['--config-dir=none'], 'none is not a directory; name the state'),
        (['--state-dir=none'], 'none/vobjects.conf is not a file: no "vobj'),
        (['--state-dir=.', '--config-file=x'], 'use either --state-dir, or'),
    ],
)
def test_locate_when_a_file_is_missing_names_the_options(
    somewhere, arguments, error_text
):
    with pytest.raises(exceptions.VobjectsError) as caught:
        _located(*arguments)
    assert error_text in str(caught.value)
    assert '--config-file' in str(caught.value)


@pytest.mark.parametrize(
    'arguments', [['--config-file=vobjects.conf'], ['--config-dir=.'], []]
)
def test_locate_when_a_file_is_not_text_names_it(somewhere, arguments):
    (somewhere / 'vobjects.conf').write_bytes(b'[api]\n# \xff\n')
    message = r'vobjects\.conf is not text in utf-8; name'
    with pytest.raises(exceptions.VobjectsError, match=message):
        _located(*arguments)


def test_locate_when_the_variable_is_wrong_names_it(somewhere, monkeypatch):
    monkeypatch.setenv('VOBJECTS_STATE_DIR', '/no/such')
    with pytest.raises(exceptions.VobjectsError) as caught:
        _located()
    assert str(caught.value).startswith('$VOBJECTS_STATE_DIR: /no/such/vobj')
