# SPDX-License-Identifier: Apache-2.0
"""A cloud for each test, and the provider that is configured for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from keystoneauth1 import loading
from oslo_config import cfg

from engine.providers import base, openstack
from tests import cloud as fake
from tests.unit.engine.conftest import make_conf


@pytest.fixture
def cloud() -> Iterator[fake.Cloud]:
    """A cloud."""
    with fake.serving() as served:
        yield served


def configured(cloud: fake.Cloud, **options: object) -> cfg.ConfigOpts:
    """Return a configuration for a cloud, in a hurry."""
    section = 'provider_openstack'
    values = {
        'poll_interval': 0.01,
        'retry_delay': 0.01,
        'region_name': 'RegionOne',
        **options,
    }
    conf = make_conf(section, **values)
    loading.register_auth_conf_options(conf, section)
    conf.register_opts(
        loading.get_auth_plugin_conf_options('password'), section
    )
    for name, value in fake.credentials(cloud).items():
        conf.set_override(name, value, section)
    return conf


@pytest.fixture
def conf(cloud: fake.Cloud) -> cfg.ConfigOpts:
    """The configuration for the cloud."""
    return configured(cloud)


@pytest.fixture
def provider(conf: cfg.ConfigOpts) -> base.Provider:
    """The provider for the cloud."""
    return openstack.load(conf)
