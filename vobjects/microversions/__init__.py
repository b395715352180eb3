# SPDX-License-Identifier: Apache-2.0
"""API microversions: negotiation, schemas, errors and discovery.

The middleware negotiates the version of each request by the policy of the
service; the rest of a request validates, converts and reports by that version.
The middleware for ASGI is in :mod:`vobjects.microversions.asgi`. In the order
in which a request uses them, the modules are::

    version_policy  version policy of one service; immutable values
        VersionPolicy(service_types, minimum, maximum, help_url, ...)
        policy.limit(maximum=None) -> vobjects.versions.Maximum, within the
        policy
        HEADER; environ keys MICROVERSION (Version), MAXIMUM (Maximum)
    presets     NOVA SENLIN MAGNUM BARBICAN IRONIC; PRESETS by name
    error_formats  error bodies in the format of each preset's service
    statuses    texts of HTTP statuses
    retirement  deprecation and sunset headers of old versions
        retire('1.0', '1.4', deprecated=, sunset=, successor=, help_url=)
    header      OpenStack-API-Version -> version
        Negotiator(policy).negotiate(header, maximum, legacy=()) -> Version
        Negotiator(policy).requested(header, legacy=()) -> Requested
        choose_version(requested, policy, maximum) -> Version
    negotiation  what the middlewares for WSGI and ASGI have in common
    middleware  WSGI middleware, for any framework
        Microversions(app, policy, maximum: Callable[[], Maximum] = None)
        sets environ[version_policy.MICROVERSION] and [version_policy.MAXIMUM];
        turns an ApiError of the application into a response
    asgi        the same for ASGI: Microversions, Discovery, read_body
    json_response  send_json(environ, start_response, status, document)
    json_body   load_json(raw, max_bytes=1 MiB, max_depth=64) -> Any
        unstorable(text) -> 'U+0000' or '': for path segments too
    schema      JSON schemas of request types by version
        body_schema(cls, microversion, names) -> dict
        request_schema_at(cls, microversion, names) -> RequestSchema
    validation  validation of a part of a request by its schema
        validate(cls, microversion, names, values, where='body') -> None
    schema_bounds  default bounds of texts, lists and objects
    nested_objects  objects inside the bodies of requests
    fast_validation  quick check of valid values
        compile_schema(schema) -> accepts(value) -> bool
        False: validate with jsonschema, which decides and reports the fault
    fault_search  the faults of an invalid value, in linear time
    query       query strings
        parse_pairs(query_string) -> [(name, value)]
        coerce_query(cls, microversion, names, pairs) -> dict
    discovery   documents for / and /v1
        versions_document(environ, policy, maximum, public_url='') -> dict
        version_document(environ, policy, maximum, public_url='') -> dict
        Discovery(app, policy, public_url='')        WSGI: serves both
        paths(policy); base_url(environ)
    shared_values  keeps a full disk from ending processes that count
    usage_metrics  Prometheus metrics; the only module that needs their client
    tracing        spans of OpenTelemetry for requests
        UsageMetrics(policy, max_agents=64)     UsageMiddleware(app, usage)
        reads environ[version_policy.ROUTE] and [version_policy.ERROR_CODE]
    version_ranges  version ranges of a feature, and the message about them
        VersionRange(first, removed); ranges_having(cls, has) -> ranges
        explain(feature, ranges, requested)
            -> "'config' needs API version 1.7 or later; ..."
    errors      ApiError(VobjectsError) and its subclasses
        error.status_for(policy)
        error.document(policy, request_id='', maximum=None) -> dict
    application_errors  those of an application and its servers
        as_api_error(exception, version, limits) -> ApiError
    error_log   log of the errors whose response does not have the reason

    client      negotiation on the client's side
        negotiate(server, client) -> Version
        for_requests(session, url, service_type, client) -> Version
        for_keystoneauth(adapter, client) -> Version
        served_version(headers, service_type) -> Version
        required_version(error document) -> Version
    compat      the functions of microversion-parse, and its middleware

``names`` lists the fields of a request type that come from the body (or from
the query), over all versions of the type. The version of the request decides
which of them exist.
"""

from vobjects import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
