# SPDX-License-Identifier: Apache-2.0
"""A certificate or key that cannot be used is named before its first use."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from keystoneauth1 import loading
from oslo_config import cfg

from api import keystone
from engine.providers.openstack import conf as openstack_conf
from engine.providers.openstack import connection as openstack
from engine.trusts import conf as trusts_conf
from engine.trusts import keystone as trusts
from tests.certificates import CertificateAuthority
from tests.unit.api import conftest
from vobjects import exceptions, tls_files
from vobjects.cli import main
from vobjects.rpc import transport
from vobjects_docker import connection as docker

CA, CERTIFICATE, KEY = 0, 1, 2


@pytest.fixture
def files(tmp_path: pathlib.Path) -> dict[str, str]:
    """Paths of good and bad files."""
    authority = CertificateAuthority(tmp_path)
    certificate, key = authority.sign('one')
    _, other_key = authority.sign('two')
    text = tmp_path / 'text'
    text.write_text('no PEM')
    encrypted = tmp_path / 'encrypted'
    encrypted.write_text(
        '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n'
        '-----END ENCRYPTED PRIVATE KEY-----\n'
    )
    both = tmp_path / 'both'
    both.write_text(
        pathlib.Path(certificate).read_text() + pathlib.Path(key).read_text()
    )
    return {
        'ca': str(authority.file),
        'certificate': certificate,
        'key': key,
        'both': str(both),
        'other key': other_key,
        'missing': str(tmp_path / 'missing'),
        'directory': str(tmp_path),
        'text': str(text),
        'encrypted': str(encrypted),
        '': '',
    }


#: Names of the files for authorities, certificate and key, number of the
#: option that the error names, and its problem and fix.
BAD = [
    ('missing', '', '', CA, 'No such file or directory; name a PEM file'),
    ('directory', '', '', CA, 'it is not a file; name a PEM file'),
    ('text', '', '', CA, 'it contains no certificate; name'),
    ('key', '', '', CA, 'it contains no certificate; name'),
    ('ca', 'missing', 'key', CERTIFICATE, 'No such file or directory; name'),
    ('ca', 'directory', 'key', CERTIFICATE, 'it is not a file; name'),
    ('ca', 'text', 'key', CERTIFICATE, 'it contains no certificate; name'),
    ('', 'certificate', 'missing', KEY, 'No such file or directory; name'),
    ('', 'certificate', 'directory', KEY, 'it is not a file; name'),
    ('', 'certificate', 'text', KEY, 'it contains no private key without'),
    ('', 'certificate', 'encrypted', KEY, 'it contains no private key wi'),
    ('', 'certificate', 'other key', KEY, 'the key does not belong to the'),
]

#: Docker has a rule of its own for these.
INCOMPLETE = [
    ('', 'certificate', '', CERTIFICATE, 'set {key}, too'),
    ('', '', 'key', KEY, 'set {certificate}, too'),
]

GOOD = [
    ('ca', 'certificate', 'key'),
    ('ca', 'both', ''),
    ('', '', ''),
]


def set_all(conf: cfg.ConfigOpts, section: str, values: Any) -> Any:
    for name, value in values.items():
        conf.set_override(name, value, section)
    return conf


def open_rabbit(values: dict[str, str]) -> None:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    # It registers the options of rabbit://, and has no directory of its own.
    transport.open_transport(conf, 'x', url='fake://').cleanup()
    set_all(conf, 'oslo_messaging_rabbit', {'ssl': True, **values})
    transport.open_transport(conf, 'x', url='pyamqp://127.0.0.1:1/')


def open_keystone(values: dict[str, str]) -> None:
    conf = conftest.make_conf(auth_strategy='keystone')
    with pytest.raises(keystone.InvalidKeystoneConfig):
        keystone.check(conf)  # registers the options
    keystone.check(set_all(conf, keystone.GROUP, values))


def open_docker(values: dict[str, str]) -> None:
    from vobjects_docker.conf import OPTIONS

    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    conf.register_opts(OPTIONS, docker.SECTION)
    docker.tls_options(set_all(conf, docker.SECTION, {'tls': True, **values}))


def open_trusts(values: dict[str, str]) -> None:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    trusts_conf.register(conf)
    trusts.KeystoneTrusts(set_all(conf, trusts_conf.GROUP, values))


def open_openstack(values: dict[str, str]) -> None:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    conf.register_opts(openstack_conf.OPTIONS, openstack.SECTION)
    for options in (
        loading.get_auth_common_conf_options(),
        loading.get_session_conf_options(),
    ):
        conf.register_opts(options, openstack.SECTION)
    account = {'auth_type': 'password', **values}
    openstack.Cloud.configured(set_all(conf, openstack.SECTION, account))


OPENERS: dict[str, tuple[int, Callable[[dict[str, str]], None]]] = {
    'oslo_messaging_rabbit': (1, open_rabbit),
    'keystone_authtoken': (0, open_keystone),
    'provider_docker': (2, open_docker),
    'receivers': (0, open_trusts),
    'provider_openstack': (0, open_openstack),
}


def values_of(
    names: tuple[str, ...], files: dict[str, str], *kinds: str
) -> dict[str, str]:
    return {name: files[kind] for name, kind in zip(names, kinds, strict=True)}


def skip_folder(names: tuple[str, ...], ca: str) -> None:
    if tls_files.FILE_OR_FOLDER in names and ca == 'directory':
        pytest.skip('requests reads a folder')


@pytest.mark.parametrize('names', tls_files.NAMES)
@pytest.mark.parametrize('kinds', GOOD)
def test_good_files_are_accepted(
    files: dict[str, str], kinds: Any, names: Any
) -> None:
    tls_files.check('[x]', values_of(names, files, *kinds))


def test_folder_of_authorities_is_accepted_where_requests_reads_it(
    files: dict[str, str],
) -> None:
    for names in tls_files.NAMES:
        values = values_of(names, files, 'directory', '', '')
        if tls_files.FILE_OR_FOLDER in names:
            tls_files.check('[x]', values)


@pytest.mark.parametrize('names', tls_files.NAMES)
@pytest.mark.parametrize(
    ('ca', 'certificate', 'key', 'wrong', 'problem'), [*BAD, *INCOMPLETE]
)
def test_bad_file_is_named_with_its_option_and_the_fix(
    files: dict[str, str],
    ca: str,
    certificate: str,
    key: str,
    wrong: int,
    problem: str,
    names: tuple[str, ...],
) -> None:
    values = values_of(names, files, ca, certificate, key)
    skip_folder(names, ca)
    with pytest.raises(exceptions.TlsConfigError) as raised:
        tls_files.check('[x]', values)
    assert str(raised.value).startswith(
        f'[x] {names[wrong]} = {values[names[wrong]]}: '
        + problem.format(certificate=names[CERTIFICATE], key=names[KEY])
    )
    assert '\n' not in str(raised.value)


@pytest.mark.parametrize('section', OPENERS)
@pytest.mark.parametrize(('ca', 'certificate', 'key', 'wrong', 'problem'), BAD)
def test_each_user_of_files_checks_them(
    files: dict[str, str],
    ca: str,
    certificate: str,
    key: str,
    wrong: int,
    problem: str,
    section: str,
) -> None:
    number, opener = OPENERS[section]
    names = tls_files.NAMES[number]
    values = values_of(names, files, ca, certificate, key)
    skip_folder(names, ca)
    with pytest.raises(exceptions.TlsConfigError) as raised:
        opener(values)
    start = f'[{section}] {names[wrong]} = {values[names[wrong]]}: {problem}'
    assert str(raised.value).startswith(start)


def test_notifications_name_the_option_whose_url_has_a_bad_file() -> None:
    with pytest.raises(exceptions.TlsConfigError) as raised:
        transport.open_notifications(
            'rabbit://127.0.0.1:1/?ssl=1&ssl_ca_file=/none', '[a] urls'
        )
    assert str(raised.value).startswith('[a] urls: ssl_ca_file = /none: No su')


@pytest.mark.parametrize('scheme', ['rabbit', 'pyamqp'])
@pytest.mark.parametrize('place', ['query', 'section'])
def test_command_ends_with_one_line_and_code_2(
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
    scheme: str,
    place: str,
) -> None:
    path = tmp_path / 'x.conf'
    query, options = '?ssl=true&ssl_ca_file=/none', ''
    if place == 'section':
        query, options = '', 'ssl = true\nssl_ca_file = /none\n'
    path.write_text(
        f'[DEFAULT]\ntransport_url = {scheme}://127.0.0.1:1/{query}\n'
        f'[oslo_messaging_rabbit]\n{options}'
    )
    code = main.main(
        ['fleet', 'list', '--service=clustering', f'--config-file={path}']
    )
    assert code == 2
    assert capsys.readouterr().err == (
        'vobjects fleet: [oslo_messaging_rabbit] ssl_ca_file = /none: No such'
        ' file or directory; name a PEM file that this process can read\n'
    )
