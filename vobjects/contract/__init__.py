# SPDX-License-Identifier: Apache-2.0
"""The REST contract of a service, derived from its code.

One registry holds the request and response schemas of each microversion.
OpenAPI documents, comparisons, checks and the history page are generated from
it.

::

    registry    Contract(policy, operations, history)
        Operation       an HTTP method and path, or one action of it
        OperationShape  an operation at one microversion: parameters, body,
                        responses by status; JSON Schema 2020-12
    type_schemas  schemas of requests and resources, from their types
    schema_tree   traversal of nested schemas
    controllers   operations(policy, routes): from decorated controllers
    documents     schemas of the errors and discovery documents
    openapi       document(contract, version): OpenAPI 3.1
    changes       compare(contract, old, new): changes between microversions
                  returned_parts(contract): parts that were removed and came
                  back
    history       problems(contract): changes missing from the history
                  page(contract): the history, in reStructuredText

An empty schema, ``{}``, marks a part without a declared schema;
:meth:`Contract.undeclared` lists these parts.
"""
