# SPDX-License-Identifier: Apache-2.0
"""Decorators for versioned methods of controllers, in any web framework.

A controller declares each method once per range of versions. Its router calls
``resolve``, and the decorators validate bodies, queries and responses by
the version of the request. The modules are::

    dispatch          api_version, resolve: one name, one function per range
    dispatch_check    check: whether requests can reach all functions
    decorators        schema, query_schema, response_body_schema, response,
                      expected_errors, gone
    actions           action, Actions: dispatch by the only key of a body
    method_spec       spec_of: all declarations of a method
    frameworks        version_of, is_supported, RequestAdapter,
                      APIVersionRequest: a version constructed from text
    request_parsing   parse_body, parse_query, parse_values: parts as objects
    wrapper           MethodWrapper: enforces a MethodSpec
    compiled_schema   CompiledSchema: validates a value
    ranges            RangeMap: values by range of versions
"""

from vobjects import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
