# SPDX-License-Identifier: Apache-2.0
"""Locate types and fields in the source."""

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
class SourceLocation:
    """A line of a file.

    :ivar file: path, relative to the working directory if it is inside
    :ivar line: number, from 1
    :ivar column: number, from 1
    :ivar text: of the line
    """

    file: str
    line: int
    column: int
    text: str


def locate(type_name: str, field: str) -> SourceLocation | None:
    """Return the location of a field's declaration, or of its type.

    :returns: None if the type is not registered, or has no source
    """
    cls = registries.newest(type_name)
    if cls is None:
        return None
    try:
        return _find(cast('Hashable', cls), field)
    except (OSError, TypeError):
        return None


def first_match(path: pathlib.Path, pattern: str) -> SourceLocation | None:
    """Return the first line of a file that matches a pattern."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    for number, line in enumerate(lines, 1):
        if re.match(pattern, line):
            return SourceLocation(relative(str(path)), number, 1, line)
    return None


@functools.lru_cache(maxsize=4096)
def _find(cls: Hashable, field: str) -> SourceLocation:
    assert isinstance(cls, type)
    file = inspect.getsourcefile(cls) or ''
    lines, start = inspect.getsourcelines(cls)
    # In a dictionary, or annotated.
    field_line = re.compile(rf'\s*([\'"]?{re.escape(field)}[\'"]?)\s*:')
    class_line = re.compile(r'\s*(class)\s')
    for pattern in (field_line, class_line) if field else (class_line,):
        for offset, line in enumerate(lines):
            match = pattern.match(line)
            if match:
                return SourceLocation(
                    relative(file),
                    start + offset,
                    match.start(1) + 1,
                    line.rstrip('\n'),
                )
    return SourceLocation(relative(file), start, 1, lines[0].rstrip('\n'))


def relative(file: str, directory: str = os.curdir) -> str:
    """Return a path relative to a directory, if it is inside."""
    path = os.path.relpath(file, directory)
    return file if path.startswith('..') else path
