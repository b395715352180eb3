# SPDX-License-Identifier: Apache-2.0
"""The backend of oslo.service that the import of the library selects."""

from __future__ import annotations

import importlib
import pathlib
import subprocess
import sys
import types

import pytest
from oslo_service import backend

from vobjects import _threading


@pytest.mark.parametrize(
    ('patched', 'expected'),
    [
        (None, [backend.BackendType.THREADING]),
        (set(), [backend.BackendType.THREADING]),
        ({'socket'}, [backend.BackendType.THREADING]),
        ({'thread', 'socket'}, []),
    ],
)
def test_backend_of_processes_with_green_threads_is_kept(
    monkeypatch: pytest.MonkeyPatch,
    patched: set[str] | None,
    expected: list[backend.BackendType],
) -> None:
    chosen: list[backend.BackendType] = []
    monkeypatch.setattr(
        backend,
        'register_backend_default_hook',
        lambda hook: chosen.append(hook()),
    )
    if patched is not None:
        patcher = types.ModuleType('eventlet.patcher')
        patcher.is_monkey_patched = (  # type: ignore[attr-defined]
            patched.__contains__
        )
        monkeypatch.setitem(sys.modules, 'eventlet.patcher', patcher)

    importlib.reload(_threading)

    assert chosen == expected


@pytest.mark.parametrize(
    'module',
    ['vobjects.rpc', 'vobjects.objects', 'api.wsgi', 'engine.service'],
)
def test_modules_that_processes_import_first_load_no_eventlet(
    module: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / 'eventlet.py').write_text('raise SystemExit("imported")')

    def loads_it(code: str) -> bool:
        environment = {'PYTHONPATH': str(tmp_path)}
        command = [sys.executable, '-c', code]
        return bool(subprocess.run(command, env=environment).returncode)

    if loads_it(f'import {module}'):
        # Earlier releases of oslo.log load it.
        assert loads_it('import oslo_log.log')
        assert not loads_it(
            'import sys; sys.modules["oslo_utils.eventletutils"] = sys;'
            f' import {module}'
        )
