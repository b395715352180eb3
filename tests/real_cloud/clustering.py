# SPDX-License-Identifier: Apache-2.0
"""The clustering service under test, with the cloud as its provider."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

from tests.functional import deployments, keystone
from tests.functional.rest import RestClient, action_id_of, unique
from tests.real_cloud.seeding import SERVICE_USER
from tests.real_cloud.settings import REGION, Settings
from tests.real_cloud.tenants import PRIVATE, Tenant

PLATFORM = deployments.Platform('embedded', 'sqlite')


def options(settings: Settings) -> dict[str, dict[str, object]]:
    """Return the options of the service."""
    account = {'auth_type': 'password', **settings.account(SERVICE_USER)}
    return {
        'api': {'auth_strategy': 'keystone'},
        'engine': {'provider': 'openstack'},
        'keystone_authtoken': {
            **account,
            'www_authenticate_uri': settings.auth_url,
            'token_cache_time': -1,
        },
        'receivers': {'encryption_keys': keystone.KEY, 'revoke_interval': 1},
        'provider_openstack': {
            # Only an administrator may list hypervisors.
            'auth_type': 'password',
            **settings.account('admin'),
            'region_name': REGION,
            'poll_interval': 0.3,
            'retry_delay': 0.2,
            'notification_url': settings.transport_url,
            'notification_pool': unique('engines'),
        },
        'queues': {'driver': 'zaqar', 'cloud': 'demo'},
        'health_manager': {
            'interval_min': 1,
            'events_interval': 0.2,
            'forbidden_networks': '',
        },
    }


@contextlib.contextmanager
def deployed(
    settings: Settings,
    directory: pathlib.Path,
    *,
    platform: deployments.Platform = PLATFORM,
    engines: int = 1,
    allowed_errors: str = '',
    changes: Mapping[str, Mapping[str, object]] | None = None,
) -> Iterator[deployments.Deployment]:
    """Run the service, with an API and engines.

    :param changes: options that differ
    """
    sections = options(settings)
    for section, values in (changes or {}).items():
        sections[section] = {**sections.get(section, {}), **values}
    with deployments.deployed(
        platform, directory, sections, allowed_errors=allowed_errors
    ) as deployment:
        deployment.group.variables['OS_CLIENT_CONFIG_FILE'] = str(
            settings.clouds_yaml
        )
        if engines:
            deployment.start_engines(engines)
            deployment.start_api()
        yield deployment
        assert deployment.locks() == []


@contextlib.contextmanager
def client(
    deployment: deployments.Deployment, tenant: Tenant
) -> Iterator[Client]:
    """Yield a REST client with a token of a tenant."""
    with Client(deployment.url) as rest:
        rest.authenticate(tenant)
        yield rest


class Client(RestClient):
    """REST client with what the tests of the cloud have in common."""

    # With each request, Keystone validates the token.
    POLL_INTERVAL = 0.3

    def authenticate(self, tenant: Tenant) -> None:
        """Use a new token of a tenant."""
        self._session.headers['X-Auth-Token'] = tenant.token()

    def profile(self, type_: str, **properties: Any) -> str:
        """Return the ID of a new profile."""
        return self.create_profile(
            {'type': type_, 'version': '1.0', 'properties': properties}
        )

    def server_profile(self, **properties: Any) -> str:
        """Return the ID of a new profile of servers."""
        defaults = {
            'flavor': 'm1.tiny',
            'image': 'cirros',
            'networks': [{'network': PRIVATE}],
        }
        return self.profile('os.nova.server', **{**defaults, **properties})

    def attach(
        self, cluster: str, kind: str, version: str, **properties: Any
    ) -> str:
        """Attach a new policy to a cluster; return its ID."""
        policy = self.create_policy(kind, version, **properties)
        self.run(cluster, 'policy_attach', policy_id=policy)
        return policy

    def fail(self, cluster: str, name: str, **values: Any) -> dict[str, Any]:
        """Run an action on a cluster, which must fail."""
        action = self.wait_for_end(self.start_action(cluster, name, **values))
        assert action['status'] == 'FAILED', action
        return action

    def update(self, cluster: str, **values: Any) -> dict[str, Any]:
        """Update a cluster; return the action."""
        path = f'/v1/clusters/{cluster}'
        response = self.expect(202, 'PATCH', path, {'cluster': values})
        return self.wait_for_end(action_id_of(response))

    def node(self, node: str) -> dict[str, Any]:
        """Return a node with the cloud's description of its object."""
        details: dict[str, Any] = self.get(
            f'/v1/nodes/{node}?show_details=true'
        )
        return details

    def physical_ids(self, cluster: str) -> list[str]:
        """Return the IDs of the objects of a cluster's nodes."""
        return [str(node['physical_id']) for node in self.nodes(cluster)]
