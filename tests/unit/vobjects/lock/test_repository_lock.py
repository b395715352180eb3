# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pathlib

import vobjects
from vobjects.cli import main
from vobjects.lock import parse, text

TOP = pathlib.Path(vobjects.__file__).parents[1]
LOCK = TOP / 'vobjects.lock'


def test_lock_of_this_repository_matches_the_code() -> None:
    code = main.main(['lock', 'check', '--file', str(LOCK)])
    assert code == 0, (
        'run "vobjects lock update"; before 0.1.0 is published, freeze edits'
        ' with "vobjects lock release 0.1.0 --again"'
    )


def test_lock_of_this_repository_is_in_canonical_form() -> None:
    content = LOCK.read_text()
    assert text.dump(parse.parse(content)) == content
