# SPDX-License-Identifier: Apache-2.0
"""Results of a suite, and how they compare with ``expectations.toml``."""

from __future__ import annotations

import collections
import dataclasses
import fnmatch
import json
import pathlib
import re
import tomllib
from collections.abc import Callable, Iterable
from typing import IO

import subunit
import testtools

TABLE = pathlib.Path(__file__).with_name('expectations.toml')

#: Statuses of subunit that mean that a test did what it should.
_PASSED = {'success', 'xfail'}

#: Actions of Go's test2json -> statuses of subunit.
_GO_STATUSES = {'pass': 'success', 'fail': 'fail', 'skip': 'skip'}

#: tempest appends attributes to names of tests: "test_a[id-..., smoke]".
_ATTRIBUTES = re.compile(r'\[[^]]*\]$')


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """The result of one test.

    :ivar status: ``success``, ``fail``, ``skip`` or another of subunit's
    :ivar details: why it failed or was skipped
    """

    test: str
    status: str
    details: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """An entry of ``expectations.toml``, which describes the fields."""

    suite: str
    tests: list[str]
    reason: str
    run: bool = True

    def concerns(self, suite: str) -> bool:
        """Return whether this entry applies to a suite."""
        return fnmatch.fnmatchcase(suite, self.suite)


@dataclasses.dataclass(slots=True)
class Verdict:
    """Results by category.

    :ivar known: failures that are expected, with their reasons
    :ivar excluded: patterns of tests that are not run, with their reasons
    :ivar fixed: tests that pass and were expected to fail
    :ivar stale: patterns that match no test
    """

    passed: list[Result] = dataclasses.field(default_factory=list)
    skipped: list[Result] = dataclasses.field(default_factory=list)
    failed: list[Result] = dataclasses.field(default_factory=list)
    fixed: list[Result] = dataclasses.field(default_factory=list)
    known: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    excluded: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    stale: list[str] = dataclasses.field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether everything is as expected."""
        return not (self.failed or self.fixed or self.stale)


def expectations() -> list[Expectation]:
    """Return all entries."""
    entries = tomllib.loads(TABLE.read_text())['expectation']
    return [Expectation(**entry) for entry in entries]


def of_suite(name: str) -> list[Expectation]:
    """Return the entries for a suite."""
    return [entry for entry in expectations() if entry.concerns(name)]


def read(stream: IO[bytes], report: Callable[[Result], None]) -> None:
    """Report each result of a subunit stream as it arrives."""

    def on_test(test: dict[str, object]) -> None:
        if test['status'] == 'exists':  # stestr lists all tests first
            return
        name = _ATTRIBUTES.sub('', str(test['id']))
        details: dict[str, testtools.content.Content] = test['details']
        text = '\n'.join(
            content.as_text().strip()
            for key, content in details.items()
            if key.startswith(('traceback', 'reason'))
        )
        report(Result(name, str(test['status']), text))

    result = testtools.StreamToDict(on_test)
    result.startTestRun()
    subunit.ByteStreamToStreamResult(stream, non_subunit_name='output').run(
        result
    )
    result.stopTestRun()


def read_go(stream: IO[bytes], report: Callable[[Result], None]) -> None:
    """Report each result of ``go tool test2json`` as it arrives."""
    output: dict[str, list[str]] = collections.defaultdict(list)
    for line in stream:
        event = json.loads(line)
        test, action = event.get('Test'), event['Action']
        if not test:
            continue
        if action == 'output':
            output[test].append(event['Output'])
        elif status := _GO_STATUSES.get(action):
            report(Result(test, status, ''.join(output.pop(test, ()))))


def judge(
    results: Iterable[Result],
    expected: Iterable[Expectation],
    *,
    is_complete: bool,
) -> Verdict:
    """Compare results with expectations.

    :param is_complete: whether all tests of the suite have run
    """
    verdict = Verdict()
    reasons = {
        pattern: entry.reason
        for entry in expected
        for pattern in entry.tests
        if entry.run
    }
    verdict.excluded = [
        (pattern, entry.reason)
        for entry in expected
        for pattern in entry.tests
        if not entry.run
    ]
    used: collections.Counter[str] = collections.Counter()
    for result in results:
        pattern = next(
            (
                known
                for known in reasons
                if fnmatch.fnmatchcase(result.test, known)
            ),
            None,
        )
        if pattern is not None:
            used[pattern] += 1
        if result.status == 'skip':
            verdict.skipped.append(result)
        elif result.status in _PASSED:
            verdict.passed.append(result)
            if pattern is not None:
                verdict.fixed.append(result)
        elif pattern is not None:
            verdict.known.append((result.test, reasons[pattern]))
        else:
            verdict.failed.append(result)
    if is_complete:
        verdict.stale = [pattern for pattern in reasons if not used[pattern]]
    return verdict
