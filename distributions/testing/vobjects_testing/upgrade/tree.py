# SPDX-License-Identifier: Apache-2.0
"""Print a run of a plan as a tree, each step with its state."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from vobjects_testing.upgrade.runner import Report, ReportLine

#: Maximum length of each line of an error in characters, and number of lines.
WIDTH = 1200
LINES = 12


def tree(report: Report) -> str:
    """Return a run as a tree.

    ``ok``, ``FAILED`` or ``-`` (not run) precedes each step; the duration in
    seconds follows it.
    """
    return '\n'.join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    plan = report.plan
    outcome = 'FAILED' if report.failed else 'ok'
    yield (
        f'upgrade plan, seed {plan.seed}, {len(plan.steps)} steps:'
        f' {outcome}, {report.seconds:.1f} s'
    )
    phases = [
        (name, list(lines))
        for name, lines in itertools.groupby(
            report.lines, lambda line: line.phase
        )
    ]
    for number, (name, lines) in enumerate(phases):
        is_last = number == len(phases) - 1
        yield f'{"└" if is_last else "├"}─ {name}'
        trunk = '   ' if is_last else '│  '
        for line in lines:
            branch = '└─' if line is lines[-1] else '├─'
            yield f'{trunk}{branch} {_line(line)}'
            below = '     ' if line is lines[-1] else '│    '
            for text in _error(line):
                yield f'{trunk}{below}{text}'


def _line(line: ReportLine) -> str:
    state = (
        'FAILED' if line.error else 'ok' if line.seconds is not None else '-'
    )
    number = f'{line.number:>2} ' if line.number else ''
    seconds = '' if line.seconds is None else f'  ({line.seconds:.1f} s)'
    return f'{state:<6} {number}{line.text}{seconds}'


def _error(line: ReportLine) -> Iterator[str]:
    if line.error is None:
        return
    if line.invariant:
        yield f'violated: {line.invariant}'
    message = str(line.error).splitlines() or ['']
    yield f'{type(line.error).__name__}: {message[0][:WIDTH]}'
    yield from (text[:WIDTH] for text in message[1:LINES])
