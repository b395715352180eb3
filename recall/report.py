# SPDX-License-Identifier: Apache-2.0
"""Print the results as a table."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Iterable, Iterator, Sequence

from recall.bugs import HALVES, Bug
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
    measured = sum(bool(item.findings) or not item.problems for item in items)
    return (
        f'{found} of {len(items)} found; {measured} could be measured;'
        f' {findings} findings name a bug; {alarms} alarms'
    )


#: The page *State of versioned objects* shows this table.
TABLE = pathlib.Path(__file__).parents[1] / 'doc/source/recall.csv'

COLUMNS = ('bug', 'half', 'what', 'result', 'rules')


def write_table(
    path: pathlib.Path, bugs: Iterable[Bug], outcomes: Iterable[Outcome]
) -> None:
    """Replace the rows of the measured bugs in a table.

    :param bugs: all bugs, in the order of the table
    """
    rows: dict[str, dict[str, str]] = {}
    if path.exists():
        with path.open(newline='') as file:
            rows = {row['bug']: row for row in csv.DictReader(file)}
    for item in outcomes:
        bug = item.bug
        link = _link(bug)
        result = 'found' if item.found else 'missed'
        rules = {finding.code for finding in item.found_by}
        rows[link] = {
            'bug': link,
            'half': bug.half,
            'what': bug.what,
            'result': result
            if item.found or not item.problems
            else 'not measured',
            'rules': ' '.join(f'``{rule}``' for rule in sorted(rules)),
        }
    links = [_link(bug) for bug in bugs]
    with path.open('w', newline='') as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows[link] for link in links if link in rows)


def _link(bug: Bug) -> str:
    return f'`{bug.id} <{bug.link}>`__'
