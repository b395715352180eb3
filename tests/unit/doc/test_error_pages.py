# SPDX-License-Identifier: Apache-2.0
"""Each error code of the API has a page with its cause and remedy."""

from __future__ import annotations

import pytest
import yaml

from tests.unit.doc import extensions

error_pages = extensions.load('error_pages')
ENTRIES = yaml.safe_load((extensions.DOC / 'source/errors.yaml').read_text())


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert sorted(ENTRIES) == sorted(error_pages.known())


@pytest.mark.parametrize('code', ENTRIES)
def test_page_has_cause_and_remedy(code: str) -> None:
    entry = ENTRIES[code]
    assert set(entry) == {'cause', 'remedy'}
    for text in entry.values():
        assert text.endswith('.')
        assert text in error_pages.page(code, entry, error_pages.known())


def test_page_is_found_by_the_status() -> None:
    text = error_pages.page(
        'microversion-unsupported',
        ENTRIES['microversion-unsupported'],
        error_pages.known(),
    )
    assert text.startswith('406 microversion-unsupported\n===')
