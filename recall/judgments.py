# SPDX-License-Identifier: Apache-2.0
"""Which findings are right: the precision of the tools.

A person read the code of both releases for the rows of ``judgments.csv``; of
the second list, for those in doubt.
"""

from __future__ import annotations

import collections
import csv
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from recall.measurement import Outcome

FILE = pathlib.Path(__file__).with_name('judgments.csv')

VERDICTS = ('confirmed', 'false alarm')


class JudgmentError(Exception):
    """The file of judgments is malformed."""


class Key(NamedTuple):
    """A finding of a bug.

    :ivar field: empty: the whole type or method
    """

    bug: str
    rule: str
    subject: str
    field: str


class Judgment(NamedTuple):
    """The verdict of a person who has read the code.

    :ivar verdict: one of :data:`VERDICTS`
    :ivar reason: one line
    """

    verdict: str
    reason: str


Judgments = Mapping[Key, Judgment]

_COLUMNS = (*Key._fields, *Judgment._fields)


def load(path: pathlib.Path) -> Judgments:
    """Read the judgments of a file.

    :raises JudgmentError: a row is malformed, or a finding appears twice
    """
    found: dict[Key, Judgment] = {}
    with path.open(newline='', encoding='utf-8') as file:
        rows = csv.DictReader(file)
        for row in rows:
            place = f'{path}:{rows.line_num}'
            if None in row or None in row.values():
                raise JudgmentError(
                    f'{place}: must have {len(_COLUMNS)} cells'
                )
            key = Key(*(row[name] for name in Key._fields))
            judgment = Judgment(row['verdict'], row['reason'])
            if judgment.verdict not in VERDICTS:
                raise JudgmentError(f'{place}: verdict must be in {VERDICTS}')
            if not judgment.reason:
                raise JudgmentError(f'{place}: reason must not be empty')
            if key in found:
                raise JudgmentError(f'{place}: {key} appears twice')
            found[key] = judgment
    return found


def keys(outcomes: Iterable[Outcome]) -> Iterator[tuple[Key, str]]:
    """Yield the findings of bugs, with the messages of the tools."""
    for outcome in outcomes:
        for item in outcome.findings:
            key = Key(outcome.bug.id, item.code, item.type, item.field)
            yield key, f'(from {item.old}) {item.detail}'


def lines(outcomes: Iterable[Outcome], judged: Judgments) -> Iterator[str]:
    """Yield the precision of each rule, and of all rules."""
    counts: dict[str, collections.Counter[str]] = {}
    for key in sorted({key for key, _ in keys(outcomes)}):
        verdict = judged[key].verdict if key in judged else 'not judged'
        for rule in (key.rule, 'all'):
            counts.setdefault(rule, collections.Counter())[verdict] += 1
    if not counts:
        return
    yield 'precision:'
    names = sorted(counts.keys() - {'all'})
    width = max(map(len, counts))
    for rule in (*names, 'all'):
        count = counts[rule]
        right = count['confirmed']
        yield (
            f'  {rule:{width}}  {right} of {right + count["false alarm"]}'
            f' judged findings confirmed; {count["not judged"]} not judged'
        )


def write(
    path: pathlib.Path, outcomes: Iterable[Outcome], judged: Judgments
) -> None:
    """Write the findings as a table; a person fills in the last columns."""
    with path.open('w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow((*_COLUMNS, 'finding'))
        for key, text in sorted(keys(outcomes)):
            writer.writerow((*key, *judged.get(key, ('', '')), text))
