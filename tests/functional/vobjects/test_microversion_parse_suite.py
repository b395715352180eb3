# SPDX-License-Identifier: Apache-2.0
"""All tests of microversion-parse pass on the compatible module."""

from __future__ import annotations

from tests.functional.library_suites import results_of


def test_parse_suite_on_the_compatible_module_passes() -> None:
    original, ours = (
        results_of('vobjects.parse_suite', 'original'),
        results_of('vobjects.parse_suite'),
    )

    assert original['failed'] == {}
    assert ours['failed'] == {}
    assert ours['ran'] == original['ran'] > 40
