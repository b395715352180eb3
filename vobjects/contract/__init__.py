# SPDX-License-Identifier: Apache-2.0
"""The contract of a service, read from its code.

One registry says what may be asked and what is answered at each microversion.
Documents, differences and checks are made from it; nothing else is written.

::

    registry    Contract(policy, operations, history)
        Operation   a method of a path, or one action of it
        Shape       an operation at one microversion: parameters, body,
                    answers by status; JSON schemas of dialect 2020-12
    shapes      schemas of requests and resources, from their types
    walk        the places inside of a schema
    controllers operations(policy, routes): of decorated controllers
    documents   schemas of what every service answers: errors, discovery
    openapi     document(contract, version): OpenAPI 3.1
    changes     between(contract, old, new): what a client gains and loses
                returned(contract): what disappeared and came back
    history     problems(contract): what the history does not tell
                page(contract): the history, in reStructuredText
    commands    `vobjects api history | diff | openapi`

A schema that says nothing, ``{}``, stands for one that nobody declared;
:meth:`Contract.undeclared` finds them.
"""
