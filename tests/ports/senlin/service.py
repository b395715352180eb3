# SPDX-License-Identifier: Apache-2.0
"""A running Senlin, as released or edited as in ``ports``.

The clouds of its nodes are those of Senlin's own CI: ``openstack_test``, which
returns canned responses and is a part of its package.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator

import requests

from ports import __main__ as ports
from tests import databases
from tests.functional import brokers, keystone, processes

#: Programs that take requests from the API.
SERVERS = ('senlin-conductor', 'senlin-engine', 'senlin-health-manager')

_CONF = """
[DEFAULT]
transport_url = {transport}
cloud_backend = openstack_test
default_region_name = RegionOne
health_check_interval_min = 10
host = localhost
[senlin_api]
bind_host = 127.0.0.1
bind_port = {port}
api_paste_config = {paste}
[receiver]
host = 127.0.0.1
port = {port}
[conductor]
workers = 1
[engine]
workers = 1
[health_manager]
workers = 1
[database]
connection = {database}
[oslo_policy]
enforce_scope = false
[authentication]
auth_url = {identity}
service_username = {user}
service_password = {user}
[keystone_authtoken]
auth_type = password
auth_url = {identity}
www_authenticate_uri = {identity}
username = {user}
password = {user}
project_name = service
user_domain_id = default
project_domain_id = default
service_token_roles_required = false
"""


@contextlib.contextmanager
def running(
    home: pathlib.Path,
    python: str,
    root: pathlib.Path,
    paste: pathlib.Path,
    identity: str,
) -> Iterator[str]:
    """Serve Senlin on MariaDB and RabbitMQ; yield its URL.

    :param home: folder for its configuration and logs
    :param python: of its environment
    :param root: folder with the package
    :param paste: Senlin's file with the pipelines
    :param identity: URL of Keystone
    """
    bin_ = pathlib.Path(python).parent
    port = processes.free_port()
    url = f'http://127.0.0.1:{port}'
    conf = home / 'senlin.conf'
    group = processes.ProcessGroup(home, str(conf))
    group.variables = ports.environment(python, root)
    with (
        databases.temporary('mysql', home) as database,
        brokers.temporary('rabbit') as transport,
    ):
        conf.write_text(
            _CONF.format(
                transport=transport,
                port=port,
                paste=paste,
                database=database,
                identity=identity,
                user=keystone.SERVICE_USER,
            )
        )

        def start(program: str, *words: str) -> processes.Process:
            return group.start(
                program, str(bin_ / program), f'--config-file={conf}', *words
            )

        try:
            migration = start('senlin-manage', 'db_sync')
            group.remove(migration)
            assert migration.wait() == 0, processes.log_excerpt(migration.log)
            for program in (*SERVERS, 'senlin-api'):
                start(program)
            for program in SERVERS:
                processes.wait_for(
                    f'{program} consumes',
                    lambda queue=program: brokers.consumers(transport, queue),
                    interval=1,
                )
            processes.wait_for('senlin-api responds', lambda: _responds(url))
            yield url
        finally:
            group.close()


def _responds(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).status_code == 300
    except requests.RequestException:
        return False
