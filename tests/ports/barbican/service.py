# SPDX-License-Identifier: Apache-2.0
"""A running barbican-api, as released or edited as in ``ports``."""

from __future__ import annotations

import base64
import contextlib
import pathlib
from collections.abc import Iterator

import flask
import requests

from tests import cloud as fake
from tests.functional import processes
from tests.ports import keystone

_A, _B = 'project_a', 'project_b'

#: The users that Barbican's functional tests expect.
USERS = {
    'admin': keystone.User('admin', ('admin',)),
    'service-admin': keystone.User(
        'service', ('key-manager:service-admin', 'admin')
    ),
    'barbican': keystone.User('service', ('admin', 'service')),
    **{
        f'{project}_{name}': keystone.User(project, (role,))
        for project in (_A, _B)
        for name, role in (
            ('admin', 'admin'),
            ('creator', 'creator'),
            ('creator_2', 'creator'),
            ('observer', 'observer'),
            ('auditor', 'audit'),
        )
    },
}

_CONF = """
[DEFAULT]
host_href =
db_auto_create = true
[database]
connection = sqlite:///{home}/barbican.sqlite
[oslo_policy]
enforce_scope = false
enforce_new_defaults = false
[simple_crypto_plugin]
kek = {key}
[keystone_authtoken]
auth_type = password
auth_url = {identity}
www_authenticate_uri = {identity}
username = barbican
password = x
project_name = service
user_domain_id = default
project_domain_id = default
service_token_roles_required = false
"""

_FUNCTIONAL_CONF = """
[identity]
uri = {identity}
[keymanager]
timeout = 120
override_url = {url}
override_url_version = v1
"""


@contextlib.contextmanager
def running(
    home: pathlib.Path, python: str, root: pathlib.Path, paste: pathlib.Path
) -> Iterator[str]:
    """Serve Barbican; yield its URL.

    :param home: home directory of the process, for its configuration
    :param root: folder with the package
    :param paste: Barbican's file with the pipelines
    """
    app = flask.Flask('identity')
    app.url_map.strict_slashes = False
    port = processes.free_port()
    url = f'http://127.0.0.1:{port}'
    group = processes.ProcessGroup(home, str(home))
    group.variables = {'HOME': str(home), 'PYTHONPATH': search_path(root)}
    with fake.listening(app) as identity_port:
        identity = f'http://127.0.0.1:{identity_port}/identity/v3'
        keystone.serve(
            app, lambda: {'identity': identity, 'key-manager': url}, USERS
        )
        (home / '.barbican').mkdir()
        (home / '.barbican' / 'barbican.conf').write_text(
            _CONF.format(
                home=home,
                identity=identity,
                key=base64.b64encode(bytes(32)).decode(),
            )
        )
        (home / 'functional.conf').write_text(
            _FUNCTIONAL_CONF.format(identity=identity, url=url)
        )
        group.start(
            'barbican-api',
            python,
            str(pathlib.Path(__file__).with_name('serve.py')),
            str(paste),
            str(port),
        )
        try:
            processes.wait_for('barbican-api responds', lambda: _responds(url))
            yield url
        finally:
            group.close()


def search_path(root: pathlib.Path) -> str:
    """Return the search path of processes that import the package."""
    return f'{root}:{pathlib.Path(__file__).parents[3]}'


def _responds(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).status_code in (200, 300)
    except requests.RequestException:
        return False
