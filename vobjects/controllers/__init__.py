# SPDX-License-Identifier: Apache-2.0
"""Decorators for versioned methods of controllers, in any web framework.

A controller declares each method once per range of versions. Its router calls
``resolve``, and the decorators validate bodies, queries and responses by
the version of the request::

    api_version, resolve, check         one name, one function per range
    schema, query_schema, response_body_schema
    response, expected_errors, gone, experimental
    action, Actions                     dispatch by the only key of a body
    version_of, is_supported            the negotiated version of a request
    APIVersionRequest                   a Version constructed from text
    parse_body, parse_query, parse_values
                                        a validated part, as an object
    spec_of                             all declarations of a method
"""

from vobjects import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
