# SPDX-License-Identifier: Apache-2.0
"""The commands in the README of each example, run in an empty environment."""

from __future__ import annotations

import pathlib
import shutil

import pytest

from tests.examples import releases, walkthrough
from tests.functional.processes import free_port


@pytest.mark.parametrize(
    ('example', 'extras', 'port', 'state'),
    [
        # The extras are those of the example's other tests, with which these
        # share the installed wheels.
        ('cluster_infra', [], '9511', '/tmp/cluster-infra'),
        # The tutorial has its commands, too.
        pytest.param(
            *('secret_store', ['postgresql'], '9311', '/tmp/secret-store'),
            marks=pytest.mark.long,
        ),
    ],
)
def test_readme_when_followed_then_prints_what_it_shows(
    example: str, extras: list[str], port: str, state: str, home: pathlib.Path
) -> None:
    source = releases.EXAMPLES / example
    checkout = home / 'checkout'
    checkout.mkdir()
    releases.library_sources(checkout)
    shutil.copytree(source, checkout / 'examples' / example)
    # Third parties' wheels come from a cache, not from an index.
    base = releases.base_environment(
        sorted(releases.third_party(source, extras))
    )
    environment = home / 'venv'
    releases.create(environment, base, with_pip=True)
    # A checkout has a fixed port and a fixed path, which tests must not share.
    replaced = {port: str(free_port()), state: str(home / 'state')}
    configuration = checkout / 'examples' / example / f'{example}.conf'
    text = configuration.read_text()
    for original, replacement in replaced.items():
        assert original in text
        text = text.replace(original, replacement)
    configuration.write_text(text)

    with walkthrough.shell(home, replaced) as user:
        user.run(f'export PIP_FIND_LINKS={releases.wheelhouse([])}')
        user.run(f'cd {checkout}; . {environment}/bin/activate')
        count = user.follow(walkthrough.markdown_blocks(source / 'README.md'))

    assert count >= 8
