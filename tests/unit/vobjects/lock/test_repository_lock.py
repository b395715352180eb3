# SPDX-License-Identifier: Apache-2.0
"""`vobjects.lock` at the top of this repository says what the code says."""

from __future__ import annotations

import pathlib

import vobjects
from vobjects.cli import main
from vobjects.lock import parse, text

TOP = pathlib.Path(vobjects.__file__).parents[1]
LOCK = TOP / 'vobjects.lock'


def test_lock_is_current_and_nothing_released_was_edited() -> None:
    found = main.main(['lock', 'check', '--file', str(LOCK)])
    assert found == 0, (
        'run "vobjects lock update"; before 0.1.0 is out, edits of it are'
        ' frozen by "vobjects lock release 0.1.0 --again"'
    )


def test_lock_stands_in_its_file_as_it_is_written() -> None:
    content = LOCK.read_text()
    assert text.dump(parse.parse(content)) == content
