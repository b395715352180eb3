# SPDX-License-Identifier: Apache-2.0
"""Where in the source a type and a field are."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import pathlib
import re
from collections.abc import Hashable
from typing import cast

from vobjects.lock import registries


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A line of a file.

    :ivar file: relative to the working directory where it is below it
    :ivar line: from 1
    :ivar column: from 1
    :ivar text: the line
    """

    file: str
    line: int
    column: int
    text: str


def place_of(type_name: str, field: str) -> Place | None:
    """Return where a field is declared, or else its type.

    :returns: None for what is not registered, or has no source
    """
    cls = registries.newest(type_name)
    if cls is None:
        return None
    try:
        return _find(cast('Hashable', cls), field)
    except (OSError, TypeError):
        return None


def in_file(path: pathlib.Path, pattern: str) -> Place | None:
    """Return the first line of a file that a pattern matches."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    for number, line in enumerate(lines, 1):
        if re.match(pattern, line):
            return Place(_relative(str(path)), number, 1, line)
    return None


@functools.lru_cache(maxsize=4096)
def _find(cls: Hashable, field: str) -> Place:
    assert isinstance(cls, type)
    file = inspect.getsourcefile(cls) or ''
    lines, start = inspect.getsourcelines(cls)
    named = re.compile(rf'\s*([\'"]{re.escape(field)}[\'"])\s*:')
    classed = re.compile(r'\s*(class)\s')
    for pattern in (named, classed) if field else (classed,):
        for offset, line in enumerate(lines):
            match = pattern.match(line)
            if match:
                return Place(
                    _relative(file),
                    start + offset,
                    match.start(1) + 1,
                    line.rstrip('\n'),
                )
    return Place(_relative(file), start, 1, lines[0].rstrip('\n'))


def _relative(file: str) -> str:
    path = os.path.relpath(file)
    return file if path.startswith('..') else path
