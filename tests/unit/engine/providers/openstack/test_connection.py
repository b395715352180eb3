# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import json
import pathlib

import pytest

from engine.providers import base, openstack
from engine.providers.openstack import connection
from tests import cloud as fake
from tests import sdk_warnings, waiting
from tests.unit.engine.conftest import make_conf
from tests.unit.engine.providers.openstack import conftest

pytestmark = sdk_warnings.IGNORED


configuration = functools.partial(make_conf, 'provider_openstack')


def test_cloud_of_clouds_yaml_is_used(
    cloud: fake.Cloud, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    auth = fake.credentials(cloud)
    kind = auth.pop('auth_type')
    entry = {'auth_type': kind, 'auth': auth, 'region_name': 'RegionTwo'}
    # JSON is YAML.
    path = tmp_path / 'clouds.yaml'
    path.write_text(json.dumps({'clouds': {'ours': entry}}))
    monkeypatch.setenv('OS_CLIENT_CONFIG_FILE', str(path))
    provider = openstack.load(configuration(cloud='ours'))
    assert provider.servers.find('key') is None
    assert cloud.requests_to('GET /compute/v2.1/servers/detail')
    with pytest.raises(connection.CloudConfigError, match='theirs'):
        openstack.load(configuration(cloud='theirs'))


def test_section_without_a_cloud_names_the_option() -> None:
    with pytest.raises(connection.CloudConfigError, match="set 'cloud', or"):
        openstack.load(configuration())


def test_wrong_password_is_reported_by_the_first_request(
    cloud: fake.Cloud,
) -> None:
    conf = conftest.configured(cloud)
    conf.set_override('password', 'wrong', 'provider_openstack')
    provider = openstack.load(conf)
    with pytest.raises(base.ProviderError, match=r'401: .*authentication'):
        provider.servers.find('key')


def test_unreachable_cloud_is_reported_without_its_address() -> None:
    cloud = fake.Cloud()
    # No process listens on port 1 of this machine.
    cloud.url = 'http://127.0.0.1:1'
    provider = openstack.load(conftest.configured(cloud, retries=0))
    with pytest.raises(base.ProviderError) as caught:
        provider.servers.find('key')
    assert 'does not answer' in str(caught.value)
    assert '127.0.0.1' not in str(caught.value)


def test_silent_cloud_is_reported_after_the_request_timeout(
    cloud: fake.Cloud,
) -> None:
    provider = openstack.load(
        conftest.configured(cloud, request_timeout=0.2, retries=1)
    )
    provider.servers.find('key')
    with cloud.lock, pytest.raises(base.ProviderError, match='not answer'):
        provider.servers.find('key')


def test_expired_token_is_replaced(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    provider.servers.find('key')
    cloud.token = 'other'
    assert provider.servers.find('key') is None


def test_threads_share_one_token(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    properties = {'flavor': 'm1.small', 'image': 'cirros'}

    def create(number: int) -> None:
        provider.servers.create(f'key-{number}', 'web', properties)

    waiting.in_threads(create, range(4))
    assert len(cloud.servers) == 4
    assert len(cloud.requests_to('POST /identity')) == 1
