# SPDX-License-Identifier: Apache-2.0
"""The steps of ``doc/source/adding.rst``, and the checks that report them."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Sequence

PAGE = pathlib.Path(__file__).parents[1] / 'doc/source/adding.rst'

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
        of a diff, or ``+++ PATH`` and those of a new file
    """

    name: str
    lines: Sequence[str]

    @property
    def command(self) -> str | None:
        """The command of the step; None for a diff."""
        mark, _, command = self.lines[0].partition(' ')
        return command if mark == '$' else None

    def apply(self, tree: pathlib.Path) -> None:
        """Apply the diff of the step to a copy of the source.

        The file is replaced: it may be a hard link.

        :raises StepError: the file does not contain the old lines exactly
            once, or a new file exists
        """
        mark, _, name = self.lines[0].partition(' ')
        path = tree / name
        old, new = (
            ''.join(
                f'{line[1:]}\n'
                for line in self.lines[1:]
                if not line.startswith(other)
            )
            for other in ('+', '-')
        )
        text = '' if mark == '+++' else path.read_text()
        if text.count(old) != 1 or (mark == '+++' and path.exists()):
            raise StepError(f'{self.name}: {name} must have once:\n{old}')
        path.unlink(missing_ok=True)
        path.write_text(text.replace(old, new))


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """A row of the table: the command that reports a forgotten step.

    :ivar message: a part of the command's output
    """

    step: str
    command: str
    message: str


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
