# SPDX-License-Identifier: Apache-2.0
"""A real Keystone on SQLite, with the users that tests need.

``tools/keystone`` installs it, once. Every run has a database and keys of its
own, made in a few seconds::

    with running(directory) as keystone:
        keystone.add_user('alice', 'web', 'member')
        keystone.session('alice', 'web').get_token()
"""

from __future__ import annotations

import base64
import contextlib
import getpass
import grp
import os
import pathlib
import subprocess
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

#: Seconds that an installation may take on a slow line.
INSTALLATION = 900

ADMIN = 'admin'
SERVICE_USER = 'vobjects'
REGION = 'RegionOne'

#: Of the service under test, for its credentials.
KEY = base64.urlsafe_b64encode(b'k' * 32).decode()

_CONFIGURATION = """\
[DEFAULT]
use_stderr = true
[database]
connection = sqlite:///{home}/keystone.sqlite
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
    """Return the folder of Keystone's programs, or why there is none."""
    return downloads.download('keystone', INSTALLATION)


def require() -> pathlib.Path:
    """Return the programs; without, skip the test, or fail it in CI."""
    return downloads.require('keystone', INSTALLATION)


class Keystone:
    """A Keystone that runs.

    :ivar url: with ``/v3``
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._sessions: list[session.Session] = []
        self._admin = self.session(ADMIN, ADMIN)
        self._ids: dict[tuple[str, str], str] = {}

    def plugin(self, user: str, project: str | None) -> Any:
        """Return what authenticates a user; its password is its name."""
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
        """Return the token that a plugin gets."""
        token: str = self._session(plugin).get_token()
        return token

    def _session(self, plugin: Any) -> session.Session:
        made = session.Session(auth=plugin)
        self._sessions.append(made)
        return made

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Ask as admin; return what is in the answer's one key."""
        answer = self._admin.request(
            self.url + path, method, json=body, raise_exc=True
        )
        return next(iter(answer.json().values())) if answer.content else None

    def id_of(self, kind: str, name: str) -> str:
        """Return the ID of a project, user or role.

        :param kind: in the plural
        """
        found = self._ids.get((kind, name))
        if found is None:
            (one,) = self.request('GET', f'/{kind}?name={name}')
            found = self._ids[kind, name] = str(one['id'])
        return found

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
        """Give a role (``PUT``), or take it (``DELETE``)."""
        self.request(
            method,
            f'/projects/{self.id_of("projects", project)}/users/'
            f'{self.id_of("users", user)}/roles/{self.id_of("roles", role)}',
        )

    def project_of(self, token: str) -> str | None:
        """Return the ID of the project that a token is for, if it is good."""
        answer = self._admin.get(
            f'{self.url}/auth/tokens',
            headers={'X-Subject-Token': token},
            raise_exc=False,
        )
        if answer.status_code != 200:
            return None
        return str(answer.json()['token']['project']['id'])

    def add_endpoint(
        self, url: str, name: str = 'senlin', type_: str = 'clustering'
    ) -> None:
        """Put a service into the catalogue."""
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
        """Return the trusts that a user has made."""
        trustor = self.id_of('users', user)
        return self.request(
            'GET', f'/OS-TRUST/trusts?trustor_user_id={trustor}'
        )

    def settings(self) -> dict[str, dict[str, object]]:
        """Return what the service under test is configured with."""
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
        for one in self._sessions:
            one.close()


@contextlib.contextmanager
def running(
    directory: pathlib.Path, expiration: int = 36_000
) -> Iterator[Keystone]:
    """Yield a Keystone with an admin, and a service user.

    :param directory: for its database, keys and logs
    :param expiration: seconds for which tokens are good
    """
    bin_ = require()
    home = directory / 'keystone'
    home.mkdir()
    config = home / 'keystone.conf'
    config.write_text(_CONFIGURATION.format(home=home, expiration=expiration))
    port = free_port()
    url = f'http://127.0.0.1:{port}/v3'
    group = ProcessGroup(home, str(config))

    def manage(*words: str) -> None:
        done = subprocess.run(
            (bin_ / 'keystone-manage', f'--config-file={config}', *words),
            env=group.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, f'{words}: {done.stderr[-4000:]}'

    manage('db_sync')
    # As root it insists on knowing whose the keys are to be.
    owner = (
        f'--keystone-user={getpass.getuser()}',
        f'--keystone-group={grp.getgrgid(os.getgid()).gr_name}',
    )
    manage('fernet_setup', *owner)
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
    process = group.start(
        'keystone',
        str(bin_ / 'python'),
        '-P',  # or `import keystone` would find this folder's
        str(_SERVER),
        str(config),
        str(port),
    )

    def answers() -> bool:
        group.assert_alive()
        try:
            return requests.get(url, timeout=TIMEOUT).status_code == 200
        except requests.ConnectionError:
            return False

    try:
        wait_for('Keystone answers', answers)
    except AssertionError as error:
        log = log_excerpt(home / 'keystone.log')
        raise AssertionError(f'{error}\n{log}') from None
    made = Keystone(url)
    try:
        made.add_project('service')
        made.add_user(SERVICE_USER, 'service', 'service')
        yield made
    finally:
        made.close()
        # It has no orderly end, and nothing to lose.
        process.kill()
        group.remove(process)
        assert group.close() == []
