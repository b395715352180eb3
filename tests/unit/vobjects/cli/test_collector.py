# SPDX-License-Identifier: Apache-2.0
"""Tests of vobjects.cli.collector."""

from __future__ import annotations

import sys

from tests.programs import run_program


def test_server_when_loaded_collects_only_what_is_newer() -> None:
    code = """
import gc, weakref
from vobjects.cli import collector

class Node:
    def __init__(self):
        self.me = self

usual = gc.get_threshold()
collector.begin_loading()
assert gc.get_threshold()[0] > usual[0]
loaded = weakref.ref(Node())
collector.end_loading()
assert gc.get_threshold() == usual
garbage = weakref.ref(Node())
gc.collect()
print(loaded() is not None, garbage() is not None)
"""
    done = run_program([sys.executable, '-c', code])
    assert done.stdout.split() == ['True', 'False'], done.stderr
