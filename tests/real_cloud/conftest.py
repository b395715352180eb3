# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the cloud, a tenant, and the service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import sdk_warnings
from tests.functional.deployments import Deployment
from tests.functional.fixtures import (
    pytest_runtest_makereport,
    pytest_xdist_make_scheduler,
)
from tests.real_cloud import clustering, seeding, tenants
from tests.real_cloud.cloud import Cloud
from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import Tenant

__all__ = ['pytest_runtest_makereport', 'pytest_xdist_make_scheduler']


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignore the warnings of openstacksdk about its own calls."""
    for item in items:
        for mark in sdk_warnings.IGNORED:
            item.add_marker(mark)


@pytest.fixture(scope='session')
def cloud() -> Cloud:
    """The running cloud."""
    return tenants.require()


@pytest.fixture(scope='session')
def admin(cloud: Cloud) -> Iterator[Any]:
    """A connection of the cloud's administrator."""
    with seeding.connection(cloud.settings, 'admin') as client:
        yield client


@pytest.fixture(scope='module')
def tenant(cloud: Cloud, admin: Any) -> Iterator[Tenant]:
    """A user with a project for the tests of a module."""
    with tenants.temporary(cloud.settings, admin) as created:
        yield created


@pytest.fixture(scope='module')
def service(
    cloud: Cloud, tenant: Tenant, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """The service with one engine, for the tests of a module."""
    directory = tmp_path_factory.mktemp('service')
    with clustering.deployed(cloud.settings, directory) as deployment:
        yield deployment


@pytest.fixture
def rest(service: Deployment, tenant: Tenant) -> Iterator[Client]:
    """A client of the service with a token of the tenant.

    What a failed test has left is deleted, so that the next test passes.
    """
    with clustering.client(service, tenant) as client:
        yield client
        client.authenticate(tenant)
        for kind in ('clusters', 'nodes'):
            for resource in client.get(f'/v1/{kind}'):
                path = f'/v1/{kind}/{resource["id"]}'
                client.wait_for_end(client.delete(path, {'force': True}))
