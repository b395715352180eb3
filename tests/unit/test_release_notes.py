# SPDX-License-Identifier: Apache-2.0
"""Texts for users name each microversion since the last release."""

from __future__ import annotations

import pathlib
import re

from vobjects.clustering import history
from vobjects.lock import installed_locks
from vobjects.versions import Version

ROOT = pathlib.Path(__file__).parents[2]


def new_microversions() -> list[str]:
    """Return the microversions that no release in the lock has."""
    released = installed_locks.of_service('clustering').released()
    newest = max(
        Version.parse(schema.microversion)
        for schema in released.schemas
        if schema.microversion
    )
    return [text for text in history.HISTORY if Version.parse(text) > newest]


def test_each_microversion_since_the_last_release_has_a_note() -> None:
    notes = '\n'.join(
        path.read_text() for path in ROOT.glob('releasenotes/notes/*.yaml')
    )
    for text in new_microversions():
        assert re.search(rf'microversion\s+{re.escape(text)}\b', notes), (
            f'no release note names API microversion {text}; run "reno'
            f' new SLUG" and write "API microversion {text} ..."'
        )


def test_each_microversion_since_the_last_release_has_a_description() -> None:
    page = (ROOT / 'doc/source/clusters.rst').read_text()
    for text in new_microversions():
        assert f'({text})' in page, (
            f'doc/source/clusters.rst does not describe microversion {text};'
            f' write a sentence with "({text})"'
        )
