# SPDX-License-Identifier: Apache-2.0
"""The files for Docker, as their own tools read them."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from keystoneauth1 import loading
from keystonemiddleware import auth_token
from oslo_config import cfg
from oslo_messaging import opts as messaging_opts

from api import conf as api_conf
from engine import cli
from tests import requirements
from tests.programs import run_program
from tests.unit.etc import helm

ETC = pathlib.Path(__file__).parents[3] / 'etc'
DOCKER = ETC / 'docker'
COMPOSE = DOCKER / 'compose.yaml'
KEYSTONE = DOCKER / 'compose.keystone.yaml'
MONITORING = DOCKER / 'compose.monitoring.yaml'
DOCKERFILES = (DOCKER / 'Dockerfile', DOCKER / 'keystone/Dockerfile')

#: Variables without a default in the files of Compose.
SECRETS = {
    'KEYSTONE_ADMIN_PASSWORD': 'one',
    'KEYSTONE_SERVICE_PASSWORD': 'two',
    'ENCRYPTION_KEYS': 'three',
}


def containers(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the containers in manifests."""
    if isinstance(value, dict):
        yield from value.get('containers', ())
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from containers(item)


def environment() -> dict[str, str]:
    """Return the environment variables of all files."""
    result = {}
    for path in (COMPOSE, KEYSTONE):
        for service in yaml.safe_load(path.read_text())['services'].values():
            result.update(service.get('environment', {}))
    for container in containers(helm.manifests(**helm.ALL)):
        for variable in container['env']:
            result[variable['name']] = variable
    return result


@pytest.fixture(scope='module')
def conf() -> cfg.ConfigOpts:
    """The options of all processes."""
    result = cli.configuration([])
    api_conf.register(result)
    rabbit = [
        (group, options)
        for group, options in messaging_opts.list_opts()
        if group == 'oslo_messaging_rabbit'
    ]
    for group, options in (
        *auth_token.list_opts(),
        *rabbit,
        (
            'keystone_authtoken',
            loading.get_auth_plugin_conf_options('password'),
        ),
    ):
        result.register_opts(options, group)
    return result


def show_compose(
    file: pathlib.Path = KEYSTONE, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Return what Compose makes of its file and another one.

    :param variables: environment variables in the files
    """
    requirements.programs('docker-compose')
    return run_program(
        (
            'docker-compose',
            f'--file={COMPOSE}',
            f'--file={file}',
            'config',
        ),
        env={'PATH': os.environ['PATH'], **variables},
    )


def test_dockerfiles_have_no_findings() -> None:
    hadolint = pathlib.Path(sys.executable).with_name('hadolint')
    result = run_program([hadolint, *DOCKERFILES])
    assert (result.returncode, result.stdout) == (0, '')


def test_keystone_when_passwords_are_set_reaches_apis_and_engines() -> None:
    result = show_compose(**SECRETS)
    assert result.returncode == 0, result.stderr
    services = yaml.safe_load(result.stdout)['services']
    for name in ('api-1', 'api-2', 'engine-1', 'engine-2'):
        variables = services[name]['environment']
        assert variables['OS_KEYSTONE_AUTHTOKEN__PASSWORD'] == 'two'
        # From the first file.
        assert 'rabbitmq' in variables['OS_DEFAULT__TRANSPORT_URL']
        strategy = variables.get('OS_API__AUTH_STRATEGY')
        assert strategy == ('keystone' if name.startswith('api') else None)


@pytest.mark.parametrize('missing', SECRETS)
def test_keystone_when_a_password_is_missing_names_it(missing: str) -> None:
    result = show_compose(**{k: v for k, v in SECRETS.items() if k != missing})
    assert result.returncode != 0
    assert f': set {missing}' in result.stderr


def test_monitoring_scrapes_all_apis_and_engines_by_names_they_serve() -> None:
    result = show_compose(MONITORING)
    assert result.returncode == 0, result.stderr
    services = yaml.safe_load(result.stdout)['services']
    config = yaml.safe_load((ETC / 'prometheus/compose.yaml').read_text())
    ((group,),) = (job['static_configs'] for job in config['scrape_configs'])
    names = {target.partition(':')[0] for target in group['targets']}
    assert names == {
        name for name in services if name.startswith(('api-', 'engine-'))
    }
    # An API without authentication serves no other names.
    for name in names:
        if name.startswith('api-'):
            assert services[name]['hostname'] == name
    mounted = re.findall(r'(/\S+/etc/\S+?):/\S+?:ro', result.stdout)
    assert len(mounted) == 4
    assert all(pathlib.Path(path).exists() for path in mounted)


def test_environment_variables_set_existing_options(
    conf: cfg.ConfigOpts,
) -> None:
    names = [name for name in environment() if '__' in name]
    assert len(names) >= 16
    for name in names:
        match = re.fullmatch(r'OS_([A-Z_]+?)__([A-Z_]+)', name)
        assert match is not None, name
        group, option = match[1].lower(), match[2].lower()
        if group == 'default':
            assert option == 'transport_url'
        else:
            assert option in conf[group], name
