# SPDX-License-Identifier: Apache-2.0
"""The tutorial of an auto-scaling cluster, followed literally."""

from __future__ import annotations

import pathlib
import sys

from tests.examples import releases, walkthrough
from tests.functional.processes import free_port

PAGE = releases.ROOT / 'doc' / 'source' / 'autoscaling.rst'


def test_autoscaling_when_followed_then_prints_what_it_shows(
    home: pathlib.Path,
) -> None:
    (home / '.venv').symlink_to(sys.prefix)
    port = str(free_port())
    with walkthrough.shell(home, {'8777': port}) as user:
        user.run(
            f'.venv/bin/vobjects up --port {port} --state-dir state'
            ' > up.log 2>&1 & up=$!'
        )
        assert user.follow(walkthrough.rst_blocks(PAGE)) > 15
        assert user.run('kill $up; wait $up')[1] == 0
