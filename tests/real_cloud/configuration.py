# SPDX-License-Identifier: Apache-2.0
"""Configuration files of the services."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
from collections.abc import Mapping

from tests.real_cloud import plugins, services
from tests.real_cloud.settings import PASSWORD, REGION, USERS, Settings

Sections = Mapping[str, Mapping[str, object]]

#: Any UUID: drivers that do nothing accept it as a network or image.
ANY_ID = '00000000-0000-4000-8000-000000000000'

#: Paste files of the packages -> copies in the service's directory.
PASTE_FILES = {
    'glance': 'etc/glance/glance-api-paste.ini',
    'nova': 'etc/nova/api-paste.ini',
    'neutron': 'etc/neutron/api-paste.ini',
    'heat': 'etc/heat/api-paste.ini',
}


def write(settings: Settings, venv: pathlib.Path) -> None:
    """Write all configuration files, and ``clouds.yaml``.

    :param venv: the virtual environment of the cloud
    """
    settings.logs.mkdir(parents=True, exist_ok=True)
    for service in services.BY_NAME:
        settings.etc(service).mkdir(parents=True, exist_ok=True)
    for zone in services.ZONES:
        _state_path(settings, zone).mkdir(exist_ok=True)
    for service, path in PASTE_FILES.items():
        shutil.copy(venv / path, settings.etc(service))
    for path, sections in _files(settings, venv).items():
        target = settings.directory / 'etc' / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(_ini(sections))
    _create_authority(settings.etc('octavia'))
    plugins.install(settings.directory / 'plugins')
    clouds = {
        'clouds': {
            user: {'auth': settings.account(user), 'region_name': REGION}
            for user in USERS
        }
    }
    # JSON is YAML.
    settings.clouds_yaml.write_text(json.dumps(clouds, indent=1) + '\n')


def _files(settings: Settings, venv: pathlib.Path) -> dict[str, Sections]:
    """Return the sections of each file."""
    files = {
        'keystone/keystone.conf': _keystone(settings),
        'placement/placement.conf': _placement(settings),
        'glance/glance-api.conf': _glance(settings),
        'nova/nova.conf': _nova(settings),
        'neutron/neutron.conf': _neutron(settings),
        'heat/heat.conf': _heat(settings, venv),
        'octavia/octavia.conf': _octavia(settings),
        'zaqar/.zaqar/zaqar.conf': _zaqar(settings),
    }
    for zone in services.ZONES:
        files[f'nova/nova-compute-{zone}.conf'] = _compute(settings, zone)
    return files


def _ini(sections: Sections) -> str:
    lines = []
    for section, options in sections.items():
        lines.append(f'[{section}]')
        lines += [f'{key} = {value}' for key, value in options.items()]
    return '\n'.join(lines) + '\n'


# Sections that several services share


def _database(settings: Settings, name: str) -> dict[str, object]:
    # All services together must leave connections for others.
    return {
        'connection': settings.database_url(name),
        'max_pool_size': 4,
        'max_overflow': 10,
    }


def _default(settings: Settings) -> dict[str, object]:
    return {'transport_url': settings.transport_url}


def _auth(settings: Settings, user: str) -> dict[str, object]:
    return {
        'auth_type': 'password',
        'region_name': REGION,
        **settings.account(user),
    }


def _authtoken(settings: Settings, user: str) -> dict[str, object]:
    """Return the options that validate tokens.

    Services regard a revoked token as valid only for two more seconds, rather
    than minutes. Without a cache, Keystone would be the busiest process.
    """
    return {
        **_auth(settings, user),
        'www_authenticate_uri': settings.auth_url,
        'interface': 'public',
        'service_token_roles': 'service',
        'service_token_roles_required': 'true',
        'token_cache_time': 2,
    }


def _locks(settings: Settings, service: str) -> dict[str, object]:
    return {'lock_path': settings.etc(service) / 'locks'}


# Services


def _keystone(settings: Settings) -> Sections:
    etc = settings.etc('keystone')
    return {
        'DEFAULT': _default(settings),
        'database': _database(settings, 'keystone'),
        'token': {'provider': 'fernet', 'expiration': 36_000},
        'fernet_tokens': {'key_repository': etc / 'fernet'},
        'fernet_receipts': {'key_repository': etc / 'fernet'},
        'credential': {'key_repository': etc / 'fernet'},
        'identity': {
            'password_hash_algorithm': 'bcrypt',
            'password_hash_rounds': 4,
        },
        'cache': {'enabled': 'true', 'backend': 'dogpile.cache.memory'},
    }


def _placement(settings: Settings) -> Sections:
    return {
        'placement_database': _database(settings, 'placement'),
        'api': {'auth_strategy': 'keystone'},
        'keystone_authtoken': _authtoken(settings, 'placement'),
    }


def _glance(settings: Settings) -> Sections:
    etc = settings.etc('glance')

    def store(name: str) -> dict[str, object]:
        return {'filesystem_store_datadir': etc / name}

    return {
        'DEFAULT': {
            **_default(settings),
            'enabled_backends': 'images:file',
            'worker_self_reference_url': settings.url('glance'),
            'node_staging_uri': f'file://{etc}/staging',
        },
        'database': _database(settings, 'glance'),
        'glance_store': {'default_backend': 'images'},
        'images': store('images'),
        'os_glance_staging_store': store('staging'),
        'os_glance_tasks_store': store('tasks'),
        'paste_deploy': {'flavor': 'keystone'},
        'keystone_authtoken': _authtoken(settings, 'glance'),
        'oslo_concurrency': _locks(settings, 'glance'),
    }


def _nova_common(settings: Settings) -> dict[str, Mapping[str, object]]:
    auth = _auth(settings, 'nova')
    return {
        'placement': auth,
        'neutron': _auth(settings, 'neutron'),
        'glance': {'api_servers': settings.url('glance')},
        'service_user': {**auth, 'send_service_user_token': 'true'},
        # Nova asks for it although the cloud has no Cinder.
        'cinder': auth,
        'vnc': {'enabled': 'false'},
        'notifications': {'notification_format': 'versioned'},
        'oslo_messaging_notifications': {'driver': 'messagingv2'},
        'oslo_concurrency': _locks(settings, 'nova'),
    }


def _nova(settings: Settings) -> Sections:
    return {
        'DEFAULT': {
            **_default(settings),
            'host': 'controller',
            'my_ip': '127.0.0.1',
            'state_path': settings.etc('nova'),
        },
        'api_database': _database(settings, 'nova_api'),
        'database': _database(settings, 'nova'),
        'keystone_authtoken': _authtoken(settings, 'nova'),
        'scheduler': {'workers': 1},
        'conductor': {'workers': 1},
        'quota': {'instances': 100, 'cores': 200, 'ram': 200_000},
        **_nova_common(settings),
    }


def _state_path(settings: Settings, zone: str) -> pathlib.Path:
    return settings.etc('nova') / f'compute-{zone}'


def _compute(settings: Settings, zone: str) -> Sections:
    """Return the options of a compute host, which has no database."""
    return {
        'DEFAULT': {
            **_default(settings),
            'host': f'compute-{zone}',
            'my_ip': '127.0.0.1',
            'state_path': _state_path(settings, zone),
            # FakeDriver does not start a second time.
            'compute_driver': 'fake.FakeDriverWithoutFakeNodes',
        },
        'keystone_authtoken': _authtoken(settings, 'nova'),
        **_nova_common(settings),
    }


def _neutron(settings: Settings) -> Sections:
    etc = settings.etc('neutron')
    return {
        'DEFAULT': {
            **_default(settings),
            'core_plugin': 'ml2',
            'service_plugins': 'router',
            'auth_strategy': 'keystone',
            'api_paste_config': etc / 'api-paste.ini',
            'state_path': etc,
            'dhcp_agent_notification': 'false',
            'rpc_workers': 1,
            'rpc_state_report_workers': 1,
        },
        'database': _database(settings, 'neutron'),
        'keystone_authtoken': _authtoken(settings, 'neutron'),
        'nova': _auth(settings, 'nova'),
        'oslo_concurrency': _locks(settings, 'neutron'),
        'ml2': {
            'type_drivers': 'local,flat,vlan,vxlan',
            'tenant_network_types': 'vxlan',
            'mechanism_drivers': plugins.MECHANISM_DRIVER,
            'extension_drivers': 'port_security',
        },
        'ml2_type_vxlan': {'vni_ranges': '1:1000'},
        'ml2_type_flat': {'flat_networks': '*'},
    }


def _heat(settings: Settings, venv: pathlib.Path) -> Sections:
    return {
        'DEFAULT': {
            **_default(settings),
            'auth_encryption_key': 'k' * 32,
            'num_engine_workers': 1,
            # Otherwise, servers need an endpoint of CloudFormation.
            'heat_metadata_server_url': settings.url('heat'),
            'stack_user_domain_name': 'heat',
            'stack_domain_admin': 'heat_domain_admin',
            'stack_domain_admin_password': PASSWORD,
            'region_name_for_services': REGION,
            'environment_dir': venv / 'etc/heat/environment.d',
            'template_dir': venv / 'etc/heat/templates',
        },
        'database': _database(settings, 'heat'),
        'paste_deploy': {
            'api_paste_config': settings.etc('heat') / 'api-paste.ini'
        },
        'keystone_authtoken': _authtoken(settings, 'heat'),
        'trustee': _auth(settings, 'heat'),
        'clients_keystone': {'auth_uri': settings.url('keystone')},
        'oslo_concurrency': _locks(settings, 'heat'),
    }


def _octavia(settings: Settings) -> Sections:
    etc = settings.etc('octavia')
    drivers = ('amphora', 'compute', 'network', 'volume', 'image')
    return {
        'DEFAULT': _default(settings),
        'database': _database(settings, 'octavia'),
        'api_settings': {
            'auth_strategy': 'keystone',
            'default_provider_driver': 'amphora',
        },
        'keystone_authtoken': _authtoken(settings, 'octavia'),
        'service_auth': _auth(settings, 'octavia'),
        'oslo_messaging': {'topic': 'octavia_prov'},
        'controller_worker': {
            **{f'{name}_driver': f'{name}_noop_driver' for name in drivers},
            'workers': 1,
            'amp_boot_network_list': ANY_ID,
            'amp_secgroup_list': ANY_ID,
            'amp_flavor_id': 1,
            'amp_image_tag': 'amphora',
            'loadbalancer_topology': 'SINGLE',
            'client_ca': etc / 'ca.pem',
        },
        'certificates': {
            'cert_generator': 'local_cert_generator',
            'cert_manager': 'noop_cert_manager',
            'ca_certificate': etc / 'ca.pem',
            'ca_private_key': etc / 'ca.key',
        },
        'health_manager': {
            'heartbeat_key': 'key',
            'bind_ip': '127.0.0.1',
            'bind_port': 5555,
            'controller_ip_port_list': '127.0.0.1:5555',
        },
    }


def _zaqar(settings: Settings) -> Sections:
    server, _, database = settings.redis.rpartition('/')
    return {
        'DEFAULT': {
            'auth_strategy': 'keystone',
            # Allows a single node of the message store.
            'unreliable': 'true',
            'pooling': 'false',
            'admin_mode': 'false',
        },
        'drivers': {
            'transport': 'wsgi',
            'message_store': 'redis',
            'management_store': 'sqlalchemy',
        },
        'drivers:message_store:redis': {'uri': f'{server}?dbid={database}'},
        'drivers:management_store:sqlalchemy': {
            'uri': settings.database_url('zaqar')
        },
        'keystone_authtoken': _authtoken(settings, 'zaqar'),
    }


def _create_authority(directory: pathlib.Path) -> None:
    """Create the authority that Octavia requires, unless it exists."""
    if (directory / 'ca.pem').exists():
        return
    subprocess.run(
        (
            'openssl',
            'req',
            '-x509',
            '-newkey',
            'rsa:2048',
            '-nodes',
            '-subj=/CN=octavia',
            f'-keyout={directory / "ca.key"}',
            f'-out={directory / "ca.pem"}',
        ),
        check=True,
        capture_output=True,
    )
