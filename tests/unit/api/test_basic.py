# SPDX-License-Identifier: Apache-2.0
"""Callers by name and password."""

from __future__ import annotations

import base64
import os
import pathlib
from collections.abc import Callable

import bcrypt
import pytest
from oslo_config import cfg
from oslo_middleware import basic_auth

from api import app, basic, errors
from tests.unit.api import conftest, http, memory

PASSWORD = 'pässword'


def hashed(password: str) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


@pytest.fixture
def users(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / 'users'
    file.write_text(f'alice:{hashed(PASSWORD)}\nroot:{hashed("r")}\n')
    return file


def configured(users: pathlib.Path) -> cfg.ConfigOpts:
    conf = conftest.configured(
        auth_strategy='http_basic',
        http_basic_admins=['root'],
        http_basic_projects={'alice': 'web'},
        default_project='ops',
    )
    conf.register_opts(basic_auth.OPTS, group=basic.GROUP)
    conf.set_override('http_basic_auth_user_file', str(users), basic.GROUP)
    return conf


def sent(name: str, password: str) -> dict[str, str]:
    pair = base64.b64encode(f'{name}:{password}'.encode()).decode()
    return {'Authorization': f'Basic {pair}'}


@pytest.fixture
def api(
    users: pathlib.Path, engine: memory.Engine, fleet: memory.Fleet
) -> http.Api:
    return http.Api(app.build(configured(users), engine, fleet))


def test_user_works_in_a_project_with_roles(
    api: http.Api, engine: memory.Engine
) -> None:
    answer = api('GET', '/v1/clusters', headers=sent('alice', PASSWORD))
    assert answer.status == 200
    caller, _ = engine.seen[-1]
    assert (caller.user_id, caller.project_id) == ('alice', 'web')
    assert caller.roles == ['member', 'reader']
    assert not caller.is_admin
    api('GET', '/v1/clusters', headers=sent('root', 'r'))
    caller, _ = engine.seen[-1]
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
    api: http.Api, headers: dict[str, str]
) -> None:
    answer = api('GET', '/v1/clusters', headers=headers)
    assert answer.status == 401
    assert answer.headers['www-authenticate'].startswith('Basic realm=')


def test_discovery_needs_no_name(api: http.Api) -> None:
    assert api('GET', '/').status == 300
    assert api('GET', '/v1').status == 200


def test_password_is_checked_once_in_a_while(
    users: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, checks = [0.0], []
    check: Callable[..., object] = basic_auth.authenticate
    monkeypatch.setattr(
        basic_auth,
        'authenticate',
        lambda *words: (checks.append(words), check(*words))[1],
    )
    authenticate = basic.Authenticator(configured(users), lambda: now[0])
    header = sent('alice', PASSWORD)['Authorization']
    environ = {'HTTP_AUTHORIZATION': header}
    for _ in range(3):
        assert authenticate(environ).user_id == 'alice'
    assert len(checks) == 1
    now[0] += basic.REMEMBERED
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
        ('alice:{SHA}abc', 'line 1 is not NAME:HASH'),
        ('\nalice', 'line 2 is not NAME:HASH'),
        (f':{"$2b$"}', 'line 1'),
    ],
)
def test_file_that_is_none_is_refused_at_the_start(
    tmp_path: pathlib.Path, text: str | None, says: str
) -> None:
    file = tmp_path / 'users'
    if text is not None:
        file.write_text(text)
    with pytest.raises(basic.BadUserFile, match=says):
        basic.check(configured(file))
