# SPDX-License-Identifier: Apache-2.0
"""Server processes."""

from __future__ import annotations

import logging
import os
import pathlib
import signal
from collections.abc import Iterator

import pytest
from oslo_config import cfg

from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import Service
from vobjects.rpc import ServerProcess, server_process


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


@pytest.fixture
def handlers() -> Iterator[None]:
    """Restore the handlers of signals after the test."""
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    signal.set_wakeup_fd(-1)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures('handlers')
@pytest.mark.parametrize('last', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ('text', 'expected'), [('word = b', 'b'), ('word', 'a'), (None, 'a')]
)
def test_options_are_read_again_at_sighup_and_the_wait_ends_at_others(
    caplog: pytest.LogCaptureFixture,
    tmp_path: pathlib.Path,
    text: str | None,
    expected: str,
    last: signal.Signals,
) -> None:
    file = tmp_path / 'keys.conf'
    file.write_text('[DEFAULT]\nword = a\n')
    conf = cfg.ConfigOpts()
    conf.register_opt(cfg.StrOpt('word', mutable=True))
    conf(['--config-file', str(file)])
    wait = server_process.signals(conf)
    if text is None:
        file.unlink()
    else:
        file.write_text(f'[DEFAULT]\n{text}\n')
    for number in (signal.SIGHUP, last, last):
        os.kill(os.getpid(), number)
    wait()
    assert conf.word == expected
    assert (expected == 'a') == ('Cannot read the options' in caplog.text)
