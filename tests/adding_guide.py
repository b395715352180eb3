# SPDX-License-Identifier: Apache-2.0
"""The steps of ``doc/source/adding.rst``, and the checks that report them."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
from collections.abc import Sequence

PAGE = pathlib.Path(__file__).parents[1] / 'doc/source/adding.rst'

#: What the commands of the guide read.
_DIRECTORIES = ('api', 'doc', 'engine', 'releasenotes', 'tests', 'vobjects')
_FILES = ('pyproject.toml', 'vobjects.lock')

_BLOCK = re.compile(
    r'^\.\. code-block:: \w+\n    :caption: (.+)\n\n((?:    .*\n|\n)+)', re.M
)
_TABLE = re.compile(
    r'^    \* - Step\n.+\n.+\n((?:(?:    .*)?\n)+?)(?=\n*^\S)', re.M
)


class StepError(Exception):
    """A step does not fit the source."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A code block of the guide.

    :ivar name: the caption of the block
    :ivar lines: a command after ``$``, or ``--- PATH`` and the marked lines
        of a diff, or ``+++ PATH`` and those of a new file. ``@@`` separates
        distant lines.
    """

    name: str
    lines: Sequence[str]

    @property
    def command(self) -> str | None:
        """The command of the step; None for a diff."""
        mark, _, command = self.lines[0].partition(' ')
        return command if mark == '$' else None

    @property
    def path(self) -> str:
        """The path of the file that the diff changes."""
        return self.lines[0].partition(' ')[2]

    def apply(self, tree: pathlib.Path) -> None:
        """Apply the diff of the step to a copy of the source.

        :raises StepError: the file does not contain the old lines exactly
            once, or a new file exists
        """
        self._replace(tree / self.path, old='-', new='+')

    def revert(self, tree: pathlib.Path) -> None:
        """Revert the diff of the step; the inverse of :meth:`apply`."""
        self._replace(tree / self.path, old='+', new='-')

    def _replace(self, path: pathlib.Path, *, old: str, new: str) -> None:
        hunks = [
            [
                ''.join(
                    f'{line[1:]}\n'
                    for line in hunk.split('\n')
                    if line[:1] in ('', ' ', mark)
                )
                for mark in (old, new)
            ]
            for hunk in '\n'.join(self.lines[1:]).split('\n@@\n')
        ]
        text = path.read_text() if path.exists() else ''
        for before, after in hunks:
            # A new file has no text before, and contains '' once.
            if text.count(before) != 1:
                raise StepError(
                    f'{self.name}: {self.path} must contain once:\n{before}'
                    'adapt the diff in doc/source/adding.rst to the source'
                )
            text = text.replace(before, after)
        # The file may be a hard link.
        path.unlink(missing_ok=True)
        if text:
            path.write_text(text)


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """A row of the table: the command that reports a forgotten step.

    :ivar message: a part of the command's output
    """

    step: str
    command: str
    message: str


def _link(source: str, target: str) -> None:
    """Create a hard link, or a copy on another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def copy(source: pathlib.Path, tree: pathlib.Path) -> None:
    """Copy the files that the commands read."""
    for name in _DIRECTORIES:
        shutil.copytree(
            source / name,
            tree / name,
            symlinks=True,
            ignore=shutil.ignore_patterns('build'),
            copy_function=_link,
        )
    for name in _FILES:
        shutil.copy2(source / name, tree / name)


def steps() -> list[Step]:
    """Return the steps in the order of the page."""
    return [
        Step(name, [line[4:] for line in block.rstrip().split('\n')])
        for name, block in _BLOCK.findall(PAGE.read_text())
    ]


def checks() -> list[Check]:
    """Return the rows of the table."""
    (table,) = _TABLE.findall(PAGE.read_text())
    return [
        Check(
            *(
                ' '.join(cell.split()).strip('`')
                for cell in row.split('\n      - ')
            )
        )
        for row in re.split(r'^    \* - ', table, flags=re.M)[1:]
    ]
