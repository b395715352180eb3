# SPDX-License-Identifier: Apache-2.0
"""Errors of the application, of its web framework and of its servers.

::

    ApiError
    ├── ReportedError       of a server; its class has the status
    ├── HttpError           of a web framework; its status and text
    ├── NoServer        503  no server is alive
    ├── NoResponse      503  no server responded in time
    └── UnexpectedError 500  any other error of the application

:func:`as_api_error` converts any exception into the error that a client
receives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from vobjects import exceptions
from vobjects.microversions import statuses
from vobjects.microversions.errors import ApiError, ConversionRejected
from vobjects.versions import Version


class NoServer(ApiError):
    """No server of the service is alive, or none responds."""

    status = 503
    code = 'engine-missing'
    title = 'No engine is alive'
    type_name = 'HTTPServiceUnavailable'
    # Roughly the time until the fleet notices that an engine joined.
    headers = (('Retry-After', '5'),)

    def __init__(self) -> None:
        super().__init__('No engine is alive, or none can be reached.')


class NoResponse(ApiError):
    """No server has responded to a request in time."""

    status = 503
    code = 'engine-silent'
    title = 'No engine answered'
    type_name = 'HTTPServiceUnavailable'
    headers = NoServer.headers

    def __init__(self) -> None:
        super().__init__(
            'No engine answered in time. The operation may still complete;'
            ' check before you send the request again.'
        )


class HttpError(ApiError):
    """An error that only has an HTTP status, such as an unknown path.

    :param status: an HTTP status from 400 to 599
    :param detail: the problem; empty: the text of the status. A value that is
        not text becomes JSON
    :param headers: further headers of the response
    """

    def __init__(
        self,
        status: int,
        detail: Any = '',
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = int(status)
        self.title = statuses.phrase(status)
        # Such as "Request-URI Too Long" and "I'm a Teapot".
        words = re.findall('[A-Za-z0-9]+', self.title.replace("'", ''))
        self.code = '-'.join(words).lower()
        self.type_name = f'HTTP{"".join(words)}'
        self.headers = tuple((headers or {}).items())
        super().__init__(
            detail_text(detail) or f'{statuses.description(status)}.'
        )


def detail_text(detail: object) -> str:
    """Return the detail of a web framework's error, which may be any value.

    :returns: text as it is, no text for None, and JSON otherwise; what JSON
        lacks becomes text
    """
    if isinstance(detail, bytes):
        return detail.decode(errors='replace')
    if detail is None or isinstance(detail, str):
        return detail or ''
    try:
        return json.dumps(detail, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # keys, or a cycle
        return str(detail)


class ReportedError(ApiError):
    """An error that a server raised, with the HTTP status of its class.

    :param error: an error whose ``status`` is that of an HTTP response
    """

    def __init__(self, error: exceptions.ServiceError) -> None:
        assert error.status is not None
        self.status = error.status
        self.title = statuses.phrase(error.status)
        # oslo.messaging names the class of a remote error ..._Remote.
        self.type_name = type(error).__name__.removesuffix('_Remote')
        self.code = _WORD.sub('-', self.type_name).lower()
        super().__init__(error.message)


#: Where the second and each later word of a class's name begins.
_WORD = re.compile(r'(?<=[a-z0-9])(?=[A-Z])')


class UnexpectedError(ApiError):
    """The application raised an error that is neither declared nor known."""

    status = 500
    code = 'internal'
    title = 'Internal error'
    type_name = 'InternalError'

    def __init__(self) -> None:
        super().__init__('The server failed to process the request.')


#: Errors of :mod:`vobjects.rpc.client` about the live servers: an older one
#: cannot handle the request, or there is none.
FLEET_ERRORS = (
    exceptions.LossyDowngrade,
    exceptions.NoLivePeer,
    exceptions.UnsupportedType,
)


def is_expected(error: BaseException) -> bool:
    """Return whether the response to an error has its text."""
    if isinstance(error, exceptions.ServiceError):
        return statuses.is_error(error.status)
    return isinstance(error, (ApiError, *FLEET_ERRORS))


def ungroup(error: Exception) -> Exception:
    """Return the first error of a group in which all are expected.

    Task groups of asyncio, Trio and AnyIO raise the errors of their tasks as
    an ``ExceptionGroup``.

    :returns: ``error`` itself if it is no such group
    """
    if not isinstance(error, ExceptionGroup):
        return error
    unexpected = error.split(is_expected)[1]
    if unexpected is not None:
        return error
    first: Exception = error
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    return first


def as_api_error(
    error: Exception, version: Version, limits: tuple[Version, Version]
) -> ApiError:
    """Return the error that a client receives.

    :param error: an :class:`ApiError`, which is returned; an error in
        :data:`FLEET_ERRORS`; a ``ServiceError`` with a status; a group of such
        errors; or any other error, whose text remains private
    :param version: version of the request
    :param limits: lowest and highest version served now
    """
    error = ungroup(error)
    if isinstance(error, ApiError):
        return error
    if isinstance(error, exceptions.NoLivePeer):
        return NoServer()
    if isinstance(
        error, (exceptions.LossyDowngrade, exceptions.UnsupportedType)
    ):
        return ConversionRejected(error, version, limits)
    if isinstance(error, exceptions.ServiceError) and is_expected(error):
        return ReportedError(error)
    return UnexpectedError()
