# SPDX-License-Identifier: Apache-2.0
"""Testbed of the suites: Keystone, the service and a fake cloud.

The service has two engines and the simulated cloud. Suites that also need
images, flavors and networks find those of :mod:`tests.cloud` in the catalog.
"""

from __future__ import annotations

import configparser
import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Iterator
from typing import Any

from tests import cloud as fake
from tests import databases
from tests.clients.suites import Suite
from tests.cloud.identity import SERVICES
from tests.functional import brokers, deployments, keystone

#: Names that the suites expect in a cloud, as in a DevStack.
FLAVOR, IMAGE = 'm1.small', 'cirros-0.4.0-x86_64-disk'

#: Names of openstacksdk's accounts -> whether each is an administrator.
CLOUDS = {
    'devstack': False,
    'devstack-alt': False,
    'devstack-admin': True,
    'devstack-system-admin': True,
}

#: Services that the suites must not use.
ABSENT = ('cinder', 'glance', 'neutron', 'nova', 'swift', 'zaqar')

#: Options that make the service behave like Senlin in its own CI.
SETTINGS = {
    'api': {'method_missing_status': 400},
    # A test of health policies serves the URL that it has polled.
    'health_manager': {'interval_min': 10, 'forbidden_networks': ''},
}


@dataclasses.dataclass(frozen=True, slots=True)
class Account:
    """A user with a project of the same name, which is its password, too."""

    name: str
    is_admin: bool

    def tempest(self) -> dict[str, Any]:
        """Return an entry of tempest's file of accounts."""
        return {
            'username': self.name,
            'password': self.name,
            'project_name': self.name,
            'roles': ['admin' if self.is_admin else 'member'],
        }

    def cloud(self, url: str) -> dict[str, Any]:
        """Return an entry of ``clouds.yaml``.

        :param url: of Keystone
        """
        return {
            'auth': {
                'auth_url': url,
                'username': self.name,
                'password': self.name,
                'user_domain_id': 'default',
                'project_name': self.name,
                'project_domain_id': 'default',
            },
            'region_name': keystone.REGION,
        }


def platform() -> deployments.Platform:
    """Return RabbitMQ and PostgreSQL if both are available, else neither."""
    if brokers.unavailable_reason() or databases.unavailable_reason(
        'postgresql'
    ):
        return deployments.Platform('embedded', 'sqlite')
    return deployments.Platform('pyamqp', 'postgresql')


@dataclasses.dataclass(frozen=True, slots=True)
class Testbed:
    """A running Keystone and a deployment of the service."""

    identity: keystone.Keystone
    service: deployments.Deployment


def configure(
    identity: keystone.Keystone,
    suite: Suite,
    environment: pathlib.Path,
    directory: pathlib.Path,
    workers: int,
) -> dict[str, str]:
    """Create the accounts of a suite and the configuration of its clients.

    :param environment: of the suite
    :param directory: for these files
    :param workers: each has a user and an administrator to itself
    :returns: environment variables
    """
    accounts = {
        is_admin: [_add(identity, suite, n, is_admin) for n in range(workers)]
        for is_admin in (True, False)
    }
    url = identity.url
    clouds = {
        name: accounts[is_admin][0].cloud(url)
        for name, is_admin in CLOUDS.items()
    }
    extra = {
        'functional': {'flavor_name': FLAVOR, 'image_name': IMAGE},
        # Old releases look for IPv6 in a way that needs a default route.
        'client': {'force_ipv4': True},
    }
    files = {
        'clouds.yaml': {'clouds': clouds, **extra},
        'accounts.yaml': [
            account.tempest()
            for accounts_of_role in accounts.values()
            for account in accounts_of_role
        ],
    }
    for name, content in files.items():
        # JSON is YAML.
        (directory / name).write_text(json.dumps(content))
    _write_tempest_conf(directory, url)
    return {
        name: value.format(
            directory=directory,
            bin=environment / 'bin',
            url=url,
            user=accounts[True][0].name,
        )
        for name, value in suite.environment.items()
    }


def _add(
    identity: keystone.Keystone, suite: Suite, number: int, is_admin: bool
) -> Account:
    word = 'admin' if is_admin else 'user'
    account = Account(f'{suite.name}-{word}-{number}', is_admin)
    roles = ['member', 'admin'] if is_admin else ['member']
    identity.add_project(account.name)
    identity.add_user(account.name, account.name, *roles)
    # Keystone records the day of a user's last token. When many users
    # get their first at once, SQLite refuses all writes but one.
    identity.token(account.name, account.name)
    return account


def _write_tempest_conf(directory: pathlib.Path, identity_url: str) -> None:
    options = {
        'DEFAULT': {'log_dir': directory, 'log_file': 'tempest.log'},
        'auth': {
            'use_dynamic_credentials': False,
            'test_accounts_file': directory / 'accounts.yaml',
        },
        'clustering': {
            'delete_with_dependency': True,
            'health_policy_version': '1.1',
        },
        'compute': {'flavor_ref': FLAVOR, 'image_ref': IMAGE},
        'identity': {
            'auth_version': 'v3',
            'region': keystone.REGION,
            'uri_v3': identity_url,
        },
        'identity-feature-enabled': {'api_v2': False},
        'oslo_concurrency': {'lock_path': directory},
        'service_available': dict.fromkeys(ABSENT, False),
    }
    config = configparser.RawConfigParser(default_section='')
    config.read_dict(options)
    with (directory / 'tempest.conf').open('w') as file:
        config.write(file)


@contextlib.contextmanager
def running(directory: pathlib.Path) -> Iterator[Testbed]:
    """Run the testbed."""
    home = directory / 'service'
    home.mkdir()
    with keystone.running(directory) as identity, fake.serving() as cloud:
        cloud.project_of = identity.project_of
        cloud.images[fake.new_id()] = IMAGE
        for type_ in ('compute', 'image', 'network'):
            path = SERVICES[type_]
            identity.add_endpoint(cloud.url + path, type_, type_)
        settings = identity.settings()
        for section, options in SETTINGS.items():
            settings.setdefault(section, {}).update(options)
        with deployments.deployed(platform(), home, settings) as service:
            identity.add_endpoint(service.url)
            service.start_engines(2)
            service.start_api()
            yield Testbed(identity, service)
