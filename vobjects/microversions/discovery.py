# SPDX-License-Identifier: Apache-2.0
"""Discovery: the documents at ``/`` and at the major version, ``/v1``.

They are served to everybody, whatever the request's version and without
authentication: they are where a client learns what it may ask. The maximum
is the one served now. Links are absolute, made from what the client called
(scheme, host, and the prefix in ``SCRIPT_NAME``), which behind a proxy is
what oslo.middleware's HTTPProxyToWSGI puts there; or from a configured URL.

keystoneauth reads ``id``, ``status``, ``links``, ``min_version`` and
``max_version``, or ``version``, its older name, which a policy may add. The
id is ``v1``, as the API-SIG guideline wants; Senlin's ``1.0`` means the same
to keystoneauth. ``media-types`` and ``updated``, which the guideline does not
know, are there where the service's own documents have them.

The status of ``/`` is the policy's: Senlin and Barbican answer 300, "multiple
choices". keystoneauth and requests take that for a success: it has no
Location, and they follow only 301, 302, 303, 305, 307 and 308. The major
version's own document is a plain 200.
"""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from vobjects.microversions.policy import MAXIMUM, Maximum, Policy

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

_HOST = re.compile(
    r'[A-Za-z0-9._~-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?'
)
_DEFAULT_PORTS = {'http': '80', 'https': '443'}


class Discovery:
    """WSGI middleware: serves both documents to GET and HEAD.

    It stands behind :class:`~vobjects.microversions.middleware.Microversions`,
    which reads the maximum. Other paths and methods are the application's.

    :param app: the application
    :param policy: of the service
    :param public_url: what clients call ``/``; empty: what they said
    """

    def __init__(
        self, app: WSGIApplication, policy: Policy, public_url: str = ''
    ) -> None:
        self.app = app
        self.policy = policy
        self.public_url = public_url
        self._paths = paths(policy)

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        path = environ.get('PATH_INFO', '')
        method = environ['REQUEST_METHOD']
        if path not in self._paths or method not in ('GET', 'HEAD'):
            return self.app(environ, start_response)
        wanted = (environ, self.policy, environ[MAXIMUM], self.public_url)
        if path in ('', '/'):
            status = HTTPStatus(self.policy.versions_status)
            document = versions_document(*wanted)
        else:
            status = HTTPStatus.OK
            document = version_document(*wanted)
        body = json.dumps(document).encode()
        start_response(
            f'{status.value} {status.phrase}',
            [
                ('Content-Type', 'application/json'),
                ('Content-Length', str(len(body))),
            ],
        )
        return [] if method == 'HEAD' else [body]


def paths(policy: Policy) -> frozenset[str]:
    """Return the values of ``PATH_INFO`` that are discovery."""
    return frozenset({'', '/', f'/{policy.major}', f'/{policy.major}/'})


def versions_document(
    environ: Mapping[str, Any],
    policy: Policy,
    maximum: Maximum,
    public_url: str = '',
) -> dict[str, Any]:
    """Return the body for ``/``: every major version, of which one exists.

    :param environ: of the request, as WSGI has it
    :param maximum: highest version served now
    :param public_url: what clients call ``/``; replaces the request's own
    """
    return {'versions': [_version(environ, policy, maximum, public_url)]}


def version_document(
    environ: Mapping[str, Any],
    policy: Policy,
    maximum: Maximum,
    public_url: str = '',
) -> dict[str, Any]:
    """Return the body for ``/v1``; see :func:`versions_document`."""
    return {'version': _version(environ, policy, maximum, public_url)}


def base_url(environ: Mapping[str, Any]) -> str:
    """Return the URL the client called ``/`` by, without a slash at its end.

    ``PATH_INFO`` plays no part: a document that is reached as ``/v1`` does
    not link to ``/v1/v1``.
    """
    scheme = environ.get('wsgi.url_scheme')
    if scheme not in _DEFAULT_PORTS:
        scheme = 'http'
    host = str(environ.get('HTTP_HOST') or '')
    # A proxy may pass anything on; what is no host must not become a link.
    if not _HOST.fullmatch(host):
        port = str(environ['SERVER_PORT'])
        host = str(environ['SERVER_NAME'])
        if port != _DEFAULT_PORTS[scheme]:
            host += f':{port}'
    prefix = str(environ.get('SCRIPT_NAME') or '').rstrip('/')
    # WSGI text is bytes in disguise (PEP 3333).
    return f'{scheme}://{host}{urllib.parse.quote(prefix.encode("latin-1"))}'


def _version(
    environ: Mapping[str, Any],
    policy: Policy,
    maximum: Maximum,
    public_url: str,
) -> dict[str, Any]:
    base = public_url.rstrip('/') or base_url(environ)
    highest = str(policy.limit(maximum).version)
    links = [
        {'rel': 'self', 'href': f'{base}/{policy.major}/'},
        {'rel': 'help', 'href': policy.help_url},
    ]
    if policy.history_url:
        links.append({'rel': 'history', 'href': policy.history_url})
    document: dict[str, Any] = {
        'id': policy.version_id or policy.major,
        'status': 'CURRENT',
        'min_version': str(policy.minimum),
        **dict.fromkeys(policy.maximum_keys, highest),
        'links': links,
    }
    if policy.media_type:
        document['media-types'] = [
            {'base': 'application/json', 'type': policy.media_type}
        ]
    if policy.updated:
        document['updated'] = policy.updated
    return document
