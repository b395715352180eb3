# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.clients``: run the suites and compare their results.

The suites run at the same time. Tests that fail run again afterwards, one at a
time, because some wait for at most ten seconds. Exit status 1 when a test
fails twice that should pass, or passes that is listed as failing.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator

from tests import machine_speed
from tests.clients import results, suites, testbed
from tests.clients.results import Result, Verdict
from tests.clients.suites import Suite
from tests.functional import deployments, keystone
from tests.functional.processes import kill_with_parent

#: Seconds between lines about the progress.
PROGRESS = 30

#: Seconds that a suite may take.
LIMIT = 1800 * machine_speed.scale()

#: Failed tests of a suite that run again; if more fail, none does.
MAX_REPEATED = 10

#: The part of a test's name that names its class.
CLASS = r'([^\.]*\.)*'

HEADINGS = (
    'suite',
    'version',
    'run',
    'passed',
    'known',
    'failed',
    'skipped',
    'seconds',
)


def say(line: str = '') -> None:
    """Print a line at once."""
    sys.stdout.write(line + '\n')
    sys.stdout.flush()


@dataclasses.dataclass(slots=True)
class Run:
    """A suite that runs.

    :ivar error: why it could not
    :ivar repeated: failures of tests that passed when they ran again
    """

    suite: Suite
    results: list[Result] = dataclasses.field(default_factory=list)
    repeated: list[Result] = dataclasses.field(default_factory=list)
    verdict: Verdict | None = None
    seconds: float = 0.0
    error: str = ''

    @property
    def is_good(self) -> bool:
        """Whether it has run, and everything was as expected."""
        return self.verdict is not None and self.verdict.is_good

    def row(self) -> list[str]:
        """Return its cells under :data:`HEADINGS`."""
        head = [self.suite.name, self.suite.version]
        verdict = self.verdict
        if verdict is None:
            return [*head, *['-'] * (len(HEADINGS) - len(head))]
        counts = (
            len(self.results) - len(verdict.skipped),
            len(verdict.passed),
            len(verdict.known),
            len(verdict.failed),
            len(verdict.skipped),
            round(self.seconds),
        )
        return [*head, *map(str, counts)]


class ProcessKiller:
    """Kills the processes of all suites."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self.is_set = False

    @contextlib.contextmanager
    def running(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Register a process for the duration of the ``with`` statement."""
        with self._lock:
            self._processes.add(process)
        if self.is_set:
            _end(process)
        try:
            yield
        finally:
            with self._lock:
                self._processes.discard(process)
            _end(process)

    def set(self) -> None:
        """Kill all processes, and those that start later."""
        self.is_set = True
        with self._lock:
            for process in self._processes:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def main() -> int:
    """Run the suites that the command line names."""
    known = suites.load()
    options = _options([suite.name for suite in known])
    chosen = [
        suite
        for suite in known
        if any(
            fnmatch.fnmatchcase(suite.name, pattern)
            for pattern in options.suite
        )
    ]
    if not os.environ.get('CI'):
        for suite in chosen:
            if suite.missing:
                say(f'{suite.name} is skipped: it {suite.missing}')
        chosen = [suite for suite in chosen if not suite.missing]
    runs = [Run(suite) for suite in chosen]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    environments = _install(runs)
    programs = keystone.programs()
    if isinstance(programs, str):
        say(programs)
        return 1
    with tempfile.TemporaryDirectory(prefix='vobjects-clients-') as name:
        directory = pathlib.Path(name)
        try:
            with testbed.running(directory) as bed:
                say(f'running against {bed.service.url}')
                _run_all(runs, environments, bed, directory, options)
                if any(run.verdict and run.verdict.failed for run in runs):
                    _say_logs()
            status = 0 if all(run.is_good for run in runs) else 1
        except KeyboardInterrupt:
            say('interrupted')
            status = 130
        except AssertionError as error:
            say(f'the service: {error}')
            _say_logs()
            status = 1
        _report(runs)
    return status


def _say_logs() -> None:
    for title, text in deployments.logs(lambda _: True):
        say(f'\n{title}\n{text}')


def _options(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='python -m tests.clients', description=__doc__
    )
    parser.add_argument(
        '--suite',
        action='append',
        metavar='NAME',
        help='run this suite only; * stands for any characters; may be'
        f' repeated ({", ".join(names)})',
    )
    parser.add_argument(
        '--only',
        metavar='PATTERN',
        default='',
        help='run only tests whose names match this regular expression',
    )
    parser.add_argument(
        '--core',
        action='store_true',
        help='run only the core of each suite that suites.toml names',
    )
    parser.add_argument(
        '--workers',
        type=int,
        metavar='NUMBER',
        help='processes for each suite, instead of those in suites.toml',
    )
    options = parser.parse_args()
    options.suite = options.suite or ['*']
    for pattern in options.suite:
        if not fnmatch.filter(names, pattern):
            parser.error(
                f'--suite {pattern}: there is no such suite; there are'
                f' {", ".join(names)}'
            )
    return options


def _install(runs: list[Run]) -> dict[str, pathlib.Path]:
    say(f'installing suites below {suites.cache()} (minutes, once)')
    environments = {}
    for run in runs:
        try:
            environments[run.suite.name] = suites.install(run.suite)
        except (RuntimeError, subprocess.SubprocessError, OSError) as error:
            run.error = f'it cannot be installed: {error}'
    return environments


def _run_all(
    runs: list[Run],
    environments: dict[str, pathlib.Path],
    bed: testbed.Testbed,
    directory: pathlib.Path,
    options: argparse.Namespace,
) -> None:
    stop = ProcessKiller()
    ready = [run for run in runs if run.suite.name in environments]
    # One after the other: Keystone's SQLite lets one write at a time.
    launchers = {}
    for run in ready:
        name = run.suite.name
        home = directory / name
        home.mkdir()
        workers = options.workers or run.suite.workers
        variables = testbed.configure(
            bed.identity, run.suite, environments[name], home, workers
        )
        launchers[name] = Launcher(
            run.suite, environments[name], home, workers, variables, stop
        )

    def work(run: Run) -> None:
        launcher = launchers[run.suite.name]
        began = time.monotonic()
        launcher.run(run.results, _only(run, options))
        run.seconds = time.monotonic() - began
        if not run.results:
            log = launcher.errors.read_text(errors='replace')
            run.error = f'no test has run: {log[-2000:]}'
            return
        _judge(run, options)

    with concurrent.futures.ThreadPoolExecutor(len(ready) or 1) as pool:
        pending = {pool.submit(work, run) for run in ready}
        try:
            while pending:
                finished, pending = concurrent.futures.wait(
                    pending,
                    PROGRESS,
                    return_when=concurrent.futures.FIRST_COMPLETED,
                )
                for future in finished:
                    future.result()
                _say_progress(ready)
        except BaseException:
            stop.set()
            raise
    for run in ready:
        _repeat_failed(run, launchers[run.suite.name], options)


def _only(run: Run, options: argparse.Namespace) -> str:
    """Return the regular expression of the tests to run; empty for all."""
    core = run.suite.core if options.core else ''
    return str(options.only or core)


def _judge(run: Run, options: argparse.Namespace) -> None:
    run.verdict = results.judge(
        run.results,
        results.of_suite(run.suite.name),
        is_complete=not _only(run, options),
    )


def pattern_of(tests: Iterable[str]) -> str:
    """Return a regular expression that matches the names of tests."""
    return '|'.join(rf'^{re.escape(test)}(\[|$)' for test in tests)


def _repeat_failed(
    run: Run, launcher: Launcher, options: argparse.Namespace
) -> None:
    failed = {
        result.test: result
        for result in (run.verdict.failed if run.verdict else ())
    }
    if not 0 < len(failed) <= MAX_REPEATED:
        return
    say(f'{run.suite.name}: running {len(failed)} failed test(s) again')
    repeated: list[Result] = []
    launcher.run(repeated, pattern_of(failed), workers=1)
    outcomes = {result.test: result for result in repeated}
    run.results = [outcomes.get(result.test, result) for result in run.results]
    _judge(run, options)
    assert run.verdict is not None
    still_failed = {result.test for result in run.verdict.failed}
    run.repeated = [
        result for test, result in failed.items() if test not in still_failed
    ]


@dataclasses.dataclass(frozen=True, slots=True)
class Launcher:
    """Runs tests of a suite.

    :ivar environment: where the suite is installed
    :ivar home: directory for the files of its processes
    :ivar variables: environment variables that these need
    """

    suite: Suite
    environment: pathlib.Path
    home: pathlib.Path
    workers: int
    variables: dict[str, str]
    stop: ProcessKiller = dataclasses.field(default_factory=ProcessKiller)

    @property
    def errors(self) -> pathlib.Path:
        """The file with what the last run wrote to stderr."""
        return self.home / 'stderr'

    def run(
        self,
        into: list[Result],
        only: str,
        workers: int | None = None,
    ) -> None:
        """Run tests, and append each result as it arrives.

        :param only: regular expression of their names; empty for all
        """
        command = self._command(only, workers or self.workers)
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(('OS_', 'PYTHON'))
        }
        bin_ = self.environment / 'bin'
        with self.errors.open('wb') as errors:
            process = subprocess.Popen(
                kill_with_parent(command),
                cwd=self.home,
                env={
                    **inherited,
                    'HOME': str(self.home),
                    'PATH': f'{bin_}:{inherited["PATH"]}',
                    **self.variables,
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
            timer = threading.Timer(LIMIT, _end, (process,))
            timer.start()
            try:
                with self.stop.running(process), process:
                    assert process.stdout is not None
                    read = (
                        results.read_go
                        if self.suite.language == 'go'
                        else results.read
                    )
                    read(process.stdout, into.append)
            finally:
                timer.cancel()

    def _command(self, only: str, workers: int) -> list[str]:
        if self.suite.language == 'go':
            go = shutil.which('go') or 'go'
            return [
                *(go, 'tool', 'test2json', '-t'),
                *(str(self.environment / 'bin' / 'suite'), '-test.v'),
                *(f'-test.timeout={LIMIT}s', f'-test.run={only}'),
            ]
        packages = suites.site_packages(self.environment)
        excluded = self.home / 'excluded'
        excluded.write_text(
            ''.join(
                fnmatch.translate(pattern).removesuffix(r'\Z') + '\n'
                for expectation in results.of_suite(self.suite.name)
                for pattern in expectation.tests
                if not expectation.run
            )
        )
        return [
            str(self.environment / 'bin' / 'stestr'),
            f'--test-path={packages / self.suite.tests}',
            f'--top-dir={packages}',
            f'--repo-url={self.home}',
            *([f'--group-regex={CLASS}'] if self.suite.by_class else []),
            'run',
            '--subunit',
            f'--concurrency={workers}',
            f'--exclude-list={excluded}',
            *([only] if only else []),
        ]


def _say_progress(runs: list[Run]) -> None:
    say(
        '  '.join(
            f'{run.suite.name} {len(run.results)}'
            + (' done' if run.verdict or run.error else '')
            for run in runs
        )
    )


def _report(runs: list[Run]) -> None:
    rows = [HEADINGS, *(run.row() for run in runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    say()
    for row in rows:
        cells = zip(row, widths, range(len(row)), strict=True)
        say(
            '  '.join(
                cell.ljust(width) if number < 2 else cell.rjust(width)
                for cell, width, number in cells
            )
        )
    for run in runs:
        _report_one(run)


def _report_one(run: Run) -> None:
    name, verdict = run.suite.name, run.verdict
    if verdict is None:
        say(f'\n{name}: {run.error or "it was not run to its end"}')
        return
    for title, reasons in (
        ('known failures', verdict.known),
        ('excluded', verdict.excluded),
    ):
        by_reason: dict[str, list[str]] = {}
        for test, reason in reasons:
            by_reason.setdefault(reason, []).append(test)
        for reason, tests in by_reason.items():
            say(f'\n{name}, {title}: {reason}')
            for test in sorted(tests):
                say(f'    {test}')
    for result in run.repeated:
        say(f'\n{name}, failed once, passed alone: {result.test}')
        say(_indented(result.details))
    for result in verdict.skipped:
        say(f'\n{name}, skipped by the suite: {result.test}: {result.details}')
    for result in verdict.failed:
        say(f'\n{name}, FAILED: {result.test} ({result.status})')
        say(_indented(result.details))
    for result in verdict.fixed:
        say(
            f'\n{name}, PASSED: {result.test}, which expectations.toml lists:'
            ' remove it there'
        )
    for pattern in verdict.stale:
        say(
            f'\n{name}: no test is named {pattern}, which expectations.toml'
            ' lists: remove it there'
        )


def _indented(text: str) -> str:
    return '\n'.join(f'    {line}' for line in text.splitlines())


if __name__ == '__main__':
    sys.exit(main())
