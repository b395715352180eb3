# SPDX-License-Identifier: Apache-2.0
"""The first difference between two primitives."""

from __future__ import annotations

from typing import Any

from vobjects import exceptions

#: The value of a field that is not set.
UNSET = '<unset>'


def first_difference(
    before: Any, after: Any, path: str = ''
) -> tuple[str, Any, Any] | None:
    """Return the path of the first difference, and both values.

    Tuples and lists are equal. The path omits the envelopes of primitives.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = path
            if not str(key).endswith('.data'):
                inner = f'{path}.{key}' if path else str(key)
            difference = first_difference(
                before.get(key, UNSET), after.get(key, UNSET), inner
            )
            if difference is not None:
                return difference
        return None
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)):
        if len(before) != len(after):
            return path, before, after
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            difference = first_difference(old, new, f'{path}[{index}]')
            if difference is not None:
                return difference
        return None
    return None if before == after else (path, before, after)


def shortened(value: Any) -> str:
    """Return a value as a text that is short enough for a message."""
    return value if value is UNSET else exceptions.cut(value)
