# SPDX-License-Identifier: Apache-2.0
"""The REST contract of a service, derived from its code.

One registry holds the request and response schemas of each microversion.
OpenAPI documents, comparisons, checks and the history page are generated from
it.

An empty schema, ``{}``, marks a part without a declared schema;
:meth:`~vobjects_contract.registry.Contract.undeclared` lists these parts.

::

    changes       compare the contract of two microversions
    command       `vobjects contract`, and its commands for those of a service
    controllers   derive the contract from decorated controllers
    standard_schemas  schemas of the errors and of the discovery documents
    history_check  check the API history against the contract, and render both
                  as a page
    openapi       write the contract of one microversion as an OpenAPI 3.1
                  document
    registry      the contract registry: operation and microversion -> shape
    schema_tree   traverse the subschemas of a JSON schema (2020-12)
    typed_routes  derive the contract from request types
    type_schemas  JSON schemas of requests and resources, derived from their
                  types
"""

from vobjects import _lazy

#: Summary of the command, for ``vobjects --help``.
SUMMARIES = {
    'contract': 'print the OpenAPI, history and differences of an API',
}

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
