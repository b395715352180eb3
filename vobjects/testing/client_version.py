# SPDX-License-Identifier: Apache-2.0
"""Set the microversion that a test client requests.

:func:`set_version` sets the header of the requests, so that a test covers the
code that real requests run, including parsing and negotiation.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from vobjects.microversions import client
from vobjects.microversions.middleware import Microversions
from vobjects.microversions.version_policy import HEADER, environ_key

_KEY = environ_key(HEADER)

#: Attributes in which clients keep their headers, and the key of the header.
_HEADER_ATTRIBUTES = (
    ('extra_environ', _KEY),  # WebTest
    ('environ_base', _KEY),  # Werkzeug, Flask
    ('headers', HEADER),  # requests, httpx
)


def set_version(app: Any, version: str | None, service_type: str = '') -> None:
    """Set the microversion of all later requests of a client.

    ::

        set_version(self.app, '1.1')
        secret = self.app.get('/secrets/1').json

    :param app: a test client of WebTest, Flask or Werkzeug; or a session of
        requests or httpx
    :param version: ``X.Y`` or ``latest``; None: send no version
    :param service_type: service type in the header; optional if the client
        calls an application with the ``Microversions`` middleware
    :raises TypeError: the client keeps no headers
    :raises LookupError: ``service_type`` is empty and no middleware was found
    """
    headers, key = _headers_of(app)
    if version is None:
        headers.pop(key, None)
    elif key == HEADER:
        client.set_version(
            headers, service_type or _service_type(app), version
        )
    else:
        headers[key] = f'{service_type or _service_type(app)} {version}'


def _headers_of(app: Any) -> tuple[MutableMapping[str, str], str]:
    for name, key in _HEADER_ATTRIBUTES:
        headers = getattr(app, name, None)
        if isinstance(headers, MutableMapping):
            return headers, key
    raise TypeError(
        f'{type(app).__name__} keeps no headers: it must have an attribute'
        ' extra_environ, environ_base or headers'
    )


def _service_type(app: Any) -> str:
    """Return the service type of the middleware that a client calls."""
    seen: set[int] = set()
    while app is not None and id(app) not in seen:
        seen.add(id(app))
        if isinstance(app, Microversions):
            return app.policy.service_type
        app = _inner(app)
    raise LookupError(
        'no Microversions middleware found; pass the service type'
    )


def _inner(app: Any) -> Any:
    for name in ('app', 'application', 'wsgi_app'):
        inner = getattr(app, name, None)
        if inner is not None:
            return getattr(inner, '__self__', inner)
    return None
