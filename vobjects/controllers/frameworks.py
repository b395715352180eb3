# SPDX-License-Identifier: Apache-2.0
"""Read the negotiated version of a request, in any web framework.

:func:`version_of` and :func:`is_supported` accept any request. For controllers
that do not receive it, and for frameworks with their own exceptions, declare a
:class:`RequestAdapter`. :class:`APIVersionRequest` is for services that
construct versions from text, as Nova does; it is a
:class:`~vobjects.versions.Version`, and compares with any other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Self

from vobjects.controllers.ranges import bound
from vobjects.microversions import errors
from vobjects.microversions.version_policy import (
    EARLY,
    ENVIRON,
    MICROVERSION,
)
from vobjects.versions import Version

#: Attributes of requests with the environ, or with the ASGI scope.
_ENVIRON_ATTRIBUTES = ('environ', 'env', 'scope')


def version_of(request: Any) -> Version:
    """Return the negotiated version of a request.

    :param request: a WSGI environ or ASGI scope; an object with an attribute
        ``environ``, as in Falcon ``env``, or as in Starlette ``scope``; or an
        object with a ``version_request``
    :raises LookupError: the request has no version
    """
    version = environ_of(request).get(MICROVERSION)
    if version is None:
        version = getattr(request, 'version_request', None)
    if not isinstance(version, Version):
        raise LookupError(
            'the request has no API version; put the Microversions middleware'
            ' in front of the application, and let the request be the first'
            ' parameter of a method with api_version'
        )
    return version


def environ_of(request: Any) -> Any:
    """Return the WSGI environ of a request of any framework.

    For ASGI, it is the one that the middleware has put into the scope.

    :param request: see :func:`version_of`
    """
    if not isinstance(request, dict):
        for name in _ENVIRON_ATTRIBUTES:
            environ = getattr(request, name, None)
            if environ is not None:
                request = environ
                break
        else:
            return {}
    return request.get(ENVIRON, request)


def is_early(request: Any) -> bool:
    """Return whether the request may use features of later versions.

    :param request: see :func:`version_of`
    """
    return bool(environ_of(request).get(EARLY, False))


def is_supported(
    request: Any,
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> bool:
    """Return whether the version of a request lies in a range.

    :param request: see :func:`version_of`
    :param min_version: lowest version; None: no lower limit
    :param max_version: highest version; None: no upper limit
    :raises vobjects.exceptions.InvalidVersion: a bound is not a version
    """
    return version_of(request).matches(bound(min_version), bound(max_version))


@dataclasses.dataclass(frozen=True, slots=True)
class RequestAdapter:
    """How the controllers of a framework find a request and its version.

    :ivar request: proxy of the current request; None: the first argument of a
        function is the request
    :ivar version_of: function that returns the version of a request; it raises
        LookupError or AttributeError if there is none
    :ivar as_exception: function that converts an error of dispatch to an
        exception that the framework responds to; None: the middleware responds
    """

    request: Any = None
    version_of: Callable[[Any], Version] = version_of
    as_exception: Callable[[errors.NegotiationError], Exception] | None = None


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
