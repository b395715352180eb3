# SPDX-License-Identifier: Apache-2.0
"""Bound the nesting of JSON data that users send."""

from __future__ import annotations

import re
from typing import Any

#: Maximum nesting of objects and arrays in data of users. What wraps the data
#: in messages must fit into the limit of orjson, 254, too.
MAX_DEPTH = 64

# A string, terminated or not, or a bracket. The possessive quantifiers keep it
# linear for hostile input.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)


def too_deep_at(text: bytes, max_depth: int = MAX_DEPTH) -> int | None:
    """Return where JSON text is nested too deeply, or None.

    :returns: index of the first bracket beyond ``max_depth``
    """
    if text.count(b'{') + text.count(b'[') <= max_depth:
        return None
    depth = 0
    for match in _TOKEN.finditer(text):
        token = text[match.start()]
        if token in b'{[':
            depth += 1
            if depth > max_depth:
                return match.start()
        elif token in b'}]':
            depth -= 1
    return None


def is_too_deep(value: Any, max_depth: int = MAX_DEPTH) -> bool:
    """Return whether a value is nested too deeply; without recursion."""
    level = [value]
    for _ in range(max_depth + 1):
        level = [
            item for item in level if isinstance(item, (dict, list, tuple))
        ]
        if not level:
            return False
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return True
