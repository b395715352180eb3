# SPDX-License-Identifier: Apache-2.0
"""A real Keystone on SQLite.

``tools/keystone`` installs it once. The first run creates a database and keys,
of which each run uses a copy::

    with running(directory) as keystone:
        keystone.add_user('alice', 'web', 'member')
        keystone.session('alice', 'web').get_token()
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import getpass
import grp
import os
import pathlib
import shutil
import sqlite3
from collections.abc import Iterator
from typing import Any

import requests
from keystoneauth1 import session
from keystoneauth1.identity import v3

from tests import downloads
from tests.functional.processes import (
    TIMEOUT,
    ProcessGroup,
    free_port,
    log_excerpt,
    wait_for,
)
from tests.programs import run_program

#: Timeout of the installation in seconds.
INSTALL_TIMEOUT = 900

ADMIN = 'admin'
SERVICE_USER = 'vobjects'
REGION = 'RegionOne'

#: [receivers] encryption_keys of the service.
KEY = base64.urlsafe_b64encode(b'k' * 32).decode()

_DATABASE = 'keystone.sqlite'

_CONFIGURATION = """\
[DEFAULT]
use_stderr = true
[database]
connection = sqlite:///{home}/{database}
[fernet_tokens]
key_repository = {home}/fernet
[fernet_receipts]
key_repository = {home}/receipts
[credential]
key_repository = {home}/credential
[identity]
password_hash_rounds = 4
[token]
expiration = {expiration}
"""

_SERVER = pathlib.Path(__file__).with_name('keystone_server.py')


def programs() -> pathlib.Path | str:
    """Return the directory of Keystone's programs, or an error message."""
    return downloads.download('keystone', INSTALL_TIMEOUT)


def require() -> pathlib.Path:
    """Return the programs, or skip the test (fail it in CI)."""
    return downloads.require('keystone', INSTALL_TIMEOUT)


class Keystone:
    """A running Keystone.

    :ivar url: URL with ``/v3``
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._sessions: list[session.Session] = []
        self._admin = self.session(ADMIN, ADMIN)
        self._ids: dict[tuple[str, str], str] = {}

    def plugin(self, user: str, project: str | None) -> Any:
        """Return an auth plugin for a user; the password is the name."""
        scope = (
            {}
            if project is None
            else {'project_name': project, 'project_domain_id': 'default'}
        )
        return v3.Password(
            self.url,
            username=user,
            password=user,
            user_domain_id='default',
            **scope,
        )

    def session(self, user: str, project: str | None) -> session.Session:
        """Return a session of a user in a project."""
        return self._session(self.plugin(user, project))

    def token(self, user: str, project: str | None) -> str:
        """Return a new token of a user in a project."""
        return self.token_of(self.plugin(user, project))

    def token_of(self, plugin: Any) -> str:
        """Return a new token from an auth plugin."""
        token: str = self._session(plugin).get_token()
        return token

    def _session(self, plugin: Any) -> session.Session:
        client = session.Session(auth=plugin)
        self._sessions.append(client)
        return client

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request as admin; return the value of the only key."""
        response = self._admin.request(
            self.url + path, method, json=body, raise_exc=True
        )
        document = response.json() if response.content else {None: None}
        return next(iter(document.values()))

    def id_of(self, kind: str, name: str) -> str:
        """Return the ID of a resource.

        :param kind: ``projects``, ``users`` or ``roles``
        """
        id_ = self._ids.get((kind, name))
        if id_ is None:
            (resource,) = self.request('GET', f'/{kind}?name={name}')
            id_ = self._ids[kind, name] = str(resource['id'])
        return id_

    def add_project(self, name: str) -> None:
        """Add a project."""
        self.request('POST', '/projects', {'project': {'name': name}})

    def add_user(self, name: str, project: str, *roles: str) -> None:
        """Add a user with roles in a project."""
        user = {'name': name, 'password': name, 'domain_id': 'default'}
        self.request('POST', '/users', {'user': user})
        for role in roles:
            self.assign('PUT', name, project, role)

    def assign(self, method: str, user: str, project: str, role: str) -> None:
        """Assign (``PUT``) or unassign (``DELETE``) a role."""
        self.request(
            method,
            f'/projects/{self.id_of("projects", project)}/users/'
            f'{self.id_of("users", user)}/roles/{self.id_of("roles", role)}',
        )

    def project_of(self, token: str) -> str | None:
        """Return the project ID of a token; None if the token is invalid."""
        response = self._admin.get(
            f'{self.url}/auth/tokens',
            headers={'X-Subject-Token': token},
            raise_exc=False,
        )
        if response.status_code != 200:
            return None
        return str(response.json()['token']['project']['id'])

    def add_endpoint(
        self, url: str, name: str = 'senlin', type_: str = 'clustering'
    ) -> None:
        """Add a service and an endpoint to the catalog."""
        service = self.request(
            'POST', '/services', {'service': {'name': name, 'type': type_}}
        )
        self.request(
            'POST',
            '/endpoints',
            {
                'endpoint': {
                    'interface': 'public',
                    'service_id': service['id'],
                    'region_id': REGION,
                    'url': url,
                }
            },
        )

    def trusts_of(self, user: str) -> Any:
        """Return the trusts that a user has created."""
        trustor = self.id_of('users', user)
        return self.request(
            'GET', f'/OS-TRUST/trusts?trustor_user_id={trustor}'
        )

    def settings(self) -> dict[str, dict[str, object]]:
        """Return the options of the service under test."""
        return {
            'api': {'auth_strategy': 'keystone'},
            'keystone_authtoken': {
                **self.account(),
                'www_authenticate_uri': self.url,
            },
            'receivers': {'encryption_keys': KEY, 'revoke_interval': 1},
        }

    def account(self) -> dict[str, object]:
        """Return the options that authenticate the service's user."""
        return {
            'auth_type': 'password',
            'auth_url': self.url,
            'username': SERVICE_USER,
            'password': SERVICE_USER,
            'user_domain_id': 'default',
            'project_name': 'service',
            'project_domain_id': 'default',
        }

    def close(self) -> None:
        """Close the connections."""
        for client in self._sessions:
            client.close()


def _configure(home: pathlib.Path, expiration: int) -> pathlib.Path:
    """Write the configuration of a Keystone, and return its path."""
    config = home / 'keystone.conf'
    config.write_text(
        _CONFIGURATION.format(
            home=home, expiration=expiration, database=_DATABASE
        )
    )
    return config


def _initialized(bin_: pathlib.Path) -> pathlib.Path:
    """Return a directory with a database with an admin, and with keys.

    The first call creates them beside Keystone's programs; the URL of the
    endpoint is still wrong.
    """
    home = bin_.parent / f'initialized-by-{getpass.getuser()}'
    with home.with_suffix('.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            temporary = home.with_suffix('.new')
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir()
            _initialize(bin_, temporary)
            temporary.rename(home)
    return home


def _initialize(bin_: pathlib.Path, home: pathlib.Path) -> None:
    config = _configure(home, expiration=1)

    def manage(*words: str) -> None:
        completed = run_program(
            (bin_ / 'keystone-manage', f'--config-file={config}', *words),
            timeout=TIMEOUT,
        )
        assert completed.returncode == 0, (
            f'{words}: {completed.stderr[-4000:]}'
        )

    manage('db_sync')
    # Root must name the owner of the keys.
    owner = (
        f'--keystone-user={getpass.getuser()}',
        f'--keystone-group={grp.getgrgid(os.getgid()).gr_name}',
    )
    manage('fernet_setup', *owner)
    url = 'http://127.0.0.1/v3'
    manage(
        'bootstrap',
        f'--bootstrap-password={ADMIN}',
        f'--bootstrap-username={ADMIN}',
        f'--bootstrap-project-name={ADMIN}',
        '--bootstrap-role-name=admin',
        '--bootstrap-service-name=keystone',
        f'--bootstrap-region-id={REGION}',
        f'--bootstrap-public-url={url}',
        f'--bootstrap-internal-url={url}',
    )


@contextlib.contextmanager
def running(
    directory: pathlib.Path, expiration: int = 36_000
) -> Iterator[Keystone]:
    """Run Keystone with an admin and a service user.

    :param directory: for its database, keys and logs
    :param expiration: lifetime of tokens in seconds
    """
    bin_ = require()
    home = directory / 'keystone'
    shutil.copytree(_initialized(bin_), home)
    config = _configure(home, expiration)
    port = free_port()
    url = f'http://127.0.0.1:{port}/v3'
    with contextlib.closing(sqlite3.connect(home / _DATABASE)) as database:
        database.execute('UPDATE endpoint SET url = ?', (url,))
        database.commit()
    group = ProcessGroup(home, str(config))
    process = group.start(
        'keystone',
        str(bin_ / 'python'),
        '-P',  # otherwise, `import keystone` finds this module
        str(_SERVER),
        str(config),
        str(port),
    )

    def serves() -> bool:
        group.assert_alive()
        try:
            return requests.get(url, timeout=TIMEOUT).status_code == 200
        except requests.ConnectionError:
            return False

    try:
        wait_for('Keystone serves', serves)
    except AssertionError as error:
        log = log_excerpt(home / 'keystone.log')
        raise AssertionError(f'{error}\n{log}') from None
    server = Keystone(url)
    try:
        server.add_project('service')
        server.add_user(SERVICE_USER, 'service', 'service')
        yield server
    finally:
        server.close()
        # The server has no graceful shutdown.
        process.kill()
        group.remove(process)
        assert group.close() == []
