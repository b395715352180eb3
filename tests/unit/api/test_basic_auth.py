# SPDX-License-Identifier: Apache-2.0
"""Callers by name and password."""

from __future__ import annotations

import base64
import os
import pathlib
import threading

import bcrypt
import pytest
from oslo_config import cfg
from oslo_middleware import basic_auth as oslo_basic_auth

from api import app, basic_auth, errors
from tests.functional.processes import wait_for
from tests.unit.api import client, conftest, fake_engine

PASSWORD = 'pässword'


def hashed(password: str) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


@pytest.fixture
def users(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / 'users'
    file.write_text(f'alice:{hashed(PASSWORD)}\nroot:{hashed("r")}\n')
    return file


def configured(users: pathlib.Path) -> cfg.ConfigOpts:
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


def sent(name: str, password: str) -> dict[str, str]:
    pair = base64.b64encode(f'{name}:{password}'.encode()).decode()
    return {'Authorization': f'Basic {pair}'}


@pytest.fixture
def api(
    users: pathlib.Path,
    engine: fake_engine.FakeEngine,
    fleet: fake_engine.FakeFleet,
) -> client.ApiClient:
    return client.ApiClient(app.build(configured(users), engine, fleet))


def test_user_works_in_a_project_with_roles(
    api: client.ApiClient, engine: fake_engine.FakeEngine
) -> None:
    response = api('GET', '/v1/clusters', headers=sent('alice', PASSWORD))
    assert response.status == 200
    caller, _ = engine.calls[-1]
    assert (caller.user_id, caller.project_id) == ('alice', 'web')
    assert caller.roles == ['member', 'reader']
    assert not caller.is_admin
    api('GET', '/v1/clusters', headers=sent('root', 'r'))
    caller, _ = engine.calls[-1]
    assert (caller.project_id, caller.is_admin) == ('ops', True)


@pytest.mark.parametrize(
    'headers',
    [
        {},
        sent('alice', 'wrong'),
        sent('alice', PASSWORD + '\0'),
        sent('alice', 'x' * 100),
        sent('mallory', PASSWORD),
        sent('', ''),
        {'Authorization': 'Basic'},
        {'Authorization': 'Basic !'},
        {'Authorization': 'Bearer abc'},
        {'X-User-Id': 'alice', 'X-Roles': 'admin'},
    ],
)
def test_stranger_is_asked_for_name_and_password(
    api: client.ApiClient, headers: dict[str, str]
) -> None:
    response = api('GET', '/v1/clusters', headers=headers)
    assert response.status == 401
    assert response.headers['www-authenticate'].startswith('Basic realm=')


def test_discovery_needs_no_name(api: client.ApiClient) -> None:
    assert api('GET', '/').status == 300
    assert api('GET', '/v1').status == 200


def counted(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return a list that gets each hash that a password is checked against."""
    checks: list[bytes] = []
    check = bcrypt.checkpw

    def checkpw(password: bytes, hashed: bytes) -> bool:
        checks.append(hashed)
        return check(password, hashed)

    monkeypatch.setattr(bcrypt, 'checkpw', checkpw)
    return checks


def test_unknown_user_costs_the_same_check_as_a_known_one(
    api: client.ApiClient, users: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = counted(monkeypatch)
    responses = [
        api('GET', '/v1/clusters', headers=sent(name, 'wrong'))
        for name in ('alice', 'mallory', '')
    ]
    assert {response.status for response in responses} == {401}
    # Algorithm and cost, which come before the salt.
    assert len(checks) == 3
    assert len({hashed[:7] for hashed in checks}) == 1
    users.write_text('')
    assert api('GET', '/v1/clusters', headers=sent('a', 'b')).status == 401
    assert len(checks) == 4


class Guessing:
    """Requests whose passwords are being checked until :meth:`end`."""

    def __init__(
        self, api: client.ApiClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.api = api
        self.responses: list[client.Response] = []
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()
        check = bcrypt.checkpw

        def checkpw(password: bytes, hashed: bytes) -> bool:
            if password.startswith(b'guess'):
                assert self._over.wait(60)
            return check(password, hashed)

        monkeypatch.setattr(bcrypt, 'checkpw', checkpw)

    def ask(self, name: str, password: str, address: str) -> client.Response:
        return self.api(
            'GET',
            '/v1/clusters',
            headers=sent(name, password),
            environ={'REMOTE_ADDR': address},
        )

    def start(self, address: str) -> None:
        number = len(self._threads)

        def guess() -> None:
            response = self.ask('alice', f'guess{number}', address)
            self.responses.append(response)

        self._threads.append(threading.Thread(target=guess))
        self._threads[-1].start()

    def end(self) -> list[int]:
        self._over.set()
        for thread in self._threads:
            thread.join()
        return [response.status for response in self.responses]


def test_guessers_hold_up_neither_known_callers_nor_all_threads(
    api: client.ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    guessing = Guessing(api, monkeypatch)
    assert guessing.ask('alice', PASSWORD, '192.0.2.1').status == 200
    for number in range(40):
        guessing.start(f'192.0.2.{number % 4}')
    most = conftest.make_conf().api.threads // basic_auth.THREAD_SHARE
    wait_for('most are refused', lambda: len(guessing.responses) == 40 - most)
    refused = guessing.responses[0]
    assert refused.status == 503
    assert refused.headers['retry-after']
    assert guessing.ask('alice', PASSWORD, '192.0.2.1').status == 200
    statuses = guessing.end()
    assert statuses.count(401) == most
    assert statuses.count(503) == 40 - most
    # Afterwards everybody may try again.
    assert guessing.ask('root', 'r', '192.0.2.1').status == 200


def test_guesser_at_one_address_leaves_room_for_others(
    api: client.ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    guessing = Guessing(api, monkeypatch)
    most = conftest.make_conf().api.threads // basic_auth.ADDRESS_SHARE
    for _ in range(20):
        guessing.start('192.0.2.1')
    wait_for('most are refused', lambda: len(guessing.responses) == 20 - most)
    found: list[client.Response] = []
    other = threading.Thread(
        target=lambda: found.append(guessing.ask('root', 'r', '192.0.2.2'))
    )
    other.start()
    guessing.end()
    other.join()
    assert found[0].status == 200


def test_password_is_checked_once_in_a_while(
    users: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    checks = counted(monkeypatch)
    authenticate = basic_auth.Authenticator(configured(users), lambda: now[0])
    header = sent('alice', PASSWORD)['Authorization']
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
    # Whoever is taken out of the file is out at once.
    users.write_text('')
    os.utime(users, (2**31, 2**31))
    with pytest.raises(errors.Unauthenticated):
        authenticate(environ)


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        (None, 'No such file'),
        ('alice:{SHA}abc', 'line 1 must be NAME:HASH'),
        ('\nalice', 'line 2 must be NAME:HASH'),
        (f':{"$2b$"}', 'line 1'),
    ],
)
def test_file_that_is_none_is_refused_at_the_start(
    tmp_path: pathlib.Path, text: str | None, says: str
) -> None:
    file = tmp_path / 'users'
    if text is not None:
        file.write_text(text)
    with pytest.raises(basic_auth.InvalidUserFile, match=says):
        basic_auth.check(configured(file))
