# SPDX-License-Identifier: Apache-2.0
"""The services of the cloud: packages, schemas, endpoints and processes.

Commands and environments may contain ``{etc}``, the directory with the
configuration of the service.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True, slots=True)
class Process:
    """A process of a service, and the name of its log.

    :ivar run: a WSGI module, or a program if ``is_api`` is false
    :ivar arguments: for the module or the program
    :ivar ready: regular expression of the log line after the start; for
        processes without an API
    """

    name: str
    run: str
    arguments: str = ''
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_api: bool = False
    ready: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class Service:
    """A service.

    :ivar name: also of its user in Keystone
    :ivar package: distribution on PyPI; constraints.txt has the version
    :ivar type: type in the catalogue
    :ivar path: path of the endpoint
    :ivar databases: names, without the prefix
    :ivar schema: commands that create the tables
    """

    name: str
    package: str
    type: str
    path: str
    databases: tuple[str, ...]
    schema: tuple[str, ...]
    processes: tuple[Process, ...]


def _api(
    service: str,
    module: str,
    arguments: str = '',
    **environment: str,
) -> Process:
    return Process(f'{service}-api', module, arguments, environment, True)


#: Zones, with one compute host each.
ZONES = ('az1', 'az2')

SERVICES = (
    Service(
        'keystone',
        'keystone',
        'identity',
        '/v3',
        ('keystone',),
        (
            'keystone-manage --config-file {etc}/keystone.conf db_sync',
            'keystone-manage --config-file {etc}/keystone.conf fernet_setup'
            ' {owner}',
            'keystone-manage --config-file {etc}/keystone.conf bootstrap'
            ' {bootstrap}',
        ),
        (
            _api(
                'keystone',
                'keystone.wsgi.api',
                OS_KEYSTONE_CONFIG_FILES='{etc}/keystone.conf',
            ),
        ),
    ),
    Service(
        'placement',
        'openstack-placement',
        'placement',
        '',
        ('placement',),
        ('placement-manage --config-file {etc}/placement.conf db sync',),
        (
            _api(
                'placement',
                'placement.wsgi.api',
                OS_PLACEMENT_CONFIG_DIR='{etc}',
            ),
        ),
    ),
    Service(
        'glance',
        'glance',
        'image',
        '',
        ('glance',),
        ('glance-manage --config-file {etc}/glance-api.conf db_sync',),
        (_api('glance', 'glance.wsgi.api', OS_GLANCE_CONFIG_DIR='{etc}'),),
    ),
    Service(
        'nova',
        'nova',
        'compute',
        '/v2.1',
        ('nova_api', 'nova_cell0', 'nova'),
        (
            'nova-manage --config-file {etc}/nova.conf api_db sync',
            'nova-manage --config-file {etc}/nova.conf cell_v2 map_cell0',
            'nova-manage --config-file {etc}/nova.conf cell_v2 create_cell'
            ' --name cell1',
            'nova-manage --config-file {etc}/nova.conf db sync',
        ),
        (
            _api(
                'nova',
                'nova.wsgi.osapi_compute',
                OS_NOVA_CONFIG_DIR='{etc}',
            ),
            Process(
                'nova-conductor',
                'nova-conductor',
                '--config-file {etc}/nova.conf',
                ready='Starting conductor node',
            ),
            Process(
                'nova-scheduler',
                'nova-scheduler',
                '--config-file {etc}/nova.conf',
                ready='Starting scheduler node',
            ),
            *(
                Process(
                    f'nova-compute-{zone}',
                    'nova-compute',
                    f'--config-file {{etc}}/nova-compute-{zone}.conf',
                    ready='Starting compute node',
                )
                for zone in ZONES
            ),
        ),
    ),
    Service(
        'neutron',
        'neutron',
        'network',
        '',
        ('neutron',),
        ('neutron-db-manage --config-file {etc}/neutron.conf upgrade heads',),
        (
            _api(
                'neutron',
                'neutron.wsgi.api',
                OS_NEUTRON_CONFIG_DIR='{etc}',
                OS_NEUTRON_CONFIG_FILES='neutron.conf',
            ),
            Process(
                'neutron-rpc-server',
                'neutron-rpc-server',
                '--config-file {etc}/neutron.conf',
                ready='Selected multiprocessing start method',
            ),
        ),
    ),
    Service(
        'heat',
        'openstack-heat',
        'orchestration',
        '/v1/%(tenant_id)s',
        ('heat',),
        ('heat-manage --config-file {etc}/heat.conf db_sync',),
        (
            _api('heat', 'heat.wsgi.api', '--config-file {etc}/heat.conf'),
            Process(
                'heat-engine',
                'heat-engine',
                '--config-file {etc}/heat.conf',
                ready='Starting engine_worker',
            ),
        ),
    ),
    Service(
        'octavia',
        'octavia',
        'load-balancer',
        '',
        ('octavia',),
        ('octavia-db-manage --config-file {etc}/octavia.conf upgrade head',),
        (
            _api(
                'octavia',
                'octavia.wsgi.api',
                '--config-file {etc}/octavia.conf',
            ),
            Process(
                'octavia-worker',
                'octavia-worker',
                '--config-file {etc}/octavia.conf',
                ready='Starting V2 consumer',
            ),
        ),
    ),
    Service(
        'zaqar',
        'zaqar',
        'messaging',
        '',
        ('zaqar',),
        (
            'zaqar-sql-db-manage --config-file {etc}/.zaqar/zaqar.conf'
            ' upgrade head',
        ),
        (
            _api(
                'zaqar',
                'zaqar.transport.wsgi.app',
                # Zaqar finds its configuration in the home directory.
                HOME='{etc}',
            ),
        ),
    ),
)

#: Commands of Nova after its processes have started the first time.
AFTER_START = (
    'nova-manage --config-file {etc}/nova.conf cell_v2 discover_hosts',
)

#: Packages that the services need for these servers.
EXTRA_PACKAGES = ('gunicorn', 'PyMySQL', 'redis')

BY_NAME = {service.name: service for service in SERVICES}

PROCESSES = {
    process.name: process
    for service in SERVICES
    for process in service.processes
}
