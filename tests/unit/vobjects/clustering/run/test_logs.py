# SPDX-License-Identifier: Apache-2.0
"""The last lines of a log, and following several."""

from tests import waiting
from vobjects.clustering.run import logs


def test_last_lines_when_log_is_missing_then_none(tmp_path):
    assert logs.last_lines(tmp_path / 'none', 3) == []
    assert logs.size(tmp_path / 'none') == 0


def test_last_lines_when_log_is_long_then_only_its_end(tmp_path):
    log = tmp_path / 'log'
    log.write_text(''.join(f'line {n}\n' for n in range(10_000)))
    assert logs.last_lines(log, 2) == ['line 9998', 'line 9999']


def test_last_lines_when_started_later_then_nothing_older(tmp_path):
    log = tmp_path / 'log'
    log.write_text('old\n')
    start = logs.size(log)
    with log.open('a') as file:
        file.write('new\n\n')
    assert logs.last_lines(log, 5, start=start) == ['new']


def test_last_lines_when_bytes_are_no_text_then_replaced(tmp_path):
    log = tmp_path / 'log'
    log.write_bytes(b'bad \xff\n')
    assert logs.last_lines(log, 1) == ['bad \ufffd']


def test_follower_when_logs_grow_then_whole_lines_with_names(tmp_path):
    first, second = tmp_path / 'first', tmp_path / 'second'
    first.write_text('before\n')
    followed = []
    follower = logs.Follower(
        {'first': first, 'second': second},
        lambda name, line: followed.append((name, line)),
        period=0.01,
    )
    follower.start()
    with first.open('a') as log:
        log.write('half')
        log.flush()
        second.write_text('appeared later\n')
        waiting.eventually(lambda: followed)
        assert followed == [('second', 'appeared later')]
        log.write(' and half\n')
    waiting.eventually(lambda: len(followed) == 2)
    with first.open('a') as log:
        log.write('last\n')
    follower.stop()
    assert sorted(followed) == [
        ('first', 'half and half'),
        ('first', 'last'),
        ('second', 'appeared later'),
    ]
