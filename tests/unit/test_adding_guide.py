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


def test_diffs_apply_to_the_source_and_can_be_reverted(
    tmp_path: pathlib.Path,
) -> None:
    diffs = [step for step in adding_guide.steps() if step.command is None]
    for step in diffs:
        target = tmp_path / step.path
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / step.path).exists() and not target.exists():
            shutil.copy(ROOT / step.path, target)
        step.apply(tmp_path)

    for step in reversed(diffs):
        step.revert(tmp_path)

    for step in diffs:
        original, copy = ROOT / step.path, tmp_path / step.path
        assert copy.exists() == original.exists()
        assert not copy.exists() or copy.read_text() == original.read_text()
