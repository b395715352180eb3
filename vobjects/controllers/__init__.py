# SPDX-License-Identifier: Apache-2.0
"""Decorators for versioned methods of controllers, in any web framework.

A controller declares each method once per range of versions. Its router calls
``resolve``, and the decorators validate bodies, queries and responses by
the version of the request. The public names come from these modules::

    dispatch          one method name, one function per range of versions
        @api_version('1.0', '1.4')      and again, or @name.api_version('1.5')
        resolve(handler, version) -> function        called by a router
        versioned_of(handler) -> VersionedFunction or None: all functions
    dispatch_check    check that requests can reach all functions
        check(policy, *handlers)        call it at startup
    validation        schemas of bodies, queries and responses
        @schema(definition, '1.0', '1.4')  @query_schema  @response_body_schema
    responses         statuses and errors
        @response(202, '1.5')  @expected_errors((404, 409))
        @gone('1.9', 'Use POST /v1/actions.')             responds 410
        @experimental                   only for requests that opt in
    actions           dispatch by the only key of a body
        @action('resize'); Actions(controller, ...)
    method_spec       spec_of(method) -> MethodSpec: all declarations
        success_status(method, version)
    version_request   the negotiated version of a request
        version_of(request) -> Version
        is_supported(request, min_version, max_version) -> bool
        APIVersionRequest('2.1'), APIVersionRequest(): a Version with the
        constructor that OpenStack controllers use
    request_parsing   a validated part of a request as an object
        parse_body(cls, request, raw, path=) -> cls
        parse_query(cls, request, query_string, path=) -> cls
        parse_values(cls, request, values, path=) -> cls

These modules implement them::

    wrapper           MethodWrapper: enforces a MethodSpec
    compiled_schema   CompiledSchema: validates a value
    ranges            RangeMap: values by range of versions
"""

from vobjects import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
