# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pathlib
import re

from vobjects.clustering import history
from vobjects.lock import installed_locks
from vobjects.versions import Version

NOTES = pathlib.Path(__file__).parents[2] / 'releasenotes/notes'


def test_each_microversion_since_the_last_release_has_a_note() -> None:
    released = installed_locks.of_service('clustering').released()
    newest = max(
        Version.parse(schema.microversion)
        for schema in released.schemas
        if schema.microversion
    )
    notes = '\n'.join(path.read_text() for path in NOTES.glob('*.yaml'))
    for text in history.HISTORY:
        if Version.parse(text) > newest:
            assert re.search(rf'microversion\s+{re.escape(text)}\b', notes), (
                f'no release note names API microversion {text}; run "reno'
                f' new SLUG" and write "API microversion {text} ..."'
            )
