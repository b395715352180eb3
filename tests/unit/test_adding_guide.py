# SPDX-License-Identifier: Apache-2.0
"""The guide ``doc/source/adding.rst`` fits the source and its own table.

``tests/functional/test_new_microversion.py`` runs its commands.
"""

from __future__ import annotations

import pathlib
import shutil

from tests import adding_guide

ROOT = pathlib.Path(__file__).parents[2]


def test_each_step_has_a_row_in_the_table() -> None:
    names = [step.name for step in adding_guide.steps()]
    assert [check.step for check in adding_guide.checks()] == names
    assert len(set(names)) == len(names) > 0


def test_each_block_of_the_guide_is_a_step() -> None:
    blocks = adding_guide.PAGE.read_text().count('.. code-block::')
    assert len(adding_guide.steps()) == blocks


def test_diffs_apply_to_the_source(tmp_path: pathlib.Path) -> None:
    for step in adding_guide.steps():
        if step.command is None:
            name = step.lines[0].partition(' ')[2]
            target = tmp_path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).exists() and not target.exists():
                shutil.copy(ROOT / name, target)
            step.apply(tmp_path)
