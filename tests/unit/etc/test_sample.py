# SPDX-License-Identifier: Apache-2.0
"""``etc/vobjects.conf.sample`` is complete and current."""

from __future__ import annotations

import importlib.metadata
import pathlib

import pytest
from oslo_config import cfg, generator

from api import conf as api_conf
from engine import conf as engine_conf
from engine.providers.openstack import conf as openstack_conf
from engine.trusts import conf as trusts_conf
from oslo_messaging_embedded import driver as embedded
from vobjects.clustering.run import config_check
from vobjects.rpc import conf as rpc_conf
from vobjects_docker import conf as docker_conf
from vobjects_simulated import conf as simulated_conf

ETC = pathlib.Path(__file__).parents[3] / 'etc'

#: Options that a deployment has to set, most of them of libraries.
REQUIRED = (
    '[DEFAULT] #transport_url =',
    '[database] #connection =',
    '[keystone_authtoken] #auth_type =',
    '[keystone_authtoken] #www_authenticate_uri =',
    '[keystone_authtoken] #memcached_servers =',
    '[provider_openstack] #auth_url =',
    '[provider_openstack] #username =',
    '[receivers] #encryption_keys =',
    '[receivers] #auth_type =',
    '[oslo_messaging_rabbit] #ssl =',
    '[oslo_middleware] #enable_proxy_headers_parsing =',
    '[oslo_policy] #policy_file =',
    '[healthcheck] #backends =',
    '[cors] #allowed_origin =',
)

MODULES = (
    api_conf,
    engine_conf,
    openstack_conf,
    trusts_conf,
    rpc_conf,
    embedded,
    docker_conf,
    simulated_conf,
)

#: Sections of the service. Other releases of libraries have other options.
OWN = {
    f'[{getattr(group, "name", group)}]'
    for module in MODULES
    for group, _ in module.list_opts()
}


def options(sample: pathlib.Path) -> list[str]:
    """Return the lines that set an option, each after its section."""
    lines, section = [], ''
    for line in sample.read_text().splitlines():
        if line.startswith('['):
            section = line
        elif line.startswith('#') and '=' in line:
            name = line[1:].partition('=')[0].strip()
            if name.isidentifier():
                lines.append(f'{section} {line}')
    return lines


@pytest.fixture(scope='module')
def fresh(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A sample that is made now."""
    path = tmp_path_factory.mktemp('sample') / 'vobjects.conf.sample'
    generator.main(
        [
            f'--config-file={ETC / "config-generator.conf"}',
            f'--output-file={path}',
        ]
    )
    return path


def test_sample_is_fresh(fresh: pathlib.Path) -> None:
    stored = own(options(ETC / 'vobjects.conf.sample'))
    assert stored == own(options(fresh)), 'run `make sample`'


def own(lines: list[str]) -> list[str]:
    """Return the lines of sections of the service."""
    return [line for line in lines if line.partition(' ')[0] in OWN]


def test_sample_has_the_required_options(fresh: pathlib.Path) -> None:
    for sample in (ETC / 'vobjects.conf.sample', fresh):
        text = '\n'.join(options(sample))
        assert [line for line in REQUIRED if line not in text] == []


def test_check_knows_all_options_of_a_sample(
    fresh: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    lines = []
    for line in fresh.read_text().splitlines():
        name, equals, _ = line.removeprefix('#').partition(' = ')
        if line.startswith('[') or (equals and name.isidentifier()):
            lines.append(line.removeprefix('#'))
    assert len(lines) > 300
    file = tmp_path / 'all.conf'
    file.write_text('\n'.join(lines))
    findings = [finding.text for finding in config_check.check([str(file)])]
    assert [text for text in findings if 'unknown' in text] == []


def test_sample_has_the_namespaces_of_the_processes() -> None:
    lines = (ETC / 'config-generator.conf').read_text().splitlines()
    listed = {
        line.partition(' = ')[2] for line in lines if 'namespace' in line
    }
    points = importlib.metadata.entry_points(group=config_check.GROUP)
    packages = ('api.', 'engine.', 'vobjects_docker.', 'vobjects_simulated.')
    ours = {p.name for p in points if p.value.startswith(packages)}
    assert ours <= listed
    for name in listed - ours:
        assert name.startswith(
            (config_check.PREFIX, *config_check.LIBRARIES)
        ), name


def test_sample_has_all_options_of_the_service(fresh: pathlib.Path) -> None:
    text = '\n'.join(options(fresh))
    for module in MODULES:
        for group, listed in module.list_opts():
            section = f'[{getattr(group, "name", group)}]'
            for option in listed:
                assert f'{section} #{option.dest} =' in text, option.name


def test_sample_can_be_read(
    fresh: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """With every line as a setting, too."""
    path = tmp_path / 'all.conf'
    lines = []
    for line in fresh.read_text().splitlines():
        name, equals, value = line.removeprefix('#').partition(' =')
        value = value.strip()
        is_setting = (
            equals and name.isidentifier() and value not in ('', '<None>')
        )
        lines.append(line.removeprefix('#') if is_setting else line)
    path.write_text('\n'.join(lines))
    conf = cfg.ConfigOpts()
    api_conf.register(conf)
    engine_conf.register(conf)
    rpc_conf.register(conf)
    conf([], default_config_files=[str(path)])
    assert conf.api.port == 8777
    api_conf.check(conf)
