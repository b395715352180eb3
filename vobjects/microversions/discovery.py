# SPDX-License-Identifier: Apache-2.0
"""Discovery: the documents at ``/`` and at the major version, ``/v1``.

Discovery needs no authentication and ignores the version of the request,
because clients learn from it which versions they may use. The maximum is the
highest version served now. Links are absolute. They are built from the URL of
the request (scheme, host, and the prefix in ``SCRIPT_NAME``), which
oslo.middleware's HTTPProxyToWSGI corrects behind a proxy, or from a configured
URL.

keystoneauth reads ``id``, ``status``, ``links``, ``min_version`` and
``max_version``, or its older name ``version``, which a policy may add. The id
is ``v1``, as in the API-SIG guideline; Senlin's ``1.0`` has the same meaning
for keystoneauth. ``media-types`` and ``updated``, which the guideline does not
define, are present if the original service has them.

The policy sets the status of ``/``: Senlin and Barbican respond with 300,
"Multiple Choices". keystoneauth and requests treat it as a success, because
they follow only 301, 302, 303, 305, 307 and 308, and the response has no
Location. The document of the major version has the status 200.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping, MutableMapping
from typing import Any, Generic, TypeVar

from vobjects.microversions.version_policy import (
    MAXIMUM,
    ROUTE,
    VersionPolicy,
)
from vobjects.versions import Maximum

_HOST = re.compile(
    r'[A-Za-z0-9._~-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?'
)
#: An application of WSGI or ASGI.
App = TypeVar('App')

_DEFAULT_PORTS = {'http': '80', 'https': '443'}


class Middleware(Generic[App]):
    """Base class of the middlewares for WSGI and ASGI.

    Place them behind the middleware ``Microversions``, which sets the maximum.
    They pass other paths and methods to the application.

    :param app: the application
    :param policy: version policy of the service
    :param public_url: public URL of ``/``; empty: the URL of the request
    """

    def __init__(
        self, app: App, policy: VersionPolicy, public_url: str = ''
    ) -> None:
        self.app = app
        self._policy = policy
        self._public_url = public_url
        self._paths = paths(policy)

    def find(
        self, environ: MutableMapping[str, Any]
    ) -> tuple[int, dict[str, Any]] | None:
        """Return the status and the document for a request.

        :param environ: environ of the request, with the maximum; receives the
            route
        :returns: None for another path or method
        """
        path = environ.get('PATH_INFO', '')
        if path not in self._paths or environ['REQUEST_METHOD'] not in (
            'GET',
            'HEAD',
        ):
            return None
        environ[ROUTE] = path
        base = self._public_url.rstrip('/') or base_url(environ)
        version = _version(base, self._policy, environ[MAXIMUM])
        if path in ('', '/'):
            return self._policy.versions_status, {'versions': [version]}
        return 200, {'version': version}


def paths(policy: VersionPolicy) -> frozenset[str]:
    """Return the values of ``PATH_INFO`` that serve discovery."""
    names = (policy.major, *policy.path_aliases)
    majors = (f'/{name}{slash}' for name in names for slash in ('', '/'))
    return frozenset({'', '/', *majors})


def base_url(environ: Mapping[str, Any]) -> str:
    """Return the URL of ``/`` as the client sees it, without trailing slash.

    ``PATH_INFO`` is not part of it: a document requested as ``/v1`` does not
    link to ``/v1/v1``.
    """
    scheme = environ.get('wsgi.url_scheme')
    if scheme not in _DEFAULT_PORTS:
        scheme = 'http'
    host = str(environ.get('HTTP_HOST') or '')
    # A proxy may forward any Host header; an invalid one must not reach a
    # link.
    if not _HOST.fullmatch(host):
        port = str(environ['SERVER_PORT'])
        host = str(environ['SERVER_NAME'])
        if port != _DEFAULT_PORTS[scheme]:
            host += f':{port}'
    prefix = str(environ.get('SCRIPT_NAME') or '').rstrip('/')
    # WSGI strings are bytes decoded as Latin-1 (PEP 3333).
    return f'{scheme}://{host}{urllib.parse.quote(prefix.encode("latin-1"))}'


def _version(
    base: str, policy: VersionPolicy, maximum: Maximum
) -> dict[str, Any]:
    """Return the description of the only major version.

    :param base: URL of ``/``, without trailing slash
    """
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
