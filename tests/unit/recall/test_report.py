# SPDX-License-Identifier: Apache-2.0
"""Comparing the findings before and after a fix, and the report."""

from __future__ import annotations

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
