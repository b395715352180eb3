# SPDX-License-Identifier: Apache-2.0
"""API microversions: negotiation, schemas, errors and discovery.

The middleware negotiates the version of each request by the policy of the
service; the rest of a request validates, converts and reports by that version.
In the order in which a request uses them::

    VersionPolicy, NOVA, SENLIN, ...    versions and conventions of a service
    retire                              announces the end of old versions
    Microversions, Discovery            WSGI middlewares, for any framework;
                                        those for ASGI are in ``asgi``
    load_json                           parses a body
    ApiError, ValidationError           errors, which become responses
    UsageMetrics, UsageMiddleware       count requests by version and client
    negotiate, for_requests, ...        the side of the client

The middleware sets ``environ[MICROVERSION]``; controllers read it with
:func:`~vobjects.controllers.version_request.version_of`. Functions on a part
of a request take ``names``: the fields of a request type that come from this
part, over all versions of the type. The version of the request decides which
of them exist.
"""

from vobjects import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
