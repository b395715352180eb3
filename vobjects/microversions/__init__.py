# SPDX-License-Identifier: Apache-2.0
"""API microversions: negotiation, schemas, errors and discovery.

The middleware negotiates the version of each request by the policy of the
service; the rest of a request validates, converts and reports by that version.
In the order in which a request uses them, the modules are::

    version_policy     VersionPolicy: versions and conventions of a service
    presets            policies of five services: NOVA, SENLIN, MAGNUM, ...
    retirement         retire: announces the end of old versions
    middleware         Microversions, Discovery: WSGI, for any framework
    asgi               Microversions, Discovery and read_body for ASGI
    negotiation        what both middlewares have in common
    header             the version header
    discovery          the documents for / and /v1
    json_body          load_json: safe parsing of bodies
    query              query strings
    schema             JSON schemas of request types by version
    schema_bounds      default bounds of texts, lists and objects
    nested_objects     objects inside the bodies of requests
    validation         validation of a part of a request, and its messages
    fast_validation    quick check of valid values
    fault_search       the faults of an invalid value, in linear time
    version_ranges     versions that have a feature, and messages about them
    errors             ApiError, ValidationError: become responses
    application_errors  HttpError and errors of the application's servers
    error_formats      error bodies in the format of each preset's service
    usage_metrics      UsageMetrics, UsageMiddleware: metrics for Prometheus
    shared_values      keeps a full disk from ending processes that count
    tracing            spans of OpenTelemetry for requests
    client             negotiate: the side of the client

The middleware sets ``environ[MICROVERSION]``; controllers read it with
:func:`~vobjects.controllers.frameworks.version_of`. Functions on a part
of a request take ``names``: the fields of a request type that come from this
part, over all versions of the type. The version of the request decides which
of them exist.
"""

from vobjects import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
