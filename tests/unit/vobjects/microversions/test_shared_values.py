# SPDX-License-Identifier: Apache-2.0
"""Metrics on a disk that is full."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import subprocess
import sys

import pytest
from prometheus_client import values

from tests.programs import run_program
from vobjects.microversions import shared_values

#: Count more and more series in a full directory, then in one with space.
COUNT = """
import logging, os, pathlib, sys
logging.basicConfig(level='WARNING', format='%(message)s')
directory = pathlib.Path(sys.argv[1])
filler = directory / 'filler'
def fill():
    with open(filler, 'wb', buffering=0) as file:
        try:
            while file.write(bytes(1 << 12)):
                pass
        except OSError:
            pass
if sys.argv[2] == 'at start':
    fill()
from vobjects.microversions import presets, usage_metrics
usage = usage_metrics.UsageMetrics(presets.SENLIN)
environ = {'REQUEST_METHOD': 'GET'}
if sys.argv[2] == 'later':
    usage.record(environ, '200', 0.1)
    fill()
for number in range(3000):
    usage.record({**environ, usage_metrics.ROUTE: f'/{number}'}, '200', 0.1)
filler.unlink()
for number in range(10):
    usage.record({**environ, usage_metrics.ROUTE: f'/new{number}'}, '200', 0.1)
print(usage.text(1)[1].decode())
"""


@pytest.fixture
def small_disk(tmp_path: pathlib.Path) -> pathlib.Path:
    """A file system of one MiB."""
    directory = tmp_path / 'disk'
    directory.mkdir()
    mounted = run_program(
        ['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]
    )
    if mounted.returncode:
        pytest.skip('mounting a small file system needs root')
    yield directory
    subprocess.run(['umount', '--lazy', directory], check=True)


@pytest.mark.parametrize('when', ['at start', 'later'])
def test_full_disk_ends_no_process_and_is_logged_once(
    small_disk: pathlib.Path, when: str
) -> None:
    done = run_program(
        [sys.executable, '-c', COUNT, small_disk, when],
        env={**os.environ, 'PROMETHEUS_MULTIPROC_DIR': str(small_disk)},
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    lines = done.stderr.splitlines()
    if when == 'later':
        assert [line.partition(':')[0] for line in lines] == [
            'New metrics are not counted',
            'New metrics are counted again',
        ]
        assert 'route="/new9"' in done.stdout
    else:
        assert all('are not shared' in line for line in lines), lines
        assert 0 < len(lines) < 5


def test_files_of_prometheus_client_are_reserved(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, 'MmapedDict', values.MmapedDict)
    monkeypatch.setenv('PROMETHEUS_MULTIPROC_DIR', str(tmp_path))
    shared_values.install()
    # prometheus_client looks the class up when it opens a file.
    reserved = values.MmapedDict
    with contextlib.ExitStack() as opened:
        monkeypatch.setattr(
            values,
            'MmapedDict',
            lambda path: opened.enter_context(
                contextlib.closing(reserved(path))
            ),
        )
        value = values.MultiProcessValue()(
            'counter', 'name', 'name_total', (), (), 'help'
        )
        value.inc(2)
    (file,) = tmp_path.iterdir()
    status = file.stat()
    assert status.st_blocks * 512 >= status.st_size == 1 << 16


def test_new_value_without_space_raises_and_keeps_the_others(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, 'No space left on device')

    shared = shared_values.ReservedDict(str(tmp_path / 'counter_1.db'))
    shared.write_value('first', 1.0, 0.0)
    with monkeypatch.context() as patched:
        patched.setattr(os, 'posix_fallocate', fail)
        for _ in range(2):
            with pytest.raises(OSError, match='No space'):
                shared.write_value('x' * (1 << 16), 2.0, 0.0)
        shared.write_value('small', 3.0, 0.0)
    shared.write_value('x' * (1 << 16), 2.0, 0.0)
    found = [value for _, value, _ in shared.read_all_values()]
    shared.close()
    assert found == [1, 3, 2]


def test_values_that_a_full_disk_kept_private_are_shared_later(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, 'No space left on device')

    monkeypatch.setattr(shared_values, 'RETRY_INTERVAL', 0.0)
    file = tmp_path / 'counter_1.db'
    with monkeypatch.context() as patched:
        patched.setattr(os, 'posix_fallocate', fail)
        kept = shared_values.ReservedDict(str(file))
        for number in range(3):
            kept.write_value(f'key {number}', float(number), 0.0)
        assert not file.exists()
    kept.write_value('key 3', 3.0, 0.0)
    kept.write_value('x' * (1 << 16), 4.0, 0.0)

    shared = shared_values.ReservedDict.read_all_values_from_file(str(file))
    assert [value for _, value, *_ in shared] == [0, 1, 2, 3, 4]
    assert [each.partition(':')[0] for each in caplog.messages] == [
        'The metrics of this process are not shared',
        'The metrics of this process are shared',
    ]
    kept.close()
