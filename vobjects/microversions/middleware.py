# SPDX-License-Identifier: Apache-2.0
"""WSGI middleware: negotiate, and say so on every response.

::

    application = Microversions(Discovery(app, POLICY), POLICY)

Plain WSGI; it needs no framework. For each request it reads the maximum once,
negotiates, and puts ``policy.MICROVERSION`` and ``policy.MAXIMUM`` into the
environ. Every response, the application's errors included, leaves with
``OpenStack-API-Version`` and ``Vary``; caches would otherwise serve one
version's answer to another. A version that is being retired says so too, but
for discovery, which is read before a version is chosen.

An :class:`~vobjects.microversions.errors.ApiError` that the application lets
through is answered as the document it is: controllers raise, and no framework
has to know how such an answer looks. Other exceptions are the server's.

The version that the response header shows:

=================  =====================================================
served             the negotiated one
unsupported (406)  the requested one, as the specification's example does
malformed (400)    the minimum: nothing that can be repeated was asked
discovery          the negotiated one; the minimum when it cannot be
                   served. Discovery never fails for a version: a client
                   that sent a wrong one needs it most
=================  =====================================================
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from vobjects.microversions import discovery, errors, header, retirement
from vobjects.microversions.policy import (
    HEADER,
    MAXIMUM,
    MICROVERSION,
    REFUSED,
    Maximum,
    Policy,
)
from vobjects.versions import Version

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

#: Where oslo.middleware's RequestId leaves the id.
REQUEST_ID = 'openstack.request_id'

#: Longest requested version that the response header repeats.
MAX_SHOWN = 32

Headers = list[tuple[str, str]]


class Microversions:
    """The middleware.

    :param app: the application
    :param policy: of the service
    :param maximum: called once a request; must be quick and thread-safe.
        None: what this build has, for a service that is not a fleet
    """

    def __init__(
        self,
        app: WSGIApplication,
        policy: Policy,
        maximum: Callable[[], Maximum] | None = None,
    ) -> None:
        self.app = app
        self.policy = policy
        self.maximum = maximum or policy.limit
        self._discovery = discovery.paths(policy)
        self._legacy = tuple(map(_environ_key, policy.legacy_headers))
        self._names = (HEADER, *policy.legacy_headers)
        self._lower = frozenset(name.lower() for name in self._names)
        self._retired = retirement.headers(
            policy.retired, policy.service_type, policy.help_url
        )

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        policy = self.policy
        maximum = environ[MAXIMUM] = policy.limit(self.maximum())
        raw = environ.get('HTTP_OPENSTACK_API_VERSION', '')
        legacy = [environ[key] for key in self._legacy if key in environ]
        refused: errors.NegotiationError | None = None
        try:
            version = header.negotiate(raw, policy, maximum, legacy)
        except errors.NegotiationError as error:
            version, refused = policy.minimum, error
        environ[MICROVERSION] = version
        if refused and environ.get('PATH_INFO', '') not in self._discovery:
            text = self._shown(refused)
            return self._answer(refused, environ, start_response, text)

        text = str(version)
        retired = self._retired_at(environ, version)

        def started(
            status: str, headers: Headers, exc_info: Any = None, /
        ) -> Callable[[bytes], object]:
            return start_response(
                status, self._marked(headers, text, retired), exc_info
            )

        try:
            return self.app(environ, started)
        except errors.ApiError as error:
            return self._answer(error, environ, start_response, text, retired)

    def marked(self, headers: Headers, environ: WSGIEnvironment) -> Headers:
        """Return the headers of a response, with ours.

        For what answers in place of the application: another middleware,
        around this one, which turns exceptions into responses.

        :param environ: of the request, when this middleware has seen it
        """
        version = environ.get(MICROVERSION, self.policy.minimum)
        retired = self._retired_at(environ, version)
        return self._marked(headers, str(version), retired)

    def _retired_at(
        self, environ: WSGIEnvironment, version: Version
    ) -> Sequence[tuple[str, str]]:
        found = self._retired.get(version, ())
        if found and environ.get('PATH_INFO', '') in self._discovery:
            return ()
        return found

    def _shown(self, refused: errors.NegotiationError) -> str:
        """Return the version that the answer to a refused one shows."""
        if (
            isinstance(refused, errors.UnsupportedVersion)
            and len(refused.text) <= MAX_SHOWN
        ):
            return refused.text
        return str(self.policy.minimum)

    def _answer(
        self,
        error: errors.ApiError,
        environ: WSGIEnvironment,
        start_response: StartResponse,
        text: str,
        retired: Sequence[tuple[str, str]] = (),
    ) -> Iterable[bytes]:
        environ[REFUSED] = error.code
        request_id = str(environ.get(REQUEST_ID, ''))
        body = json.dumps(error.document(self.policy, request_id)).encode()
        status = HTTPStatus(error.status_under(self.policy))
        headers = [
            ('Content-Type', 'application/json'),
            ('Content-Length', str(len(body))),
            *error.headers,
        ]
        start_response(
            f'{status.value} {status.phrase}',
            self._marked(headers, text, retired),
            sys.exc_info() if error.__traceback__ else None,
        )
        return [] if environ.get('REQUEST_METHOD') == 'HEAD' else [body]

    def _marked(
        self, headers: Headers, text: str, retired: Sequence[tuple[str, str]]
    ) -> Headers:
        """Return the headers with ours; an application's own give way."""
        kept: Headers = []
        varies: list[str] = []
        for name, value in headers:
            lower = name.lower()
            if lower == 'vary':
                varies += [part.strip() for part in value.split(',')]
            elif lower not in self._lower:
                kept.append((name, value))
        if '*' not in varies:
            varies = [v for v in varies if v and v.lower() not in self._lower]
            varies += self._names
        kept.append((HEADER, f'{self.policy.service_type} {text}'))
        kept += [(name, text) for name in self.policy.legacy_headers]
        kept.append(('Vary', ', '.join(varies)))
        kept += retired
        return kept


def _environ_key(name: str) -> str:
    return 'HTTP_' + name.upper().replace('-', '_')
