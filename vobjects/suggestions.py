# SPDX-License-Identifier: Apache-2.0
"""Suggest a known name in place of an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: Maximum number of names that a suggestion lists.
MAX_LISTED = 20

#: Number of characters of a wrong name that are compared: the cost grows with
#: the square of the length, and callers send names of any length.
_MAX_COMPARED = 64


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to ``name``.

    :param name: the name that the caller wrote; case is ignored
    :returns: None if no name is similar
    """
    by_lower_case = {known_name.lower(): known_name for known_name in known}
    compared_name = name[:_MAX_COMPARED].lower()
    matches = difflib.get_close_matches(compared_name, by_lower_case, n=1)
    return by_lower_case[matches[0]] if matches else None


def suggest(name: str, known: Iterable[str]) -> str:
    """Return advice about a wrong name, to follow a semicolon.

    :returns: "did you mean 'force'?", or the known names if none is similar;
        empty if no names are known
    """
    names = sorted(known)
    match = nearest(name, names)
    if match is not None:
        return f'did you mean {match!r}?'
    listed = ', '.join(map(repr, names[:MAX_LISTED]))
    more = ', …' if len(names) > MAX_LISTED else ''
    return f'known here: {listed}{more}' if names else ''
