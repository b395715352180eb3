# SPDX-License-Identifier: Apache-2.0
"""Spans of OpenTelemetry for requests, with their microversions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vobjects import spans
from vobjects.microversions.negotiation import REQUEST_ID
from vobjects.microversions.version_policy import HEADER, environ_key

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


def traced(app: WSGIApplication) -> WSGIApplication:
    """Return an application whose requests have spans.

    It is the application itself if the process has no tracer provider, which
    ``opentelemetry-instrument`` sets. A span has the attributes of HTTP
    servers, ``vobjects.microversion.requested``, the value of the header, and
    ``vobjects.microversion.served``. If an outer middleware has given the
    request an ID, as oslo.middleware's RequestId does, the span also has
    ``openstack.request_id``.
    """
    if not spans.are_recorded():
        return app
    from opentelemetry.instrumentation import wsgi

    name = HEADER.lower()
    variable = environ_key(HEADER)

    def describe(
        span: Any,
        environ: dict[str, Any],
        _status: str,
        headers: list[tuple[str, str]],
    ) -> None:
        attributes = {
            'vobjects.microversion.requested': environ.get(variable, ''),
            'vobjects.microversion.served': next(
                (v for key, v in headers if key.lower() == name), ''
            ),
        }
        if REQUEST_ID in environ:
            attributes[REQUEST_ID] = environ[REQUEST_ID]
        span.set_attributes(attributes)

    result: WSGIApplication = wsgi.OpenTelemetryMiddleware(
        app, response_hook=describe
    )
    return result
