# SPDX-License-Identifier: Apache-2.0
"""Negotiate the version of a request, and mark its response with it.

The middlewares for WSGI and ASGI share :class:`Negotiation`. For each request
it reads the maximum once, negotiates, and sets
``version_policy.MICROVERSION`` and ``version_policy.MAXIMUM`` in the environ.
It provides the headers of the response: ``OpenStack-API-Version``, the
policy's other headers and ``Vary``. Without ``Vary``, caches would serve the
response of one version to requests for another. Responses at a version that is
being retired also get its deprecation headers, except discovery, which clients
read before they choose a version.

If no outer middleware has chosen a request id, such as oslo.middleware's
``RequestId``, the negotiation does: it sets ``openstack.request_id`` in the
environ, and adds ``X-OpenStack-Request-ID``.

The version in the response header:

=================  =====================================================
served             the negotiated version
unsupported (406)  the requested version, as in the specification's
                   example
malformed (400)    the default, because no version was requested that
                   the header could repeat
discovery          the negotiated version, or the default if the
                   requested one cannot be served. Discovery accepts any
                   version, because clients use it to find a valid one
=================  =====================================================
"""

from __future__ import annotations

import os
from collections.abc import Callable, MutableMapping
from typing import Any, Generic, NamedTuple

from vobjects import exceptions
from vobjects.microversions import (
    application_errors,
    discovery,
    errors,
    header,
    retirement,
)
from vobjects.microversions.discovery import App
from vobjects.microversions.version_policy import (
    EARLY,
    ERROR_CODE,
    HEADER,
    MAXIMUM,
    MICROVERSION,
    VersionPolicy,
    environ_key,
)
from vobjects.versions import Maximum, Version

#: Environ key of the request id, set by oslo.middleware's RequestId.
REQUEST_ID = 'openstack.request_id'
REQUEST_ID_HEADER = 'X-OpenStack-Request-ID'

_LOWER_REQUEST_ID = REQUEST_ID_HEADER.lower()

#: Environ key of the request id if the negotiation has chosen it.
_OWN_REQUEST_ID = 'vobjects.request_id'

#: Maximum length of a requested version that the response header repeats.
MAX_ECHOED = 32

Headers = list[tuple[str, str]]

#: A WSGI environ, or the part of it that discovery and negotiation read.
Environ = MutableMapping[str, Any]


class Middleware(Generic[App]):
    """What the middlewares for WSGI and ASGI have in common.

    :param app: the application
    :param policy: version policy of the service
    :param maximum: see :class:`Negotiation`
    :param handle_unexpected: whether to respond to unexpected exceptions;
        false: raise them
    """

    def __init__(
        self,
        app: App,
        policy: VersionPolicy,
        maximum: Callable[[], Maximum] | None = None,
        *,
        handle_unexpected: bool = True,
    ) -> None:
        self.app = app
        self.policy = policy
        self.negotiation = Negotiation(
            policy, maximum, handle_unexpected=handle_unexpected
        )


class ErrorResponse(NamedTuple):
    """The response to a request that raised an error."""

    status: int
    document: dict[str, Any]
    headers: Headers


class Negotiation:
    """The negotiation of all requests to a service.

    :param policy: version policy of the service
    :param maximum: function that returns the highest version served now;
        called once per request, it must be fast and thread-safe. None: always
        the policy's maximum, for a service without separate engines. If it
        raises NoLivePeer, the response is a 503
    :param handle_unexpected: whether a middleware responds to all errors of
        the application; false: only to those that are
        :func:`~vobjects.microversions.application_errors.is_expected`, and
        groups of them
    """

    def __init__(
        self,
        policy: VersionPolicy,
        maximum: Callable[[], Maximum] | None = None,
        *,
        handle_unexpected: bool = True,
    ) -> None:
        self.policy = policy
        self._handle_unexpected = handle_unexpected
        self._log = application_errors.ErrorLog()
        self.maximum = maximum or policy.limit
        self.asks_maximum = maximum is not None
        self._negotiate = header.Negotiator(policy).negotiate
        self._discovery = discovery.paths(policy)
        self._legacy = tuple(map(environ_key, policy.legacy_headers))
        self._varies = (HEADER, *policy.legacy_headers)
        self._vary = ('Vary', ', '.join(self._varies))
        own_headers = (name for name, _ in policy.response_headers)
        self._replaced = frozenset(
            name.lower() for name in (HEADER, 'Vary', *own_headers)
        )
        self._merged = self._replaced | {_LOWER_REQUEST_ID}
        self._retired = retirement.headers(
            policy.retired,
            policy.service_type,
            policy.history_url or policy.help_url,
        )
        #: The maximum as received, the same limited by the policy, and version
        #: -> headers of responses; replaced as a whole.
        self._current: tuple[
            Maximum | None, Maximum, dict[Version, Headers]
        ] = (None, policy.limit(), {})

    def negotiate(
        self, environ: Environ
    ) -> tuple[Headers, errors.ApiError | None]:
        """Negotiate the version of a request; the environ receives it.

        :returns: the headers of the response, and the error if the request's
            version cannot be served, or no server has ever been alive
        """
        if REQUEST_ID not in environ:
            environ[REQUEST_ID] = environ[_OWN_REQUEST_ID] = _new_request_id()
        try:
            live_maximum = self.maximum()
        except exceptions.NoLivePeer:
            return self.headers_after(environ), application_errors.NoServer()
        received, maximum, headers = self._current
        if live_maximum is not received:
            limited = self.policy.limit(live_maximum)
            if limited != maximum:
                maximum, headers = limited, {}
            self._current = (live_maximum, maximum, headers)
        environ[MAXIMUM] = maximum
        if self.policy.accepts_early:
            environ[EARLY] = True
        raw = environ.get('HTTP_OPENSTACK_API_VERSION', '')
        legacy = self._legacy and [
            environ[key] for key in self._legacy if key in environ
        ]
        try:
            version = self._negotiate(raw, maximum, legacy)
        except errors.NegotiationError as error:
            version = self.policy.default_for(maximum)
            if environ.get('PATH_INFO', '') not in self._discovery:
                environ[MICROVERSION] = version
                shown: Version | str = version
                if isinstance(error, errors.UnsupportedVersion):
                    is_short = len(error.text) <= MAX_ECHOED
                    shown = error.text if is_short else version
                own = self._render(shown, maximum.version)
                return _with_request_id(environ, own), error
        environ[MICROVERSION] = version
        own = headers.get(version) or headers.setdefault(
            version, self._render(version, maximum.version)
        )
        if self._retired or _OWN_REQUEST_ID in environ:
            own = self._add_request_headers(environ, version, own)
        return own, None

    def error_response(
        self, error: Exception, environ: Environ, own: Headers
    ) -> ErrorResponse:
        """Return the response to a request that raised an error.

        :param error: any error; see
            :func:`vobjects.microversions.application_errors.as_api_error`
        :param environ: environ of the request, after :meth:`negotiate`
        :param own: the headers that :meth:`negotiate` returned
        """
        limits = (self.policy.minimum, environ[MAXIMUM].version)
        version = environ.get(MICROVERSION, self.policy.minimum)
        request_id = str(environ.get(REQUEST_ID, ''))
        api_error = application_errors.as_api_error(
            error, version, limits, request_id
        )
        environ[ERROR_CODE] = api_error.code
        return ErrorResponse(
            api_error.status_for(self.policy),
            api_error.document(self.policy, request_id, environ[MAXIMUM]),
            self.add(list(api_error.headers), own),
        )

    def handles(self, error: Exception) -> bool:
        """Return whether a middleware responds to an error."""
        return self._handle_unexpected or application_errors.is_expected(
            application_errors.ungroup(error)
        )

    def log(self, error: Exception, environ: Environ, status: int) -> None:
        """Log an error of the application, if the response lacks its reason.

        :param status: status of the response
        """
        self._log.add(error, status, str(environ.get(REQUEST_ID, '')))

    def headers_after(self, environ: Environ) -> Headers:
        """Return the headers of a response to a request.

        :param environ: environ of the request, after :meth:`negotiate`
        """
        maximum = environ.setdefault(MAXIMUM, self.policy.limit())
        version = environ.get(MICROVERSION)
        if version is None:
            version = self.policy.default_for(maximum)
        own = self._render(version, maximum.version)
        return self._add_request_headers(environ, version, own)

    def _add_request_headers(
        self, environ: Environ, version: Version, own: Headers
    ) -> Headers:
        """Return the headers with those that depend on the request."""
        own = _with_request_id(environ, own)
        retired = self._retired.get(version)
        if retired and environ.get('PATH_INFO', '') not in self._discovery:
            return [*own, *retired]
        return own

    def _render(self, version: Version | str, maximum: Version) -> Headers:
        """Return the headers for responses at a version."""
        values = {
            'service': self.policy.service_type,
            'version': str(version),
            'minimum': str(self.policy.minimum),
            'maximum': str(maximum),
            'experimental': (
                ', experimental' if self.policy.experimental else ''
            ),
        }
        return [
            (HEADER, f'{self.policy.service_type} {version}'),
            *(
                (name, template.format_map(values))
                for name, template in self.policy.response_headers
            ),
            self._vary,
        ]

    def add(self, headers: Headers, own: Headers) -> Headers:
        """Return the headers of a response, with those of the negotiation.

        The latter replace headers of the same names; ``Vary`` is combined, and
        the request id of the application is kept.

        :param own: the headers that :meth:`negotiate` returned
        """
        for pair in headers:
            if pair[0].lower() in self._merged:
                return self._replace(headers, own)
        return [*headers, *own]

    def _replace(self, headers: Headers, own: Headers) -> Headers:
        """Return merged headers, with a single combined Vary."""
        merged = [
            pair for pair in headers if pair[0].lower() not in self._replaced
        ]
        has_request_id = any(
            name.lower() == _LOWER_REQUEST_ID for name, _ in merged
        )
        merged += (
            pair
            for pair in own
            if pair is not self._vary
            and not (has_request_id and pair[0] == REQUEST_ID_HEADER)
        )
        varies = [
            item.strip()
            for name, value in headers
            if name.lower() == 'vary'
            for item in value.split(',')
        ]
        if '*' not in varies:
            own_varies = {name.lower() for name in self._varies}
            varies = [v for v in varies if v and v.lower() not in own_varies]
            varies += self._varies
        else:
            varies = ['*']
        return [*merged, ('Vary', ', '.join(varies))]


def _new_request_id() -> str:
    """Return ``req-`` and a random UUID (RFC 9562, version 4)."""
    # A fourth of the time of uuid.uuid4().
    digits = os.urandom(16).hex()
    variant = '89ab'[int(digits[16], 16) & 3]
    return (
        f'req-{digits[:8]}-{digits[8:12]}-4{digits[13:16]}'
        f'-{variant}{digits[17:20]}-{digits[20:]}'
    )


def _with_request_id(environ: Environ, own: Headers) -> Headers:
    """Return the headers with the request id that the negotiation chose."""
    if _OWN_REQUEST_ID not in environ:
        return own
    return [*own, (REQUEST_ID_HEADER, environ[_OWN_REQUEST_ID])]
