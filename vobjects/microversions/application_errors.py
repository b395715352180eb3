# SPDX-License-Identifier: Apache-2.0
"""Errors of the application, of its web framework and of its servers.

::

    ApiError
    ├── ReportedError       of a server; its class has the status
    ├── HttpError           of a web framework; its status and text
    ├── RetryLater      503
    │   ├── NoServer         no server is alive, or none is new enough
    │   ├── NoResponse       no server responded in time
    │   └── Unavailable      a server that the servers need does not respond
    └── UnexpectedError 500  any other error of the application

:func:`as_api_error` converts any exception into the error that a client
receives. :class:`ErrorLog` logs the errors whose response lacks the reason.
"""

from __future__ import annotations

import contextlib
import http
import json
import logging
import re
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from vobjects import exceptions
from vobjects.microversions.error_formats import status_phrase
from vobjects.microversions.errors import ApiError, ConversionRejected
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.versions import Version

LOG = logging.getLogger(__name__)

#: Statuses of errors.
ERROR_STATUSES = range(400, 600)

#: Seconds after which the reason of a 503 is logged again, if no request has
#: failed for it meanwhile.
OUTAGE_END = 60.0
_MAX_OUTAGES = 64


class RetryLater(ApiError):
    """The application cannot serve a request now.

    :cvar SECONDS: seconds after which a client may repeat the request: roughly
        the time until the fleet notices that a server died or joined
    """

    SECONDS = 5

    status = 503
    type_name = 'HTTPServiceUnavailable'
    headers = (('Retry-After', str(SECONDS)),)


class NoServer(RetryLater):
    """No server of the service is alive, or none responds.

    :param detail: the problem, if it is another one
    """

    code = 'engine-missing'
    title = 'No engine is alive'
    detail = 'No engine is alive, or none can be reached.'


class NoResponse(RetryLater):
    """No server has responded to a request in time."""

    code = 'engine-silent'
    title = 'No engine answered'
    detail = (
        'No engine answered in time. The operation may still complete; check'
        ' before you send the request again.'
    )


class Unavailable(RetryLater):
    """A server that the application or its servers need is away."""

    code = 'service-unavailable'
    title = 'A required service is unavailable'
    detail = 'A required service does not respond; try again.'


class HttpError(ApiError):
    """An error that only has an HTTP status, such as an unknown path.

    :param status: an HTTP status from 400 to 599
    :param detail: the problem; empty: the text of the status. A value that is
        not text becomes JSON
    :param headers: further headers of the response; those of its content, such
        as Content-Type, are omitted
    """

    def __init__(
        self,
        status: int,
        detail: Any = '',
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = int(status)
        self.title = status_phrase(status)
        # Such as "Request-URI Too Long" and "I'm a Teapot".
        words = re.findall('[A-Za-z0-9]+', self.title.replace("'", ''))
        self.code = '-'.join(words).lower()
        self.type_name = f'HTTP{"".join(words)}'
        self.headers = tuple(
            (name, _header_text(value))
            for name, value in (headers or {}).items()
            if not name.lower().startswith('content-')
        )
        text = ''
        with contextlib.suppress(ValueError):
            text = http.HTTPStatus(status).description.rstrip('.')
        super().__init__(detail_text(detail) or f'{text or self.title}.')


def detail_text(detail: object) -> str:
    """Return the detail of a web framework's error, which may be any value.

    :returns: text as it is, no text for None, and JSON otherwise; what JSON
        lacks becomes text, or no text if it has none
    """
    if isinstance(detail, bytes):
        return detail.decode(errors='replace')
    if detail is None or isinstance(detail, str):
        return detail or ''
    encoder = json.JSONEncoder(default=str, ensure_ascii=False)
    for write in (encoder.encode, str):
        # Its keys, a cycle, or an error of the value.
        with contextlib.suppress(Exception):
            return write(detail)
    return ''


def _header_text(value: object) -> str:
    """Return a text that every server can send as the value of a header."""
    text = str(value).encode('latin-1', 'replace').decode('latin-1')
    return _CONTROL.sub('?', text)


_CONTROL = re.compile('[\0-\x08\n-\x1f\x7f]')


class ReportedError(ApiError):
    """An error that a server raised, with the HTTP status of its class.

    Clients may retry after a status of 503.

    :param error: an error whose ``status`` is that of an HTTP response
    """

    def __init__(self, error: exceptions.ServiceError) -> None:
        assert error.status is not None
        self.status = error.status
        self.title = error.title or status_phrase(error.status)
        # oslo.messaging names the class of a remote error ..._Remote.
        self.type_name = type(error).__name__.removesuffix('_Remote')
        self.code = error.code or _WORD.sub('-', self.type_name).lower()
        self.compat_message = error.compat_message
        if error.status == RetryLater.status:
            self.headers = RetryLater.headers
        super().__init__(error.message or self.title)

    def message_for(self, policy: VersionPolicy, detail: str) -> str:
        return self.compat_message or detail


#: Where the second and each later word of a class's name begins.
_WORD = re.compile(r'(?<=[a-z0-9])(?=[A-Z])')


class UnexpectedError(ApiError):
    """The application raised an error that is neither declared nor known.

    :param request_id: ID of the request, which the log has with the reason
    """

    status = 500
    code = 'internal'
    title = 'Internal error'
    type_name = 'InternalError'

    def __init__(self, request_id: str = '') -> None:
        log = f' Its log has the reason under {request_id}.'
        super().__init__(
            'The server failed to process this request.'
            + (log if request_id else '')
        )


#: Errors of :mod:`vobjects.rpc.client` about the live servers: an older one
#: cannot handle the request, there is none, it received the request too late,
#: or a server that it needs does not respond.
FLEET_ERRORS = (
    exceptions.DeadlinePassed,
    exceptions.LossyDowngrade,
    exceptions.NoLivePeer,
    exceptions.Unreachable,
    exceptions.UnsupportedType,
)


def is_about_servers(error: BaseException) -> bool:
    """Return whether an error is about the live servers, not the request."""
    return isinstance(error, (RetryLater, *FLEET_ERRORS)) or _is_lost(error)


#: Errors of oslo.messaging, with their subclasses, about a call or a response
#: that was lost. Its other errors tell of a defect: of a server that has
#: responded, of a target, or of the configuration.
LOST_CALLS = (
    'ClientSendError',
    'MessageDeliveryFailure',
    'MessageUndeliverable',
    'MessagingTimeout',
)


def _is_lost(error: BaseException) -> bool:
    """Return whether the response to a call, or the call, was lost."""
    # A process has a message bus only if this module is loaded.
    messaging = sys.modules.get('oslo_messaging')
    return messaging is not None and isinstance(
        error, tuple(getattr(messaging, name) for name in LOST_CALLS)
    )


def is_expected(error: BaseException) -> bool:
    """Return whether the response to an error gives its cause."""
    if isinstance(error, exceptions.ServiceError):
        return error.status in ERROR_STATUSES
    return isinstance(error, ApiError) or is_about_servers(error)


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
    error: Exception,
    version: Version,
    limits: tuple[Version, Version],
    request_id: str = '',
) -> ApiError:
    """Return the error that a client receives.

    :param error: an :class:`ApiError`, which is returned; an error in
        :data:`FLEET_ERRORS` or :data:`LOST_CALLS`; a ``ServiceError`` with a
        status; a group of such errors; or any other error, whose text remains
        private
    :param version: version of the request
    :param limits: lowest and highest version served now
    :param request_id: ID of the request
    """
    error = ungroup(error)
    if isinstance(error, ApiError):
        return error
    if isinstance(error, exceptions.NoCapablePeer):
        return NoServer(f'Try again later: {error.message}.')
    if isinstance(error, exceptions.NoLivePeer):
        return NoServer()
    if isinstance(error, exceptions.DeadlinePassed) or _is_lost(error):
        return NoResponse()
    if isinstance(error, exceptions.Unreachable):
        return Unavailable()
    if isinstance(error, exceptions.TOO_OLD):
        return ConversionRejected(error, version, limits)
    if isinstance(error, exceptions.ServiceError) and is_expected(error):
        return ReportedError(error)
    return UnexpectedError(request_id)


class ErrorLog:
    """The log of the errors of one application."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Reason of each current outage -> monotonic seconds of its last
        #: error.
        self._outages: dict[str, float] = {}

    def add(self, error: Exception, status: int, request_id: str) -> None:
        """Log an error, unless the response has all about it.

        :param status: status of the response; the reason of a 503 is logged as
            a warning once, and at level DEBUG while it lasts
        """
        error = ungroup(error)
        if status == RetryLater.status:
            text = getattr(error, 'message', None)
            # A text may be empty; str() then is a remote traceback alone.
            reason = text if isinstance(text, str) else str(error)
            reason = f'{type(error).__name__}: {reason}'
            is_new = self._begins(reason, time.monotonic())
            LOG.log(logging.WARNING if is_new else logging.DEBUG, '%s', reason)
        elif not is_expected(error):
            LOG.error('Request %s failed', request_id, exc_info=error)

    def _begins(self, reason: str, now: float) -> bool:
        """Record a reason; tell whether it had not occurred for a while."""
        with self._lock:
            since = now - OUTAGE_END
            is_new = self._outages.pop(reason, since) <= since
            self._outages[reason] = now
            if len(self._outages) > _MAX_OUTAGES:
                del self._outages[next(iter(self._outages))]
            return is_new
