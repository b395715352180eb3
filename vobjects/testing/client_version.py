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
from vobjects.microversions.policy import HEADER

_KEY = 'HTTP_' + HEADER.upper().replace('-', '_')

#: Attributes in which a client keeps its headers, and the name of the key.
_KEPT = (
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
    kept, key = _kept_by(app)
    if version is None:
        kept.pop(key, None)
    elif key == HEADER:
        client.set_version(kept, service_type or _service_type(app), version)
    else:
        kept[key] = f'{service_type or _service_type(app)} {version}'


def _kept_by(app: Any) -> tuple[MutableMapping[str, str], str]:
    for name, key in _KEPT:
        found = getattr(app, name, None)
        if isinstance(found, MutableMapping):
            return found, key
    raise TypeError(
        f'{type(app).__name__} has none of extra_environ, environ_base and'
        ' headers, to which the version would go'
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
        'no Microversions middleware was found; give the service type'
    )


def _inner(app: Any) -> Any:
    for name in ('app', 'application', 'wsgi_app'):
        inner = getattr(app, name, None)
        if inner is not None:
            return getattr(inner, '__self__', inner)
    return None
