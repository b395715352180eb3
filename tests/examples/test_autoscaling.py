# SPDX-License-Identifier: Apache-2.0
"""Getting started, and an auto-scaling cluster, followed."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import pytest

from tests.examples import releases, walkthrough
from tests.functional.processes import free_port

PAGES = releases.ROOT / 'doc' / 'source'
README = releases.ROOT / 'README.md'


def readme_blocks() -> Iterator[walkthrough.Block]:
    """Yield the blocks of the README that use the running service."""
    for block in walkthrough.markdown_blocks(README):
        if 'openstack ' in block.text:
            yield block


@pytest.mark.parametrize(
    ('page', 'least'),
    [
        pytest.param('start', 15, id='start'),
        pytest.param('autoscaling', 16, id='tutorial'),
        # The pages have its commands, too.
        pytest.param('README', 16, id='readme', marks=pytest.mark.long),
    ],
)
def test_page_when_followed_then_prints_what_it_shows(
    page: str, least: int, home: pathlib.Path
) -> None:
    blocks = (
        readme_blocks()
        if page == 'README'
        else walkthrough.rst_blocks(PAGES / f'{page}.rst')
    )
    (home / '.venv').symlink_to(sys.prefix)
    (home / 'examples').symlink_to(releases.EXAMPLES)
    port = str(free_port())
    with walkthrough.shell(home, {'8777': port}) as user:
        user.run(
            f'.venv/bin/vobjects up --port {port} --state-dir .state'
            ' > up.log 2>&1 & up=$!'
        )
        health = f'http://127.0.0.1:{port}/healthcheck'
        user.run(f'until curl -sf {health}; do sleep 0.2; done')
        assert user.follow(blocks) >= least
        assert user.run('kill $up; wait $up')[1] == 0
