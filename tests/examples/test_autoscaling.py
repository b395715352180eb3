# SPDX-License-Identifier: Apache-2.0
"""The tutorial and the README about an auto-scaling cluster, followed."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import pytest

from tests.examples import releases, walkthrough
from tests.functional.processes import free_port

PAGE = releases.ROOT / 'doc' / 'source' / 'autoscaling.rst'
README = releases.ROOT / 'README.md'


def readme_blocks() -> Iterator[walkthrough.Block]:
    """Yield the blocks of the README that create clusters."""
    for block in walkthrough.markdown_blocks(README):
        if 'cluster create' in block.text:
            yield block


@pytest.mark.parametrize(
    ('blocks', 'least'),
    [
        pytest.param(walkthrough.rst_blocks(PAGE), 16, id='tutorial'),
        pytest.param(readme_blocks(), 13, id='readme'),
    ],
)
def test_autoscaling_when_followed_then_prints_what_it_shows(
    blocks: Iterator[walkthrough.Block], least: int, home: pathlib.Path
) -> None:
    (home / '.venv').symlink_to(sys.prefix)
    (home / 'examples').symlink_to(releases.EXAMPLES)
    port = str(free_port())
    with walkthrough.shell(home, {'8777': port}) as user:
        user.run(
            f'.venv/bin/vobjects up --port {port} --state-dir state'
            ' > up.log 2>&1 & up=$!'
        )
        health = f'http://127.0.0.1:{port}/healthcheck'
        user.run(f'until curl -sf {health}; do sleep 0.2; done')
        assert user.follow(blocks) >= least
        assert user.run('kill $up; wait $up')[1] == 0
