# SPDX-License-Identifier: Apache-2.0
"""Read the list of bugs."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import tomllib
from typing import Any

#: The list whose choice README.md describes.
DEFAULT = pathlib.Path(__file__).with_name('bugs.toml')

HALVES = ('development', 'held out')

EXPECTATIONS = ('found', 'missed')


_PROJECT = re.compile(r'\w[\w.-]*', re.ASCII)


class ListError(Exception):
    """The list of bugs is malformed."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """An upgrade bug of another project.

    :ivar repository: address of the git repository
    :ivar pull: number of the pull request of the fix, whose commit names it;
        0: ``parent`` and ``fix`` are commits
    :ivar before: tags of releases before the fix, oldest first
    :ivar release: the first release with the fix; empty: none yet
    :ivar link: where upstream describes the bug
    :ivar what: one sentence
    :ivar subjects: names of the types, methods or schemas concerned
    :ivar half: one of :data:`HALVES`
    :ivar expected: one of :data:`EXPECTATIONS`: a guess before measuring
    """

    id: str
    project: str
    repository: str
    link: str
    kind: str
    what: str
    half: str
    expected: str
    before: tuple[str, ...]
    subjects: tuple[str, ...]
    parent: str = ''
    fix: str = ''
    pull: int = 0
    release: str = ''

    def __post_init__(self) -> None:
        if not _PROJECT.fullmatch(self.project):
            raise ListError(
                f'{self.id}: project must consist of letters, digits, ".",'
                ' "_" and "-"'
            )
        if self.half not in HALVES:
            raise ListError(f'{self.id}: half must be one of {HALVES}')
        if self.expected not in EXPECTATIONS:
            raise ListError(f'{self.id}: expected must be {EXPECTATIONS}')
        if not self.subjects:
            raise ListError(f'{self.id}: subjects must not be empty')
        if bool(self.pull) == bool(self.parent and self.fix):
            raise ListError(f'{self.id}: set either pull, or parent and fix')


def load(path: pathlib.Path) -> list[Bug]:
    """Read the bugs of a file.

    :raises ListError: the file is missing or malformed, or an identifier
        appears twice
    """
    try:
        document = tomllib.loads(path.read_text('utf-8'))
    except (OSError, ValueError) as error:
        raise ListError(f'{path}: {error}') from error
    items = document.get('bugs')
    if not isinstance(items, list) or not items:
        raise ListError(f'{path}: has no table [[bugs]]')
    bugs = [_bug(path, item) for item in items]
    identifiers = [bug.id for bug in bugs]
    for bug in bugs:
        if identifiers.count(bug.id) > 1:
            raise ListError(f'{path}: {bug.id} appears twice')
    return bugs


def _bug(path: pathlib.Path, item: dict[str, Any]) -> Bug:
    name = f'{path}: {item.get("id", "a bug without id")}'
    known = {field.name: field for field in dataclasses.fields(Bug)}
    for key, value in item.items():
        if key not in known:
            raise ListError(
                f'{name}: {key} must be one of {", ".join(sorted(known))}'
            )
        kind = known[key].type
        is_right = (
            isinstance(value, list)
            and all(isinstance(each, str) for each in value)
            if kind == 'tuple[str, ...]'
            else type(value).__name__ == kind
        )
        if not is_right:
            raise ListError(f'{name}: {key} must be {_KINDS[str(kind)]}')
    for field in known.values():
        if field.default is dataclasses.MISSING and field.name not in item:
            raise ListError(f'{name}: {field.name} is missing')
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in item.items()
    }
    return Bug(**values)


_KINDS = {
    'str': 'a string',
    'int': 'an integer',
    'tuple[str, ...]': 'a list of strings',
}
