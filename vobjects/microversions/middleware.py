# SPDX-License-Identifier: Apache-2.0
"""WSGI middleware that negotiates the version of each request.

::

    application = Microversions(Discovery(app, POLICY), POLICY)

The middleware needs no framework. For each request it reads the maximum once,
negotiates, and sets ``version_policy.MICROVERSION`` and
``version_policy.MAXIMUM`` in the environ. It adds ``OpenStack-API-Version``,
the policy's other headers and ``Vary`` to every response, including errors of
the application. Without ``Vary``, caches would serve the response of one
version to requests for another. Responses at a version that is being retired
also get its deprecation headers, except discovery, which clients read before
they choose a version.

If the application raises an :class:`~vobjects.microversions.errors.ApiError`,
the middleware responds with its document. Controllers raise errors, and
frameworks need not know their format. Other exceptions pass through to the
server.

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

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from vobjects.microversions import discovery, errors, header, retirement
from vobjects.microversions.json_response import send_json
from vobjects.microversions.version_policy import (
    EARLY,
    ERROR_CODE,
    EXPERIMENTAL,
    HEADER,
    MAXIMUM,
    MICROVERSION,
    ExperimentalOptIn,
    VersionPolicy,
)
from vobjects.versions import Maximum, Version

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

#: Environ key of the request id, set by oslo.middleware's RequestId.
REQUEST_ID = 'openstack.request_id'

#: Maximum length of a requested version that the response header repeats.
MAX_ECHOED = 32

Headers = list[tuple[str, str]]


class Microversions:
    """WSGI middleware that negotiates versions and marks responses.

    :param app: the application
    :param policy: version policy of the service
    :param maximum: function that returns the highest version served now;
        called once per request, it must be fast and thread-safe. None: always
        the policy's maximum, for a service without separate engines
    """

    def __init__(
        self,
        app: WSGIApplication,
        policy: VersionPolicy,
        maximum: Callable[[], Maximum] | None = None,
    ) -> None:
        self.app = app
        self.policy = policy
        self.maximum = maximum or policy.limit
        self._negotiate = header.Negotiator(policy).negotiate
        self._discovery = discovery.paths(policy)
        self._legacy = tuple(map(_environ_key, policy.legacy_headers))
        self._varies = (HEADER, *policy.legacy_headers)
        self._opt_ins: tuple[ExperimentalOptIn, ExperimentalOptIn] | None = (
            None
        )
        self._experimental_key = ''
        if name := policy.experimental_header:
            self._opt_ins = (
                ExperimentalOptIn(name, False),
                ExperimentalOptIn(name, True),
            )
            self._experimental_key = _environ_key(name)
            self._varies += (name,)
        self._vary = ('Vary', ', '.join(self._varies))
        own_headers = (
            HEADER,
            policy.experimental_header,
            *(name for name, _ in policy.response_headers),
        )
        self._replaced = frozenset(
            name.lower() for name in (*own_headers, 'Vary')
        )
        self._retired = retirement.headers(
            policy.retired,
            policy.service_type,
            policy.history_url or policy.help_url,
        )
        self._state = _State(None, policy.limit(), {})

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        live_maximum = self.maximum()
        state = self._state
        if live_maximum is not state.live_maximum:
            state = self._new_state(live_maximum)
        maximum = environ[MAXIMUM] = state.maximum
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
            environ[MICROVERSION] = version
            if environ.get('PATH_INFO', '') not in self._discovery:
                headers = self._rejection_headers(error, version, maximum)
                return self._respond(error, environ, start_response, headers)
        else:
            environ[MICROVERSION] = version
        own = state.headers.get(version) or self._headers_at(version, maximum)
        if self._opt_ins:
            value = environ.get(self._experimental_key, '').strip().lower()
            environ[EXPERIMENTAL] = self._opt_ins[value == 'true']
        if self._retired or self._opt_ins:
            own = self._add_request_headers(environ, version, own)
        is_started = False

        def start_versioned(
            status: str, headers: Headers, exc_info: Any = None, /
        ) -> Callable[[bytes], object]:
            nonlocal is_started
            is_started = True
            return start_response(status, self._add(headers, own), exc_info)

        try:
            return self.app(environ, start_versioned)
        except errors.ApiError as error:
            return self._respond(
                error, environ, start_response, own, is_started
            )

    def with_version_headers(
        self, headers: Headers, environ: WSGIEnvironment
    ) -> Headers:
        """Return the headers of a response, with those of this middleware.

        For responses in place of the application's, such as those of an outer
        middleware that converts exceptions.

        :param environ: WSGI environ of the request, after it passed this
            middleware
        """
        maximum = environ.get(MAXIMUM) or self.policy.limit()
        version = environ.get(MICROVERSION)
        if version is None:
            version = self.policy.default_for(maximum)
        own = self._headers_at(version, maximum)
        own = self._add_request_headers(environ, version, own)
        return self._add(headers, own)

    def _new_state(self, live_maximum: Maximum) -> _State:
        """Return the state for a new maximum."""
        maximum = self.policy.limit(live_maximum)
        old = self._state
        headers = old.headers if maximum == old.maximum else {}
        self._state = _State(live_maximum, maximum, headers)
        return self._state

    def _respond(
        self,
        error: errors.ApiError,
        environ: WSGIEnvironment,
        start_response: StartResponse,
        own: Headers,
        is_started: bool = False,
    ) -> Iterable[bytes]:
        """Respond with the document of an error that is being handled.

        :param own: headers of this middleware
        :param is_started: whether the application has started a response
        """
        environ[ERROR_CODE] = error.code
        request_id = str(environ.get(REQUEST_ID, ''))
        document = error.document(self.policy, request_id, environ[MAXIMUM])
        return send_json(
            environ,
            start_response,
            error.status_for(self.policy),
            document,
            self._add(list(error.headers), own),
            # PEP 3333 requires exc_info if the application has already started
            # a response.
            sys.exc_info() if is_started else None,
        )

    def _rejection_headers(
        self,
        error: errors.NegotiationError,
        version: Version,
        maximum: Maximum,
    ) -> Headers:
        """Return the headers for the response to a rejected version."""
        if (
            isinstance(error, errors.UnsupportedVersion)
            and len(error.text) <= MAX_ECHOED
        ):
            return self._render(error.text, maximum)
        return self._headers_at(version, maximum)

    def _add_request_headers(
        self, environ: WSGIEnvironment, version: Version, own: Headers
    ) -> Headers:
        """Return the headers with those that depend on the request."""
        opt_in: ExperimentalOptIn | None = environ.get(EXPERIMENTAL)
        if opt_in is not None and opt_in.opted_in:
            own = [*own, (opt_in.header, 'true')]
        retired = self._retired.get(version)
        if retired and environ.get('PATH_INFO', '') not in self._discovery:
            return [*own, *retired]
        return own

    def _headers_at(self, version: Version, maximum: Maximum) -> Headers:
        """Return the headers for responses at a version."""
        state = self._state
        cache = state.headers if state.maximum is maximum else {}
        headers = cache.get(version)
        if headers is None:
            headers = cache[version] = self._render(str(version), maximum)
        return headers

    def _render(self, text: str, maximum: Maximum) -> Headers:
        values = {
            'service': self.policy.service_type,
            'version': text,
            'minimum': str(self.policy.minimum),
            'maximum': str(maximum.version),
            'experimental': (
                ', experimental' if self.policy.experimental else ''
            ),
        }
        return [
            (HEADER, f'{self.policy.service_type} {text}'),
            *(
                (name, template.format_map(values))
                for name, template in self.policy.response_headers
            ),
            self._vary,
        ]

    def _add(self, headers: Headers, own: Headers) -> Headers:
        """Return the headers with those of this middleware."""
        for pair in headers:
            if pair[0].lower() in self._replaced:
                return self._replace(headers, own)
        return [*headers, *own]

    def _replace(self, headers: Headers, own: Headers) -> Headers:
        """Return merged headers, with a single combined Vary."""
        merged: Headers = []
        varies: list[str] = []
        for name, value in headers:
            lower = name.lower()
            if lower == 'vary':
                varies += map(str.strip, value.split(','))
            elif lower not in self._replaced:
                merged.append((name, value))
        merged += (pair for pair in own if pair is not self._vary)
        if '*' in varies:
            varies = ['*']
        else:
            own_varies = {name.lower() for name in self._varies}
            varies = [v for v in varies if v and v.lower() not in own_varies]
            varies += self._varies
        merged.append(('Vary', ', '.join(varies)))
        return merged


class _State(NamedTuple):
    """Values that hold while the maximum is the same; replaced as a whole.

    :ivar live_maximum: the maximum as received
    :ivar maximum: the same, limited by the policy
    :ivar headers: version -> headers of responses at that version
    """

    live_maximum: Maximum | None
    maximum: Maximum
    headers: dict[Version, Headers]


def _environ_key(name: str) -> str:
    return 'HTTP_' + name.upper().replace('-', '_')
