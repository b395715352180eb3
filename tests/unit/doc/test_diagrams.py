# SPDX-License-Identifier: Apache-2.0
"""Names in the diagrams of the documentation exist."""

from __future__ import annotations

import pathlib
import re

from vobjects.clustering import consts

ROOT = pathlib.Path(__file__).parents[3]


def test_statuses_of_actions_in_the_diagram_exist() -> None:
    text = (ROOT / 'doc' / 'source' / 'clusters.rst').read_text()
    diagram = re.search(r'digraph \{\n(.*?)\n   \}', text, re.DOTALL)
    assert diagram is not None
    code = re.sub(r'"[^"]*"', '', diagram[1])
    names = set(re.findall(r'[A-Z_]+', code))
    assert {'READY', 'RUNNING', 'SUCCEEDED'} <= names
    assert names <= set(consts.ACTION_STATUSES)
