# SPDX-License-Identifier: Apache-2.0
"""A version that is constructed from text, as in Nova and other services.

:class:`APIVersionRequest` is a :class:`~vobjects.versions.Version`, and
compares with any other.
"""

from __future__ import annotations

from typing import Self

from vobjects.versions import Version


class APIVersionRequest(Version):
    """A version constructed from text; without text, the null version.

    :param version_string: a text of the form ``'X.Y'``, parsed strictly
    :raises vobjects.exceptions.InvalidVersion: the text has another form
    """

    __slots__ = ()

    def __new__(cls, version_string: str | None = None) -> Self:
        version = (
            Version()
            if version_string is None
            else Version.parse(version_string)
        )
        return tuple.__new__(cls, version)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``'X.Y'``, as the constructor does."""
        return cls(text)

    def __getnewargs__(self) -> tuple[str | None]:
        # copy and pickle pass these to the constructor. Services that derive
        # from this class may have their own __str__.
        return (None if self.is_null() else Version.__str__(self),)
