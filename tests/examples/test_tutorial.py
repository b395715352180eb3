# SPDX-License-Identifier: Apache-2.0
"""The tutorial, followed from an empty virtual environment."""

from __future__ import annotations

import contextlib
import pathlib
import re
import tempfile
from collections.abc import Iterator

import pytest

from tests.examples import releases, walkthrough
from tests.examples.test_secret_store import WIRING_LINES
from tests.functional.processes import ProcessGroup, free_port

PAGE = releases.ROOT / 'doc' / 'source' / 'tutorial.rst'

#: The fixed port and the fixed path in the page, which tests must not share.
PORT, STATE = '9311', '/tmp/secret-store'


@pytest.fixture
def home() -> Iterator[pathlib.Path]:
    """Return a directory whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix='vobjects-') as directory:
        yield pathlib.Path(directory)


@contextlib.contextmanager
def shell(home: pathlib.Path) -> Iterator[walkthrough.Shell]:
    """Run a shell; no process that it started may be left.

    pip installs the wheels in the home directory, without an index.
    """
    group = ProcessGroup(home, str(home))
    replaced = {PORT: str(free_port()), STATE: str(home / 'state')}
    shell = walkthrough.Shell(home, group, replaced)
    shell.run('export PIP_NO_INDEX=1')
    try:
        yield shell
    finally:
        shell.close()
        problems = group.close()
    assert problems == []


def test_tutorial_when_followed_then_prints_what_it_shows(
    home: pathlib.Path,
) -> None:
    base = releases.base_environment([])
    library = releases.library_source(home / 'library')
    wheel = releases.build(library, base, home)
    first = releases.EXAMPLES / 'secret_store'
    requirements = sorted(releases.third_party(first, []))
    for path in releases.wheelhouse(requirements).glob('*.whl'):
        (wheel.parent / path.name).symlink_to(path)
    with shell(home) as user:
        assert user.follow(walkthrough.rst_blocks(PAGE)) > 40


def test_tutorial_states_the_tested_number_of_lines() -> None:
    (number,) = re.findall(r'fewer than (\d+) lines', PAGE.read_text())
    assert int(number) == WIRING_LINES
