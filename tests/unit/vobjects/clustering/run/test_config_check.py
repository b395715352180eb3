# SPDX-License-Identifier: Apache-2.0
"""Checking configuration files."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from oslo_config import cfg

from tests.unit.etc.test_sample import ETC
from vobjects.clustering.run import config_check
from vobjects.rpc import conf as rpc_conf


@pytest.fixture
def written(tmp_path):
    """A function that writes a configuration file."""

    def write(text, name='a.conf'):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def texts(*files):
    return [finding.text for finding in config_check.check(list(files))]


UNKNOWN = 'unknown option, nothing reads it; did you mean'
ACCOUNT = 'auth_type = password\n'


@pytest.mark.parametrize(
    ('section', 'line', 'problem'),
    [
        ('api', 'prot = 5', f"prot: {UNKNOWN} 'port'?"),
        ('engine', 'port = 5', f'port: {UNKNOWN} section [api]?'),
        ('DEFAULT', 'debgu = true', f"debgu: {UNKNOWN} 'debug'?"),
        (
            'keystone_authtoken',
            f'{ACCOUNT}pasword = x',
            f"pasword: {UNKNOWN} 'password'?",
        ),
        (
            'engine',
            'workers = many',
            'workers = many: must be a whole number from 1 to 1024',
        ),
        (
            'engine',
            'stop_timeout = -1',
            'stop_timeout = -1: must be a number from 0.0 to 1728000.0',
        ),
        (
            'oslo_messaging_rabbit',
            'kombu_reconnect_delay = nan',
            'kombu_reconnect_delay = nan: must be a number from 0.0 to 4.5',
        ),
        (
            'embedded_messaging',
            'queue_size =',
            'queue_size = : must be a whole number of at least 1',
        ),
        (
            'api',
            'auth_strategy = magic',
            'auth_strategy = magic: must be one of none, http_basic, keystone',
        ),
        ('api', 'ui = perhaps', 'ui = perhaps: must be true or false'),
        (
            'api',
            'port = 65536',
            'port = 65536: must be a whole number from 0 to 65535',
        ),
        (
            'api',
            'host = a b',
            'host = a b: must be an IP address or a host name',
        ),
        (
            'api',
            'history_url = ftp://x',
            'history_url = ftp://x: must be a URL with http or https',
        ),
        (
            'oslo_messaging_rabbit',
            'ssl = perhaps',
            'ssl = perhaps: must be true or false',
        ),
    ],
)
def test_check_when_a_setting_is_invalid_reports_place_and_fix(
    written, section, line, problem
):
    file = written(f'[{section}]\n{line}\n')
    assert texts(file) == [f'{file}: [{section}] {problem}']


def test_check_when_a_section_is_unknown_names_the_nearest(written):
    file = written('[engin]\nworkers = 4\nstop_timeout = 1\n')
    assert texts(file) == [
        f'{file}: [engin]: unknown section, nothing reads it; did you mean'
        " 'engine'?"
    ]


@pytest.mark.parametrize(
    'text',
    [
        '[api]\nport = 5\n[API]\nhost = ::1',
        # Options of libraries.
        '[oslo_messaging_rabbit]\nrabbit_quorum_queue = true',
        '[oslo_middleware]\nenable_proxy_headers_parsing = true',
        '[healthcheck]\nbackends = vobjects_fleet',
        '[oslo_policy]\npolicy_file = x',
        '[cors]\nallowed_origin = http://x',
        # Under the name that Senlin has for it.
        '[oslo_middleware]\nmax_request_body_size = 2048',
        # Of the plug-in of an account, and of one elsewhere.
        '[keystone_authtoken]\nauth_type = v3applicationcredential\n'
        'application_credential_id = x',
        '[receivers]\nauth_section = account\n'
        '[account]\nauth_type = password\nusername = x\ntimeout = 3',
    ],
)
def test_check_when_all_is_known_finds_nothing(written, text):
    assert texts(written(text)) == []


def test_check_finds_nothing_in_the_example():
    assert texts(str(ETC / 'vobjects.conf.example')) == []


def test_check_when_a_later_file_sets_it_again_names_that(written):
    good = written('[engine]\nworkers = 4', 'good.conf')
    bad = written('[engine]\nworkers = many', 'bad.conf')
    assert texts(bad, good) == []
    (text,) = texts(good, bad)
    assert text.startswith(f'{bad}: [engine] workers = many')


def test_check_when_a_value_refers_to_another_option_finds_nothing(written):
    assert (
        texts(written('[DEFAULT]\nlog_dir = /x\nlog_file = $log_dir/y')) == []
    )


def test_check_when_a_value_is_secret_does_not_show_it(written):
    file = written('[keystone_authtoken]\nmemcache_secret_key = $hush')
    (text,) = texts(file)
    assert 'memcache_secret_key = ***' in text
    assert 'hush' not in text
    assert '$$' in text


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO)
    return logging.getLogger(__name__).log


def configured(*files):
    conf = cfg.ConfigOpts()
    rpc_conf.register(conf)
    conf([], default_config_files=list(files), default_config_dirs=[])
    return conf


def test_announce_logs_files_servers_and_unknown_options(written, log, caplog):
    file = written('[fleet]\nheartbeat = 1')
    config_check.announce(
        configured(file), log, {'Database': 'postgresql://u:s3cret@db/x'}
    )
    assert caplog.messages == [
        f'Configuration: {file}',
        'Database: postgresql://u:***@db/x',
        f'{file}: [fleet] heartbeat: unknown option, nothing reads it; did'
        " you mean 'heartbeat_interval'?",
    ]
    assert caplog.records[-1].levelname == 'WARNING'


def test_announce_without_a_file_names_the_searched_paths(log, caplog):
    config_check.announce(configured(), log, {})
    assert caplog.messages == [
        'Configuration: no file found in ~/.vobjects, ~, /etc/vobjects and'
        ' /etc, for vobjects.conf and vobjects.conf.d'
    ]


def test_announce_rejects_bad_values_of_this_process_only(written, log):
    config_check.announce(configured(written('[api]\nport = x')), log, {})
    with pytest.raises(
        config_check.BadValue, match='calls_at_once = x: must be'
    ):
        config_check.announce(
            configured(written('[fleet]\ncalls_at_once = x')), log, {}
        )


def test_check_loads_no_database() -> None:
    """API processes check the engine's options, too."""
    code = (
        'import sys\n'
        'from vobjects.clustering.run import config_check\n'
        'config_check.check([])\n'
        'assert "engine.conf" in sys.modules\n'
        'sys.exit("sqlalchemy" in sys.modules)'
    )
    assert not subprocess.run(
        [sys.executable, '-c', code], check=False
    ).returncode
