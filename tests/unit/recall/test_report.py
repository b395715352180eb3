# SPDX-License-Identifier: Apache-2.0
"""Comparing the findings before and after a fix, and the report."""

from __future__ import annotations

import csv
import pathlib

import pytest

from recall import bugs, measurement, report
from tests.adoption.state import Finding


def bug(identifier: str = 'shop-1', half: str = 'development') -> bugs.Bug:
    return bugs.Bug(
        id=identifier,
        project='shop',
        repository='https://example.org/shop',
        link='https://example.org/shop/1',
        kind='default',
        what='The shop charged twice.',
        half=half,
        expected='missed',
        before=('1.0',),
        subjects=('Order',),
        pull=1,
    )


def finding(
    type_name: str,
    field: str = 'gift',
    before: str = '1.0',
    severity: str = 'error',
) -> Finding:
    return Finding(
        'lock',
        before,
        'tree',
        'ADDED_CONVERTED',
        severity,
        type_name,
        field,
        'is new',
    )


@pytest.mark.parametrize(
    ('parent', 'fix', 'found'),
    [
        ([finding('Order')], [], True),
        ([finding('Order')], [finding('Order')], False),
        ([finding('Order')], [finding('Order', before='0.9')], False),
        ([finding('Order')], [finding('Order', 'price')], True),
        ([finding('Order', severity='note')], [], False),
        ([finding('orders.Order')], [], True),
        ([finding('Order._create')], [], True),
        ([finding('Orders')], [], False),
        ([finding('Invoice')], [], False),
        ([], [finding('Order')], False),
    ],
)
def test_outcome_finding_of_subject_that_fix_removes_is_found(
    parent: list[Finding],
    fix: list[Finding],
    found: bool,
) -> None:
    outcome = measurement.outcome(bug(), parent, fix)

    assert outcome.found is found
    assert list(outcome.alarms) == fix


def test_lines_both_halves_have_results_and_figures() -> None:
    outcomes = [
        measurement.Outcome(bug(), (finding('Order'),), (finding('Invoice'),)),
        measurement.Outcome(
            bug('shop-22', 'held out'), problems=('no adapter',)
        ),
    ]

    assert list(report.lines(outcomes)) == [
        'development:',
        '  shop-1  found     1 alarms  default (unexpected)',
        '      lock ADDED_CONVERTED Order.gift (from 1.0): is new',
        '  1 of 1 found; 1 could be measured; 1 findings name a bug; 1 alarms',
        '',
        'held out:',
        '  shop-22  missed    0 alarms  default',
        '      not measured: no adapter',
        '  0 of 1 found; 0 could be measured; 0 findings name a bug; 0 alarms',
        '',
    ]


def test_lines_with_alarms_lists_findings_for_the_fix() -> None:
    outcomes = [measurement.Outcome(bug(), alarms=(finding('Invoice'),))]

    assert (
        '      alarm: lock ADDED_CONVERTED Invoice.gift (from 1.0): is new'
        in report.lines(outcomes, alarms=True)
    )


def test_write_table_replaces_rows_and_keeps_the_order_of_the_list(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / 'recall.csv'
    first, second = bug(), bug('shop-22', 'held out')
    found = measurement.Outcome(second, (finding('Order'),))
    report.write_table(path, [first, second], [found])

    report.write_table(
        path,
        [first, second],
        [measurement.Outcome(first, problems=('no clone',))],
    )

    assert path.read_text().splitlines() == [
        'bug,half,what,result,rules',
        '`shop-1 <https://example.org/shop/1>`__,development,'
        'The shop charged twice.,not measured,',
        '`shop-22 <https://example.org/shop/1>`__,held out,'
        'The shop charged twice.,found,``ADDED_CONVERTED``',
    ]


def test_table_of_the_documentation_has_all_bugs_of_the_list() -> None:
    with report.TABLE.open(newline='') as file:
        rows = list(csv.DictReader(file))

    listed = bugs.load(bugs.DEFAULT)
    assert [(row['half'], row['what']) for row in rows] == [
        (bug.half, bug.what) for bug in listed
    ]
    for row in rows:
        assert bool(row['rules']) == (row['result'] == 'found')
