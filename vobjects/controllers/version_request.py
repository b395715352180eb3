# SPDX-License-Identifier: Apache-2.0
"""The version of a request as OpenStack controllers construct and read it.

:class:`APIVersionRequest` is a :class:`~vobjects.versions.Version` that is
constructed from text, as in Nova and other services. It compares with any
other Version. :class:`VersionedRequest` adds it to any framework's request::

    class Request(VersionedRequest, webob.Request): ...
"""

from __future__ import annotations

from typing import Self

from vobjects.microversions.policy import MICROVERSION
from vobjects.versions import Version


class APIVersionRequest(Version):
    """A version constructed from text; without text, the null version.

    :param version_string: a text of the form ``'X.Y'``, parsed strictly
    :raises vobjects.exceptions.InvalidVersion: the text has another form
    """

    __slots__ = ()

    def __new__(cls, version_string: str | None = None) -> Self:
        version = (
            Version() if version_string is None else _read(version_string)
        )
        return tuple.__new__(cls, version)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``'X.Y'``, as the constructor does."""
        return cls(text)

    def __getnewargs__(self) -> tuple[str | None]:
        # copy and pickle pass these to the constructor.
        return (None if self.is_null() else str(self),)


_read = Version.parse


class VersionedRequest:
    """Mix-in for request classes with the negotiated version."""

    @property
    def version_request(self) -> APIVersionRequest:
        """The version that the Microversions middleware negotiated.

        :raises LookupError: the request has no version
        """
        for name in ('environ', 'env'):  # Falcon names it env
            environ = getattr(self, name, None)
            if environ and MICROVERSION in environ:
                return APIVersionRequest(str(environ[MICROVERSION]))
        raise LookupError(
            'the request has no API version; put the Microversions'
            ' middleware in front of the application'
        )
