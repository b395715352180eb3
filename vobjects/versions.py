# SPDX-License-Identifier: Apache-2.0
"""Version numbers: ``major.minor``, parsed strictly, ordered as numbers.

One class serves object versions and API microversions, because both follow
the same rule: a monotonically increasing counter in which ``1.10`` comes
after ``1.9``. The *null* version (``Version()``) stands for "no restriction"
in :meth:`Version.matches`. :class:`Maximum` is a version and the reason why it
is not higher.
"""

from __future__ import annotations

import dataclasses
import re
from typing import NamedTuple

from vobjects import exceptions

#: The API-SIG microversion specification: no sign, no leading zero, no space.
PATTERN = re.compile(r'([1-9][0-9]*)\.([1-9][0-9]*|0)', re.ASCII)

#: A version has at most 2 * MAX_DIGITS - 1 characters: more than any real
#: history needs, and fewer than Python's integer parser rejects.
MAX_DIGITS = 9


class Version(NamedTuple):
    """An immutable ``(major, minor)`` pair; ``Version()`` is null."""

    major: int = 0
    minor: int = 0

    @classmethod
    def parse(cls, text: str) -> Version:
        """Parse ``'X.Y'``.

        :param text: the version, without surrounding text
        :raises vobjects.exceptions.InvalidVersion: the text does not match
            the API-SIG pattern ``^([1-9]\\d*)\\.([1-9]\\d*|0)$``, or is
            longer than 17 characters
        """
        try:
            is_short = len(text) < 2 * MAX_DIGITS
            match = PATTERN.fullmatch(text) if is_short else None
        except TypeError:  # such as the number 1.1
            match = None
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

        :raises ValueError: this version is null
        """
        if self.is_null():
            raise ValueError('a null version matches no range')
        return (minimum or NULL) <= self and (not maximum or self <= maximum)

    def __bool__(self) -> bool:
        return self != NULL


NULL = Version()


def as_version(version: str | Version) -> Version:
    """Return a version that may be text.

    :raises vobjects.exceptions.InvalidVersion: it is not a version
    """
    return version if isinstance(version, Version) else Version.parse(version)


@dataclasses.dataclass(frozen=True, slots=True)
class Maximum:
    """The highest version served at this moment.

    :ivar version: the version
    :ivar reason: why it is not higher, as a clause that fits after "because";
        empty: nothing limits it
    """

    version: Version
    reason: str = ''
