# SPDX-License-Identifier: Apache-2.0
"""HTTP basic authentication."""

from __future__ import annotations

import base64
import os
import pathlib
import threading

import bcrypt
import pytest
from oslo_config import cfg
from oslo_middleware import basic_auth as oslo_basic_auth

from api import app, basic_auth, check_limiter, errors
from tests.functional.processes import wait_for
from tests.unit.api import conftest
from tests.unit.api.client import ApiClient, Response
from tests.unit.api.fake_engine import FakeEngine, FakeFleet

PASSWORD = 'pässword'


def hashed(password: str) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


@pytest.fixture
def users(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / 'users'
    file.write_text(f'alice:{hashed(PASSWORD)}\nroot:{hashed("r")}\n')
    return file


def basic_auth_conf(users: pathlib.Path) -> cfg.ConfigOpts:
    conf = conftest.make_conf(
        auth_strategy='http_basic',
        http_basic_admins=['root'],
        http_basic_projects={'alice': 'web'},
        default_project='ops',
    )
    conf.register_opts(oslo_basic_auth.OPTS, group=basic_auth.GROUP)
    conf.set_override(
        'http_basic_auth_user_file', str(users), basic_auth.GROUP
    )
    return conf


def basic_auth_header(name: str, password: str) -> dict[str, str]:
    pair = base64.b64encode(f'{name}:{password}'.encode()).decode()
    return {'Authorization': f'Basic {pair}'}


@pytest.fixture
def api(
    users: pathlib.Path, engine: FakeEngine, fleet: FakeFleet
) -> ApiClient:
    return ApiClient(app.build(basic_auth_conf(users), engine, fleet))


def test_user_when_authenticated_has_project_and_roles(
    api: ApiClient, engine: FakeEngine
) -> None:
    response = api(
        'GET', '/v1/clusters', headers=basic_auth_header('alice', PASSWORD)
    )
    assert response.status == 200
    caller, _ = engine.calls[-1]
    assert (caller.user_id, caller.project_id) == ('alice', 'web')
    assert caller.roles == ['member', 'reader']
    assert not caller.is_admin
    api('GET', '/v1/clusters', headers=basic_auth_header('root', 'r'))
    caller, _ = engine.calls[-1]
    assert (caller.project_id, caller.is_admin) == ('ops', True)


@pytest.mark.parametrize(
    'headers',
    [
        {},
        basic_auth_header('alice', 'wrong'),
        basic_auth_header('alice', PASSWORD + '\0'),
        basic_auth_header('alice', 'x' * 100),
        basic_auth_header('mallory', PASSWORD),
        basic_auth_header('', ''),
        {'Authorization': 'Basic'},
        {'Authorization': 'Basic !'},
        {'Authorization': 'Bearer abc'},
        {'X-User-Id': 'alice', 'X-Roles': 'admin'},
    ],
)
def test_caller_when_credentials_are_wrong_is_401(
    api: ApiClient, headers: dict[str, str]
) -> None:
    response = api('GET', '/v1/clusters', headers=headers)
    assert response.status == 401
    assert response.headers['www-authenticate'].startswith('Basic realm=')


def test_discovery_when_not_authenticated_works(api: ApiClient) -> None:
    assert api('GET', '/').status == 300
    assert api('GET', '/v1').status == 200


def count_checks(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return a list that gets each hash that a password is checked against."""
    checks: list[bytes] = []
    check = bcrypt.checkpw

    def checkpw(password: bytes, hashed: bytes) -> bool:
        checks.append(hashed)
        return check(password, hashed)

    monkeypatch.setattr(bcrypt, 'checkpw', checkpw)
    return checks


def test_user_when_unknown_costs_the_same_check(
    api: ApiClient, users: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = count_checks(monkeypatch)
    responses = [
        api('GET', '/v1/clusters', headers=basic_auth_header(name, 'wrong'))
        for name in ('alice', 'mallory', '')
    ]
    assert {response.status for response in responses} == {401}
    # Algorithm and cost, which come before the salt.
    assert len(checks) == 3
    assert len({hashed[:7] for hashed in checks}) == 1
    users.write_text('')
    assert (
        api('GET', '/v1/clusters', headers=basic_auth_header('a', 'b')).status
        == 401
    )
    assert len(checks) == 4


class Guessing:
    """Requests whose passwords are being checked until :meth:`end`."""

    def __init__(
        self, api: ApiClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.api = api
        self.responses: list[Response] = []
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()
        check = bcrypt.checkpw

        def checkpw(password: bytes, hashed: bytes) -> bool:
            if password.startswith(b'guess'):
                assert self._over.wait(60)
            return check(password, hashed)

        monkeypatch.setattr(bcrypt, 'checkpw', checkpw)

    def request(self, name: str, password: str, address: str) -> Response:
        return self.api(
            'GET',
            '/v1/clusters',
            headers=basic_auth_header(name, password),
            environ={'REMOTE_ADDR': address},
        )

    def start(self, address: str) -> None:
        number = len(self._threads)

        def guess() -> None:
            response = self.request('alice', f'guess{number}', address)
            self.responses.append(response)

        self._threads.append(threading.Thread(target=guess))
        self._threads[-1].start()

    def end(self) -> list[int]:
        self._over.set()
        for thread in self._threads:
            thread.join()
        return [response.status for response in self.responses]


def test_guesses_when_many_do_not_block_other_callers(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    guessing = Guessing(api, monkeypatch)
    assert guessing.request('alice', PASSWORD, '192.0.2.1').status == 200
    for number in range(40):
        guessing.start(f'192.0.2.{number % 4}')
    most = conftest.make_conf().api.threads // check_limiter.THREAD_SHARE
    wait_for('most are refused', lambda: len(guessing.responses) == 40 - most)
    refused = guessing.responses[0]
    assert refused.status == 503
    assert refused.headers['retry-after']
    assert guessing.request('alice', PASSWORD, '192.0.2.1').status == 200
    statuses = guessing.end()
    assert statuses.count(401) == most
    assert statuses.count(503) == 40 - most
    # Afterwards all callers may try again.
    assert guessing.request('root', 'r', '192.0.2.1').status == 200


def test_guesses_when_from_one_address_do_not_block_others(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    guessing = Guessing(api, monkeypatch)
    most = conftest.make_conf().api.threads // check_limiter.ADDRESS_SHARE
    for _ in range(20):
        guessing.start('192.0.2.1')
    wait_for('most are refused', lambda: len(guessing.responses) == 20 - most)
    responses: list[Response] = []
    thread = threading.Thread(
        target=lambda: responses.append(
            guessing.request('root', 'r', '192.0.2.2')
        )
    )
    thread.start()
    guessing.end()
    thread.join()
    assert responses[0].status == 200


def test_password_when_checked_recently_is_not_checked_again(
    users: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    checks = count_checks(monkeypatch)
    authenticate = basic_auth.Authenticator(
        basic_auth_conf(users), lambda: now[0]
    )
    header = basic_auth_header('alice', PASSWORD)['Authorization']
    environ = {'HTTP_AUTHORIZATION': header}
    for _ in range(3):
        assert authenticate(environ).user_id == 'alice'
    assert len(checks) == 1
    now[0] += basic_auth.CACHE_SECONDS / 2
    authenticate(environ)
    now[0] += basic_auth.CACHE_SECONDS / 2
    authenticate(environ)
    assert len(checks) == 1
    now[0] += basic_auth.CACHE_SECONDS
    authenticate(environ)
    assert len(checks) == 2
    # Removing a user from the file takes effect at once.
    users.write_text('')
    os.utime(users, (2**31, 2**31))
    with pytest.raises(errors.Unauthenticated):
        authenticate(environ)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        (None, 'No such file'),
        ('alice:{SHA}abc', 'line 1 must be NAME:HASH'),
        ('\nalice', 'line 2 must be NAME:HASH'),
        (f':{"$2b$"}', 'line 1'),
    ],
)
def test_file_when_invalid_is_rejected(
    tmp_path: pathlib.Path, text: str | None, expected: str
) -> None:
    file = tmp_path / 'users'
    if text is not None:
        file.write_text(text)
    with pytest.raises(basic_auth.InvalidUserFile, match=expected):
        basic_auth.check(basic_auth_conf(file))
