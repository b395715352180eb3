# SPDX-License-Identifier: Apache-2.0
"""Check of the API history against the contract."""

import dataclasses

import pytest

from tests.unit.vobjects_contract import samples
from vobjects.microversions import retirement
from vobjects_contract import history_check, type_schemas


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    samples.register_types(monkeypatch)


def problems(**entries):
    """Return the problems of the samples' history with other entries."""
    changed = {
        key[1:].replace('_', '.'): value for key, value in entries.items()
    }
    entries = {
        key: value
        for key, value in {**samples.HISTORY, **changed}.items()
        if value is not None
    }
    return list(history_check.problems(samples.contract(history=entries)))


def test_complete_history_has_no_problems():
    assert problems() == []


@pytest.mark.parametrize(
    ('entries', 'expected'),
    [
        ({'v1_1': None}, ['1.1: the history has no entry']),
        (
            {'v1_6': ('More.',)},
            ['1.6: the history has an entry, but the service has 1.0 to 1.5'],
        ),
        (
            {'v1_4': ('Removed oldest from things.',)},
            ["that POST /v1/things: response 201.thing.old is removed; add"
             " 'old'", 'GET /v1/things/{identity}'],
        ),
        (
            {'v1_3': ('Added deep.',)},
            ["that GET /v1/things/{identity} is added; add"
             " 'GET /v1/things/{identity}' or 'things'"],
        ),
    ],
)  # fmt: skip
def test_missing_entry_is_named(entries, expected):
    reported = problems(**entries)

    assert len(reported) == len(expected)
    for problem, part in zip(reported, expected, strict=True):
        assert part in problem


def test_history_when_out_of_order_is_a_problem():
    entries = dict(reversed(samples.HISTORY.items()))
    reported = list(history_check.problems(samples.contract(history=entries)))

    assert reported == ['the history must be in the order of its versions']


@pytest.mark.parametrize(
    ('name', 'sentence', 'is_documented'),
    [
        ('GET /v1/profile-types', 'Added the list of profile types.', True),
        ('GET /v1/profile-types', 'Added GET /v1/profile-types.', True),
        ('GET /v1/profile-types', 'Added a profile type.', False),
        ('GET /v1/x', 'Added GET /v1/x/y.', False),
    ],
)
def test_operation_is_documented_by_its_path_or_last_word(
    name, sentence, is_documented
):
    contract = samples.contract(
        samples.fixed(name, v1_1={'type': 'object'}),
        history={**dict.fromkeys(samples.HISTORY, ()), '1.1': (sentence,)},
    )

    assert (list(history_check.problems(contract)) == []) is is_documented


def test_field_that_returned_is_a_problem_despite_an_entry():
    schema = type_schemas.closed({'a': {'type': 'string'}})
    contract = samples.contract(
        samples.fixed(v1_0=schema, v1_2=type_schemas.closed({}), v1_3=schema),
        history=dict.fromkeys(samples.HISTORY, ('Changed a.',)),
    )

    assert list(history_check.problems(contract)) == [
        '1.3: GET /v1/x: response 200.a disappeared at 1.2 and returned at 1.3'
    ]


def test_page_has_the_entry_and_the_changes_of_each_version():
    page = history_check.page(samples.contract())

    assert '**1.0**\n\n    The first version.\n' in page
    assert f'**1.1**\n\n    {history_check.NO_CHANGES}\n' in page
    assert '    - ``GET /v1/things/{identity}`` is added\n' in page
    assert (
        '    - ``old`` of the response is removed (breaking): ``POST'
        ' /v1/things``, ``GET /v1/things/{identity}``\n' in page
    )


def test_page_marks_retired_versions():
    end = retirement.retire('1.1', '1.2', sunset='2027-06-30', successor='1.4')
    policy = dataclasses.replace(samples.POLICY, retired=(end,))
    page = history_check.page(samples.contract(policy=policy))

    note = f'    *Retired: {end}.*'
    assert 'may be removed from 2027-06-30 on, followed by 1.4.' in note
    assert page.count(note) == 2
    assert page.index('**1.1**') < page.index(note) < page.index('**1.2**')
    assert note not in page[page.index('**1.3**') :]
