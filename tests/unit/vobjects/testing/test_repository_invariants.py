# SPDX-License-Identifier: Apache-2.0
"""The laws hold of every type of this repository, at every locked version."""

from __future__ import annotations

from collections.abc import Callable


def test_invariants(vobjects_invariants: Callable[[], None]) -> None:
    vobjects_invariants()
