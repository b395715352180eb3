# SPDX-License-Identifier: Apache-2.0
"""The version of a request, under the name controllers know it by.

:class:`APIVersionRequest` is a :class:`~vobjects.versions.Version` that is
made from text, as the controllers of the seeds 000 to 002 make it. It is
equal to, and ordered with, any other Version.
"""

from __future__ import annotations

from typing import Self

from vobjects.versions import Version


class APIVersionRequest(Version):
    """``APIVersionRequest('2.1')``; without text, the null version.

    :param version_string: ``'X.Y'``, strictly
    :raises vobjects.exceptions.InvalidVersion: for any other text
    """

    __slots__ = ()

    def __new__(cls, version_string: str | None = None) -> Self:
        version = (
            Version() if version_string is None else _read(version_string)
        )
        return tuple.__new__(cls, version)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``'X.Y'``, as the constructor does."""
        return cls(text)

    def __getnewargs__(self) -> tuple[str | None]:
        # copy and pickle call the constructor with these.
        return (None if self.is_null() else str(self),)


_read = Version.parse
