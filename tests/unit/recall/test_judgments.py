# SPDX-License-Identifier: Apache-2.0
"""The judgments of findings, and the precision that follows."""

from __future__ import annotations

import csv
import pathlib

import pytest

from recall import bugs, judgments, measurement
from recall.judgments import Judgment, Key
from vobjects_releases import comparison

from .test_report import bug, finding

HEADER = 'bug,rule,subject,field,verdict,reason\n'
ROW = 'shop-1,ADDED_CONVERTED,Order,gift,confirmed,"no code removes it"\n'
KEY = Key('shop-1', 'ADDED_CONVERTED', 'Order', 'gift')


def outcome(*types: str) -> measurement.Outcome:
    return measurement.outcome(bug(), map(finding, types), [])


def test_lines_count_the_judgments_of_each_rule() -> None:
    judged = {
        KEY: Judgment('confirmed', 'no code removes it'),
        KEY._replace(subject='Invoice'): Judgment('false alarm', 'not sent'),
        KEY._replace(subject='Past'): Judgment('false alarm', 'rule mended'),
    }

    lines = judgments.lines([outcome('Order', 'Invoice', 'Item')], judged)

    text = '1 of 2 judged findings confirmed; 1 not judged'
    assert list(lines) == [
        'precision:',
        f'  ADDED_CONVERTED  {text}',
        f'  all              {text}',
    ]


def test_lines_without_findings_have_no_precision() -> None:
    assert list(judgments.lines([outcome()], {})) == []


def test_write_table_can_be_judged_and_loaded(tmp_path: pathlib.Path) -> None:
    path = tmp_path / 'judgments.csv'
    judged = {KEY: Judgment('confirmed', 'no code removes it')}

    judgments.write(path, [outcome('Order')], judged)

    with path.open() as file:
        (row,) = csv.DictReader(file)
    assert row.pop('finding') == '(from 1.0) is new'
    path.write_text(HEADER + ','.join(row.values()) + '\n')
    assert judgments.load(path) == judged


@pytest.mark.parametrize(
    ('rows', 'message'),
    [
        (ROW.replace('confirmed', 'perhaps'), ':2: verdict must be'),
        (ROW.replace('"no code removes it"', ''), ':2: reason must not'),
        (ROW.replace(',gift', ''), ':2: must have'),
        (ROW + ROW, ':3: .* appears twice'),
    ],
)
def test_load_malformed_row_raises(
    tmp_path: pathlib.Path, rows: str, message: str
) -> None:
    path = tmp_path / 'judgments.csv'
    path.write_text(HEADER + rows)

    with pytest.raises(judgments.JudgmentError, match=message):
        judgments.load(path)


def test_judgments_concern_bugs_of_the_lists_and_rules() -> None:
    listed = {
        item.id
        for name in ('bugs.toml', 'bugs2.toml', 'bugs3.toml')
        for item in bugs.load(bugs.DEFAULT.with_name(name))
    }
    rules = {rule.id for rule in comparison.RULES}

    for key in judgments.load(judgments.FILE):
        assert key.bug in listed
        assert key.rule in rules
