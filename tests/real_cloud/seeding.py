# SPDX-License-Identifier: Apache-2.0
"""First contents of the cloud: users, catalogue, networks, images, flavors.

Each function may be repeated.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator
from typing import Any

import openstack.connection

from tests.real_cloud import services
from tests.real_cloud.settings import PASSWORD, REGION, USERS, Settings

#: Role -> users that have it in their projects.
ROLES = {
    'member': ('demo', 'other'),
    'load-balancer_member': ('demo', 'other'),
    'load-balancer_admin': (),
    'heat_stack_owner': ('demo', 'other'),
    'heat_stack_user': (),
}

#: The user of the clustering service.
SERVICE_USER = 'vobjects'

#: Name -> vCPUs and MiB of memory.
FLAVORS = {'m1.tiny': (1, 64), 'm1.small': (1, 128), 'm1.medium': (2, 256)}

IMAGES = ('cirros', 'debian')

#: Bytes of an image; Nova's fake driver does not read them.
IMAGE_SIZE = 65_536

#: External network of floating addresses, and each project's own network.
PUBLIC, PRIVATE = ('public', '172.24.4.0/24'), ('private', '10.1.0.0/20')


@contextlib.contextmanager
def connection(
    settings: Settings, user: str
) -> Iterator[openstack.connection.Connection]:
    """Yield a connection of a user in its project."""
    with warnings.catch_warnings():
        # openstacksdk warns about its own calls.
        warnings.simplefilter('ignore')
        client = openstack.connection.Connection(
            auth=settings.account(user), region_name=REGION
        )
        try:
            yield client
        finally:
            client.close()


def identity(settings: Settings) -> None:
    """Create projects, users, roles and the catalogue."""
    with connection(settings, 'admin') as admin:
        keystone: Any = admin.identity
        service_users = [*services.BY_NAME, SERVICE_USER]
        domains = {'heat': _ensure(keystone, 'domain', 'heat')}
        projects = {
            name: _ensure(keystone, 'project', name, domain_id='default')
            for name in ('admin', 'service', 'demo', 'other')
        }
        users = {
            name: _ensure(
                keystone,
                'user',
                name,
                domain_id='default',
                password=PASSWORD,
                default_project_id=projects[USERS.get(name, 'service')].id,
            )
            for name in (*service_users, *USERS)
        }
        roles = {role.name: role for role in keystone.roles()}
        for role, members in ROLES.items():
            roles[role] = _ensure(keystone, 'role', role)
            for user in members:
                keystone.assign_project_role_to_user(
                    projects[USERS[user]], users[user], roles[role]
                )
        for user in service_users:
            # The clustering service needs no more than the role "service".
            names = ('service', *(('admin',) * (user != SERVICE_USER)))
            for role in names:
                keystone.assign_project_role_to_user(
                    projects['service'], users[user], roles[role]
                )
        heat_admin = _ensure(
            keystone,
            'user',
            'heat_domain_admin',
            domain_id=domains['heat'].id,
            password=PASSWORD,
        )
        keystone.assign_domain_role_to_user(
            domains['heat'], heat_admin, roles['admin']
        )
        _catalogue(settings, keystone)


def _catalogue(settings: Settings, keystone: Any) -> None:
    known = {service.type for service in keystone.services()}
    for service in services.SERVICES:
        if service.type in known:
            continue
        created = keystone.create_service(name=service.name, type=service.type)
        keystone.create_endpoint(
            service_id=created.id,
            interface='public',
            region_id=REGION,
            url=settings.url(service.name) + service.path,
        )


def resources(settings: Settings) -> None:
    """Create flavors, zones, images and networks."""
    with connection(settings, 'admin') as admin:
        flavors = {flavor.name for flavor in admin.compute.flavors()}
        for name, (vcpus, ram) in FLAVORS.items():
            if name not in flavors:
                admin.compute.create_flavor(
                    name=name, vcpus=vcpus, ram=ram, disk=1
                )
        aggregates = {group.name for group in admin.compute.aggregates()}
        for zone in set(services.ZONES) - aggregates:
            group = admin.compute.create_aggregate(
                name=zone, availability_zone=zone
            )
            admin.compute.add_host_to_aggregate(group, f'compute-{zone}')
        images = {image.name for image in admin.image.images()}
        for name in set(IMAGES) - images:
            admin.image.create_image(
                name,
                data=b'\0' * IMAGE_SIZE,
                disk_format='raw',
                container_format='bare',
                visibility='public',
                # Otherwise, openstacksdk computes checksums.
                validate_checksum=False,
            )
        _network(
            admin,
            *PUBLIC,
            is_router_external=True,
            provider_network_type='flat',
            provider_physical_network='public',
        )
    for user in ('demo', 'other'):
        with connection(settings, user) as client:
            project_network(client)


def project_network(client: Any) -> None:
    """Create a network of a project, with a router to the public one."""
    network = _network(client, *PRIVATE)
    if client.network.find_router('router') is None:
        public = client.network.find_network(PUBLIC[0], ignore_missing=False)
        router = client.network.create_router(
            name='router', external_gateway_info={'network_id': public.id}
        )
        client.network.add_interface_to_router(
            router, subnet_id=network.subnet_ids[0]
        )


def _network(client: Any, name: str, cidr: str, **values: Any) -> Any:
    """Return a network with a subnet, creating the missing ones."""
    project = client.current_project_id
    for network in client.network.networks(name=name, project_id=project):
        return network
    network = client.network.create_network(name=name, **values)
    client.network.create_subnet(
        name=f'{name}-subnet',
        network_id=network.id,
        ip_version=4,
        cidr=cidr,
        is_dhcp_enabled=False,
    )
    return client.network.get_network(network.id)


def _ensure(proxy: Any, kind: str, name: str, **values: Any) -> Any:
    """Return a resource of Keystone, creating it if it is missing."""
    find = getattr(proxy, f'find_{kind}')
    scope = {'domain_id': values['domain_id']} if 'domain_id' in values else {}
    found = find(name, ignore_missing=True, **scope)
    if found is not None:
        return found
    return getattr(proxy, f'create_{kind}')(name=name, **values)


def compute_hosts(settings: Settings) -> list[str]:
    """Return the compute hosts that are up."""
    with connection(settings, 'admin') as admin:
        response = admin.compute.get('/os-services?binary=nova-compute')
        content = json.loads(response.content)
        return [
            service['host']
            for service in content['services']
            if service['state'] == 'up'
        ]
