# SPDX-License-Identifier: Apache-2.0
"""Projects in the cloud for tests, and the resources in them."""

from __future__ import annotations

import contextlib
import os
import pathlib
import uuid
from collections.abc import Iterator
from typing import Any

import openstack.connection

from tests import downloads, requirements
from tests.functional.processes import wait_for
from tests.real_cloud import cloud as real_cloud
from tests.real_cloud import seeding
from tests.real_cloud.settings import PASSWORD, REGION, Settings

STATE_VARIABLE = 'VOBJECTS_TEST_OPENSTACK'

#: Roles of the users of tests.
ROLES = ('member', 'load-balancer_member', 'heat_stack_owner')

PRIVATE, PUBLIC = seeding.PRIVATE[0], seeding.PUBLIC[0]


def require() -> real_cloud.Cloud:
    """Return the running cloud, or skip the test (fail it in CI)."""
    state = pathlib.Path(
        os.environ.get(STATE_VARIABLE)
        or downloads.ROOT / '.state' / 'openstack'
    )
    settings = Settings.load(state)
    if settings is None:
        requirements.missing(f'no cloud in {state}: run "tools/openstack up"')
    return real_cloud.Cloud(settings)


class Tenant:
    """A user with a project of the same name in the cloud.

    :ivar client: a connection of the user
    :ivar admin: a connection of the cloud's administrator
    """

    def __init__(self, settings: Settings, admin: Any, name: str) -> None:
        self.settings = settings
        self.admin = admin
        self.name = name
        project = admin.identity.create_project(name=name, domain_id='default')
        user = admin.identity.create_user(
            name=name, domain_id='default', password=PASSWORD
        )
        self.project_id, self.user_id = project.id, user.id
        for role in ROLES:
            self.add_role(role)
        self.client = self.connect()

    def connect(self) -> Any:
        """Return a new connection of the user."""
        account = self.settings.account(self.name)
        return openstack.connection.Connection(
            auth={**account, 'project_name': self.name}, region_name=REGION
        )

    def reconnect(self) -> None:
        """Replace the connection, whose token has been revoked."""
        self.client.close()
        self.client = self.connect()

    def token(self) -> str:
        """Return a new token of the user in the project."""
        connection = self.connect()
        try:
            return str(connection.auth_token)
        finally:
            connection.close()

    def can_authenticate(self) -> bool:
        """Tell whether Keystone accepts the tokens that it issues now."""
        response = self.admin.identity.get(
            '/auth/tokens', headers={'X-Subject-Token': self.token()}
        )
        return bool(response.status_code == 200)

    def add_role(self, name: str) -> None:
        """Give the user a role in the project."""
        self.admin.identity.assign_project_role_to_user(
            self.project_id, self.user_id, self._role(name)
        )

    def remove_role(self, name: str) -> None:
        """Take a role in the project from the user."""
        self.admin.identity.unassign_project_role_from_user(
            self.project_id, self.user_id, self._role(name)
        )

    def _role(self, name: str) -> Any:
        return self.admin.identity.find_role(name, ignore_missing=False)

    def trusts(self) -> list[dict[str, Any]]:
        """Return the trusts of the user for the clustering service."""
        service = self.admin.identity.find_user(seeding.SERVICE_USER)
        response = self.admin.identity.get(
            f'/OS-TRUST/trusts?trustor_user_id={self.user_id}'
        )
        return [
            trust
            for trust in response.json()['trusts']
            if trust['trustee_user_id'] == service.id
        ]

    # Resources

    @property
    def subnet(self) -> str:
        return f'{PRIVATE}-subnet'

    def servers(self) -> dict[str, Any]:
        """Return the servers of the project by ID."""
        return {server.id: server for server in self.client.compute.servers()}

    def ports(self) -> list[Any]:
        """Return the ports of the project, but not those of its router."""
        return [
            port
            for port in self.client.network.ports(project_id=self.project_id)
            if not (port.device_owner or '').startswith('network:')
        ]

    def floating_ips(self) -> list[Any]:
        """Return the floating IPs of the project."""
        return list(self.client.network.ips(project_id=self.project_id))

    def balancers(self) -> list[Any]:
        """Return the load balancers of the project."""
        return list(self.client.load_balancer.load_balancers())

    def stacks(self) -> dict[str, Any]:
        """Return the stacks of the project by ID."""
        return {
            stack.id: stack for stack in self.client.orchestration.stacks()
        }

    def server_groups(self) -> list[Any]:
        """Return the server groups of the project."""
        return list(self.client.compute.server_groups())

    def leftovers(self) -> dict[str, list[str]]:
        """Return the names of all resources that clusters may create."""
        resources = {
            'servers': list(self.servers().values()),
            'ports': self.ports(),
            'floating IPs': self.floating_ips(),
            'load balancers': self.balancers(),
            'stacks': list(self.stacks().values()),
            'server groups': self.server_groups(),
        }
        return {
            kind: [str(resource.name) for resource in found]
            for kind, found in resources.items()
            if found
        }

    def wait_for_status(self, server_id: str, status: str) -> None:
        """Wait until a server has a status and no task."""

        def has_status() -> bool:
            server = self.client.compute.get_server(server_id)
            return server.status == status and not server.task_state

        wait_for(f'server {server_id} is {status}', has_status)


@contextlib.contextmanager
def temporary(
    settings: Settings, admin: Any, *, is_doomed: bool = False
) -> Iterator[Tenant]:
    """Yield a new tenant, whose project must be empty at the end.

    :param is_doomed: whether the test deletes the project
    """
    tenant = Tenant(settings, admin, f'test-{uuid.uuid4().hex[:10]}')
    try:
        seeding.project_network(tenant.client)
        yield tenant
        assert is_doomed or tenant.leftovers() == {}
    finally:
        if not is_doomed:
            for stack in tenant.client.orchestration.stacks():
                tenant.client.orchestration.delete_stack(stack)
        _delete_leftovers(tenant)
        _delete_network(admin, tenant.project_id)
        tenant.client.close()
        for group in admin.network.security_groups(
            project_id=tenant.project_id
        ):
            admin.network.delete_security_group(group)
        admin.identity.delete_user(tenant.user_id)
        admin.identity.delete_project(tenant.project_id)


def _delete_leftovers(tenant: Tenant) -> None:
    """Delete what a failed test has left, as the administrator."""
    admin, project = tenant.admin, tenant.project_id
    for balancer in admin.load_balancer.load_balancers(project_id=project):
        admin.load_balancer.delete_load_balancer(balancer, cascade=True)
    for server in admin.compute.servers(all_projects=True, project_id=project):
        admin.compute.delete_server(server)
        admin.compute.wait_for_delete(server)
    for address in admin.network.ips(project_id=project):
        admin.network.delete_ip(address)


def _delete_network(admin: Any, project_id: str) -> None:
    network = admin.network
    for router in network.routers(project_id=project_id):
        for port in network.ports(device_id=router.id):
            if port.device_owner == 'network:router_interface':
                network.remove_interface_from_router(router, port_id=port.id)
        network.delete_router(router)
    for item in network.networks(project_id=project_id):
        # What a failed test has left.
        for port in network.ports(network_id=item.id):
            network.delete_port(port)
        network.delete_network(item)
