# SPDX-License-Identifier: Apache-2.0
"""Check the invariants of all types in this repository."""

from __future__ import annotations

from collections.abc import Callable


def test_invariants(vobjects_invariants: Callable[[], None]) -> None:
    vobjects_invariants()
