# SPDX-License-Identifier: Apache-2.0
"""Bound the nesting of JSON text, and the number of its values.

In memory, a short value such as ``{"a":1}`` needs 30 times as many bytes as
its text.
"""

from __future__ import annotations

import re
from typing import Any

#: Maximum nesting of objects and arrays in data of users. The envelope
#: in messages must fit into the limit of orjson, 254, too.
MAX_DEPTH = 64

#: Maximum number of values in data of users, at any depth.
MAX_VALUES = 1 << 15

# A string, terminated or not. The possessive quantifiers keep it linear for
# hostile input.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_TOKEN = re.compile(_STRING + rb'|[\[{]|[\]}]', re.DOTALL)
_find_strings = re.compile(_STRING, re.DOTALL).finditer


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


def has_too_many_values(text: bytes, max_values: int = MAX_VALUES) -> bool:
    """Return whether JSON text has too many values, at any depth.

    Empty objects and arrays count twice; names do not count.
    """
    if len(text) <= max_values or _count(text) < max_values:
        return False
    # Text without its strings would need more memory than the text.
    number = start = 0
    for strings, match in enumerate(_find_strings(text)):
        number += _count(text[start : match.start()])
        start = match.end()
        # Each value has at most one name.
        if number >= max_values or strings > 2 * max_values:
            return True
    return number + _count(text[start:]) >= max_values


def _count(text: bytes) -> int:
    """Return the number of values but the first, in text without strings."""
    return sum(map(text.count, (b',', b'[', b'{')))


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
