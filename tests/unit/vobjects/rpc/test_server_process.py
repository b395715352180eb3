# SPDX-License-Identifier: Apache-2.0
"""Server processes."""

from __future__ import annotations

import logging
import pathlib

import pytest
from oslo_config import cfg

from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import Service
from vobjects.rpc import ServerProcess


def test_server_when_started_logs_its_topic(
    caplog: pytest.LogCaptureFixture, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / 'keys.conf'
    file.write_text('[DEFAULT]\ntransport_url = fake://\n')
    conf = cfg.ConfigOpts()
    conf(['--config-file', str(file)])
    service = Service(name='keys', types=(), history={'1.0': ['Keys.']})
    process = ServerProcess(
        conf, service, ledger=MemoryLedger(), handlers=[], host='h'
    )
    with caplog.at_level(logging.INFO, 'vobjects'):
        process.start()
    process.stop_consuming()
    process.stop()
    assert 'Serving keys-engine as keys-engine' in caplog.text
