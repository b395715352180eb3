# SPDX-License-Identifier: Apache-2.0
"""Version numbers: ``major.minor``, parsed strictly, ordered as numbers.

One class serves object versions and API microversions, because both follow
the same rule: a monotonically increasing counter in which ``1.10`` comes
after ``1.9``. The *null* version (``Version()``) stands for "no restriction"
in :meth:`Version.matches`, as in the seeds 001 and 002.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from vobjects import exceptions

#: The API-SIG microversion specification: no sign, no leading zero, no space.
PATTERN = re.compile(r'([1-9][0-9]*)\.([1-9][0-9]*|0)', re.ASCII)

#: Digits accepted on each side of the dot: far above any real history, and
#: below what Python's integer parser refuses.
MAX_DIGITS = 9


class Version(NamedTuple):
    """An immutable ``(major, minor)`` pair; ``Version()`` is null."""

    major: int = 0
    minor: int = 0

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read ``'X.Y'``.

        :param text: the version, nothing around it
        :raises vobjects.exceptions.InvalidVersion: for anything that the
            API-SIG pattern ``^([1-9]\\d*)\\.([1-9]\\d*|0)$`` does not match
        """
        match = PATTERN.fullmatch(text) if len(text) < 2 * MAX_DIGITS else None
        if match is None:
            raise exceptions.InvalidVersion(text)
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f'{self.major}.{self.minor}'

    def is_null(self) -> bool:
        """Tell whether this is the null version."""
        return self == NULL

    def matches(
        self, minimum: Version | None = None, maximum: Version | None = None
    ) -> bool:
        """Tell whether ``minimum <= self <= maximum``.

        A null or missing bound restricts nothing.

        :raises ValueError: when this version is null (seeds 000, 001)
        """
        if self.is_null():
            raise ValueError('a null version matches no range')
        return (minimum or NULL) <= self and (not maximum or self <= maximum)

    def __bool__(self) -> bool:
        return self != NULL


NULL = Version()
