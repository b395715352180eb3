# SPDX-License-Identifier: Apache-2.0
"""WSGI middleware: negotiate, and say so on every response.

Plain WSGI; it needs no framework. For each request it reads the maximum once,
negotiates, and puts ``policy.MICROVERSION`` and ``policy.MAXIMUM`` into the
environ. Every response, the application's errors included, leaves with
``OpenStack-API-Version`` and ``Vary``; caches would otherwise serve one
version's answer to another.

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
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from vobjects.microversions import discovery, errors, header
from vobjects.microversions.policy import (
    HEADER,
    MAXIMUM,
    MICROVERSION,
    Maximum,
    Policy,
)

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

    :param app: the application; what it raises passes through
    :param policy: of the service
    :param maximum: called once a request; must be quick and thread-safe
    """

    def __init__(
        self,
        app: WSGIApplication,
        policy: Policy,
        maximum: Callable[[], Maximum],
    ) -> None:
        self.app = app
        self.policy = policy
        self.maximum = maximum
        self._discovery = discovery.paths(policy)
        self._legacy = tuple(map(_environ_key, policy.legacy_headers))
        self._names = (HEADER, *policy.legacy_headers)
        self._lower = frozenset(name.lower() for name in self._names)

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
            return self._refuse(refused, environ, start_response)

        text = str(version)

        def started(
            status: str, headers: Headers, exc_info: Any = None, /
        ) -> Callable[[bytes], object]:
            return start_response(
                status, self._marked(headers, text), exc_info
            )

        return self.app(environ, started)

    def _refuse(
        self,
        error: errors.NegotiationError,
        environ: WSGIEnvironment,
        start_response: StartResponse,
    ) -> Iterable[bytes]:
        text = str(self.policy.minimum)
        if (
            isinstance(error, errors.UnsupportedVersion)
            and len(error.text) <= MAX_SHOWN
        ):
            text = error.text
        request_id = str(environ.get(REQUEST_ID, ''))
        body = json.dumps(error.document(self.policy, request_id)).encode()
        status = HTTPStatus(error.status_under(self.policy))
        headers = [
            ('Content-Type', 'application/json'),
            ('Content-Length', str(len(body))),
        ]
        start_response(
            f'{status.value} {status.phrase}', self._marked(headers, text)
        )
        return [] if environ.get('REQUEST_METHOD') == 'HEAD' else [body]

    def _marked(self, headers: Headers, text: str) -> Headers:
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
        return kept


def _environ_key(name: str) -> str:
    return 'HTTP_' + name.upper().replace('-', '_')
