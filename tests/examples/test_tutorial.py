# SPDX-License-Identifier: Apache-2.0
"""The tutorial, followed from an empty virtual environment."""

from __future__ import annotations

import pathlib

from tests.examples import releases, walkthrough
from tests.functional.processes import free_port

PAGE = releases.ROOT / 'doc' / 'source' / 'tutorial.rst'

#: The fixed port and the fixed path in the page, which tests must not share.
PORT, STATE = '9311', '/tmp/secret-store'


def test_tutorial_when_followed_then_prints_what_it_shows(
    home: pathlib.Path,
) -> None:
    base = releases.base_environment([])
    for source in releases.library_sources(home / 'library'):
        wheel = releases.build(source, base, home)
    first = releases.EXAMPLES / 'secret_store'
    requirements = sorted(releases.third_party(first, []))
    for path in releases.wheelhouse(requirements).glob('*.whl'):
        (wheel.parent / path.name).symlink_to(path)
    replaced = {PORT: str(free_port()), STATE: str(home / 'state')}
    with walkthrough.shell(home, replaced) as user:
        assert user.follow(walkthrough.rst_blocks(PAGE)) > 40
