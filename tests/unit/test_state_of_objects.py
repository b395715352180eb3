# SPDX-License-Identifier: Apache-2.0
"""The page about the state of services' versioned objects."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
import yaml

from tests.adoption import services, state
from tests.unit.doc import extensions

FINDING = {
    'check': 'matrix',
    'old': '1.0.0',
    'new': '2.0.0',
    'code': 'mislabelled',
    'severity': 'warning',
    'type': 'Order',
    'field': 'gift',
    'detail': '1.1 to 1.0',
}

RESULT = {
    'measured': '2026-11-23',
    'python': '3.11.7',
    'import': 'shop.objects',
    'distribution': 'shop',
    'releases': [
        {'release': name, 'types': 3, 'oslo.versionedobjects': '3.12.0'}
        for name in ('1.0.0', '2.0.0')
    ],
    'pairs': [{'old': '1.0.0', 'new': '2.0.0', 'transfers': 6}],
    'invariant_cases': 6,
    'findings': [FINDING],
}

REVIEW = {
    'service': 'shop',
    'subjects': ['Order.gift'],
    'verdict': 'defect',
    'release': '2.0.0',
    'summary': 'The class has no conversion.',
    'evidence': [
        {'file': 'shop/order.py', 'line': 2, 'text': "VERSION = '1.1'"},
        {'file': 'shop', 'without': 'obj_make_compatible'},
    ],
}


def page(reviews: list[dict[str, Any]]) -> str:
    extension = extensions.load('state_of_objects')
    return '\n'.join(extension.page({'shop': RESULT}, reviews))


def test_page_when_a_finding_has_no_review_lists_it_as_not_confirmed() -> None:
    text = page([])
    assert 'Not confirmed\n~' in text
    assert '* ``Order.gift``: matrix mislabelled, 1.0.0 to 2.0.0.' in text


def test_page_when_a_finding_is_confirmed_quotes_code_and_command() -> None:
    text = page([REVIEW])
    assert 'Not confirmed\n~' not in text
    assert "2.0.0 shop/order.py:2: VERSION = '1.1'" in text
    assert "2.0.0 shop: no line has 'obj_make_compatible'" in text
    assert (
        '$ vobjects transfers shop-1.0.0 shop-2.0.0 --import shop.objects'
        in text
    )


def test_page_when_a_review_matches_no_finding_raises() -> None:
    with pytest.raises(ValueError, match='no finding for'):
        page([{**REVIEW, 'subjects': ['Order.price']}])


def test_quote_when_the_code_differs_is_wrong(tmp_path: pathlib.Path) -> None:
    file = tmp_path / 'order.py'
    file.write_text("class Order:\n    VERSION = '1.1'\n")
    line = {'line': 2, 'text': "VERSION = '1.1'"}
    assert state.is_right(line, file)
    assert not state.is_right({**line, 'line': 1}, file)
    assert not state.is_right({**line, 'line': 3}, file)
    for path in (file, tmp_path):
        assert state.is_right({'without': 'obj_make_compatible'}, path)
        assert not state.is_right({'without': 'VERSION'}, path)


def test_results_are_of_the_releases_that_the_script_installs() -> None:
    results = yaml.safe_load(state.RESULTS.read_text())
    assert results.keys() <= services.SERVICES.keys()
    for name, result in results.items():
        releases = [item['release'] for item in result['releases']]
        assert releases == list(services.SERVICES[name].releases)
