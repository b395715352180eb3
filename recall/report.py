# SPDX-License-Identifier: Apache-2.0
"""Print the results as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recall.bugs import HALVES
from recall.measurement import Outcome
from tests.adoption.state import Finding


def lines(outcomes: Sequence[Outcome], alarms: bool = False) -> Iterator[str]:
    """Yield the lines of a report.

    :param alarms: list all false alarms
    """
    for half in HALVES:
        items = [item for item in outcomes if item.bug.half == half]
        if items:
            yield from _half(half, items, alarms)


def _half(half: str, items: Sequence[Outcome], alarms: bool) -> Iterator[str]:
    width = max(len(item.bug.id) for item in items)
    yield f'{half}:'
    for item in items:
        result = 'found' if item.found else 'missed'
        surprise = '' if result == item.bug.expected else ' (unexpected)'
        yield (
            f'  {item.bug.id:{width}}  {result:6}'
            f'  {len(item.alarms):3} alarms  {item.bug.kind}{surprise}'
        )
        for finding in item.found_by:
            yield f'      {as_text(finding)}'
        for problem in item.problems:
            yield f'      not measured: {problem}'
        if alarms:
            for finding in item.alarms:
                yield f'      alarm: {as_text(finding)}'
    yield f'  {summary(items)}'
    yield ''


def as_text(finding: Finding) -> str:
    """Return a finding as one line."""
    subject = '.'.join(filter(None, (finding.type, finding.field)))
    return (
        f'{finding.check} {finding.code} {subject} (from {finding.old}):'
        f' {finding.detail}'
    )


def summary(items: Sequence[Outcome]) -> str:
    """Return the figures of a half as one line."""
    found = sum(item.found for item in items)
    findings = sum(len(item.found_by) for item in items)
    alarms = sum(len(item.alarms) for item in items)
    measured = sum(bool(item.alarms) or not item.problems for item in items)
    return (
        f'{found} of {len(items)} found; {measured} could be measured;'
        f' {findings} findings name a bug; {alarms} alarms'
    )
