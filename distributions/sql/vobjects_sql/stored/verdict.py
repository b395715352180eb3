# SPDX-License-Identifier: Apache-2.0
"""Decide whether an older release can read what is stored.

A release reads a row if it supports each version in it. Messages need no
check: a server that joins lowers the cap before it receives any, and refuses a
call that is too new, which its client then converts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vobjects_sql.stored import text
from vobjects_sql.stored.scan import Census, Count


@dataclasses.dataclass(frozen=True)
class Obstacle:
    """Rows that the older release cannot read.

    :ivar column: table and column
    :ivar count: the rows
    :ivar needs: the versions that the release lacks, in words
    """

    column: str
    count: Count
    needs: str

    def __str__(self) -> str:
        number = (
            f'{"more than " if self.count.is_cut else ""}{self.count.rows}'
        )
        return (
            f'{self.column}: {number} with {self.needs}; for example'
            f' {"; ".join(self.count.examples)}'
        )


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The answer.

    :ivar release: the older release
    :ivar obstacles: the rows that it cannot read
    :ivar not_read: the rows that were not read
    :ivar rising: newer versions that may be stored from now on
    """

    release: str
    obstacles: list[Obstacle]
    not_read: list[str]
    rising: list[str]

    @property
    def can_roll_back(self) -> bool | None:
        """Whether it can read all rows; None: not known."""
        if self.obstacles:
            return False
        return None if self.not_read else True

    def lines(self) -> Iterator[str]:
        """Yield the verdict as text."""
        answer = {True: 'yes', False: 'no', None: 'not known'}
        yield f'roll back to {self.release}: {answer[self.can_roll_back]}'
        yield from map(str, self.obstacles)
        for rows in self.not_read:
            yield f'not read: {rows}'
        if self.rising:
            yield (
                f'from now on, {", ".join(self.rising)} may be stored; before'
                ' an upgrade, "vobjects fleet hold" prevents this'
            )

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON data."""
        return {
            'release': self.release,
            'can_roll_back': self.can_roll_back,
            'obstacles': [
                {
                    'column': obstacle.column,
                    'needs': obstacle.needs,
                    **dataclasses.asdict(obstacle.count),
                }
                for obstacle in self.obstacles
            ],
            'not_read': self.not_read,
            'rising': self.rising,
        }


def decide(
    release: str,
    supported: Mapping[str, str],
    censuses: Iterable[Census],
    cap: Mapping[str, str] | None = None,
) -> Verdict:
    """Return whether a release can read the rows that were counted.

    :param supported: the manifest of the release
    :param cap: the versions in which the live servers store now; None: no
        server is alive
    """
    verdict = Verdict(release, [], [], [])
    stored_types: set[str] = set()
    for census in censuses:
        if census.not_read:
            verdict.not_read.append(census.not_read)
        for count in census.counts:
            pairs = text.parse_versions(count.versions)
            stored_types.update(name for name, _ in pairs)
            needs = _lacking(pairs, supported)
            if count.versions == text.UNREADABLE:
                verdict.not_read.append(
                    f'{count.rows} rows of {census.column.label} that hold no'
                    f' object, for example {"; ".join(count.examples)}'
                )
            if needs:
                verdict.obstacles.append(
                    Obstacle(census.column.label, count, ', '.join(needs))
                )
    now = [pair for pair in (cap or {}).items() if pair[0] in stored_types]
    verdict.rising.extend(_lacking(now, supported))
    return verdict


def _lacking(
    pairs: Iterable[tuple[str, str]], supported: Mapping[str, str]
) -> list[str]:
    """Return the versions that a manifest lacks, in words."""
    return [
        f'{name} {version} (no {name} in the release)'
        if newest is None
        else f'{name} {version} (at most {newest})'
        for name, version, newest in text.newer(pairs, supported)
    ]
