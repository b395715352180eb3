# SPDX-License-Identifier: Apache-2.0
"""``/healthcheck``: what proxies and people are told."""

from __future__ import annotations

import io
import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from oslo_config import cfg

from api import app, health
from api import conf as api_conf
from tests.unit.api import memory

Ask = Callable[..., tuple[int, str]]


@pytest.fixture
def ask(
    engine: memory.Engine, fleet: memory.Fleet, tmp_path: pathlib.Path
) -> Ask:
    """Return what asks an application with these options."""
    path = tmp_path / 'api.conf'

    def asked(
        method: str = 'GET',
        environ: dict[str, Any] | None = None,
        **options: Any,
    ) -> tuple[int, str]:
        lines = [f'{name} = {value}' for name, value in options.items()]
        path.write_text('\n'.join(['[healthcheck]', *lines]))
        conf = cfg.ConfigOpts()
        api_conf.register(conf)
        conf([], project='vobjects', default_config_files=[str(path)])
        found: list[str] = []
        sent = {
            'REQUEST_METHOD': method,
            'PATH_INFO': health.PATH,
            'SERVER_NAME': 'localhost',
            'SERVER_PORT': '80',
            'REMOTE_ADDR': '192.0.2.1',
            'wsgi.url_scheme': 'http',
            'wsgi.input': io.BytesIO(),
            **(environ or {}),
        }
        parts = app.build(conf, engine, fleet)(
            sent, lambda status, headers, exc_info=None: found.append(status)
        )
        return int(found[-1][:3]), b''.join(parts).decode()

    return asked


def test_api_with_engines_is_well(ask: Ask) -> None:
    assert ask() == (200, 'engines answer')
    assert ask('HEAD') == (204, '')
    status, text = ask(environ={'HTTP_ACCEPT': 'application/json'})
    assert status == 200
    assert json.loads(text)['reasons'] == ['engines answer']


def test_api_without_an_engine_is_not(ask: Ask, fleet: memory.Fleet) -> None:
    fleet.living = 0
    assert ask() == (503, 'no live engine')
    fleet.served = None
    assert ask() == (503, 'no engine answers')
    assert ask('HEAD') == (503, '')


def test_why_an_engine_does_not_answer_is_told_when_configured(
    ask: Ask, fleet: memory.Fleet
) -> None:
    fleet.served = None
    environ = {'HTTP_ACCEPT': 'application/json'}
    assert 'db7' not in ask(environ=environ)[1]
    status, text = ask(environ=environ, detailed=True)
    assert status == 503
    (reason,) = json.loads(text)['reasons']
    assert reason['details'] == 'the database db7:3306 is away'


def test_other_methods_are_refused(ask: Ask) -> None:
    assert ask('POST')[0] == 405


def test_strangers_find_nothing_where_only_some_may_look(ask: Ask) -> None:
    allowed = '198.51.100.0/24'
    assert ask(allowed_source_ranges=allowed)[0] == 404
    environ = {'REMOTE_ADDR': '198.51.100.7'}
    assert ask(environ=environ, allowed_source_ranges=allowed)[0] == 200


def test_process_is_taken_out_by_a_file(
    ask: Ask, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / 'out'
    options = {
        'backends': f'{health.BACKEND},disable_by_file',
        'disable_by_file_path': path,
    }
    assert ask(**options)[0] == 200
    path.touch()
    assert ask(**options)[0] == 503
