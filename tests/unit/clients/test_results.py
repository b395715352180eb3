# SPDX-License-Identifier: Apache-2.0
"""Comparison of results of suites with expectations."""

from __future__ import annotations

import datetime
import io
import json

import pytest
import subunit

from tests.clients import results, suites
from tests.clients.results import Expectation, Result, Verdict

REASON = 'the test asserts a 500'


def judge(
    *reported: Result, run: bool = True, is_complete: bool = True
) -> Verdict:
    entry = Expectation(suite='s', tests=['a.*'], reason=REASON, run=run)
    return results.judge(reported, [entry], is_complete=is_complete)


def test_listed_failure_is_known_with_its_reason() -> None:
    verdict = judge(Result('a.one', 'fail'), Result('b', 'success'))
    assert verdict.is_good
    assert verdict.known == [('a.one', REASON)]
    assert verdict.passed == [Result('b', 'success')]


@pytest.mark.parametrize('status', ['fail', 'inprogress', 'uxsuccess'])
def test_other_failure_is_none_that_is_known(status: str) -> None:
    verdict = judge(Result('a.one', 'fail'), Result('b', status))
    assert not verdict.is_good
    assert verdict.failed == [Result('b', status)]


def test_listed_test_that_passes_is_reported() -> None:
    verdict = judge(Result('a.one', 'fail'), Result('a.two', 'success'))
    assert not verdict.is_good
    assert verdict.fixed == [Result('a.two', 'success')]


def test_pattern_that_fits_no_test_is_reported() -> None:
    assert judge(Result('b', 'success')).stale == ['a.*']


def test_pattern_is_not_stale_when_tests_were_selected() -> None:
    assert judge(Result('b', 'success'), is_complete=False).is_good


def test_excluded_tests_are_neither_stale_nor_known() -> None:
    verdict = judge(Result('b', 'success'), run=False)
    assert verdict.is_good
    assert verdict.excluded == [('a.*', REASON)]


def test_skipped_tests_do_not_count_as_passed() -> None:
    verdict = judge(Result('a.one', 'skip', 'no network'))
    assert verdict.passed == []
    assert verdict.skipped == [Result('a.one', 'skip', 'no network')]


def test_stream_is_read_without_the_list_of_tests() -> None:
    stream = io.BytesIO()
    writer = subunit.StreamResultToBytes(stream)
    now = datetime.datetime.now(datetime.UTC)
    for status in ('exists', 'inprogress', 'fail'):
        traceback = status == 'fail'
        writer.status(
            test_id='a.one[id-1234,smoke]',
            test_status=status,
            timestamp=now,
            file_name='traceback' if traceback else None,
            file_bytes=b'assert 0\n' if traceback else None,
            mime_type='text/plain; charset=utf8' if traceback else None,
            eof=traceback,
        )
    stream.seek(0)
    reported: list[Result] = []
    results.read(stream, reported.append)
    assert reported == [Result('a.one', 'fail', 'assert 0')]


def test_each_expectation_is_of_a_suite() -> None:
    names = [suite.name for suite in suites.load()]
    for entry in results.expectations():
        assert any(map(entry.concerns, names)), entry


def test_results_of_go_are_read_with_their_output() -> None:
    lines = [
        {'Action': 'start'},
        {'Action': 'run', 'Test': 'TestA'},
        {'Action': 'output', 'Test': 'TestA', 'Output': 'created\n'},
        {'Action': 'run', 'Test': 'TestB'},
        {'Action': 'output', 'Test': 'TestB', 'Output': 'not found\n'},
        {'Action': 'pass', 'Test': 'TestA', 'Elapsed': 1.5},
        {'Action': 'fail', 'Test': 'TestB'},
        {'Action': 'skip', 'Test': 'TestC'},
        {'Action': 'output', 'Output': 'FAIL\n'},
        {'Action': 'fail'},
    ]
    stream = io.BytesIO(
        b''.join(json.dumps(x).encode() + b'\n' for x in lines)
    )
    reported: list[Result] = []
    results.read_go(stream, reported.append)
    assert reported == [
        Result('TestA', 'success', 'created\n'),
        Result('TestB', 'fail', 'not found\n'),
        Result('TestC', 'skip'),
    ]
