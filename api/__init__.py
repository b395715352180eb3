# SPDX-License-Identifier: Apache-2.0
"""The REST API: translates HTTP requests to engine requests and back.

Modules, in the order in which a request passes through them::

    wsgi        `application` for any WSGI server; connects at first use
    app         builds the middleware stack: build(conf, client, fleet)
    middleware  request IDs, request log, error documents
    dispatcher  maps path and method to a handler
    routes      the route table
    handler     one route: validate, build the request, send, render
    context     authenticates the caller (auth_strategy)
    policy      authorizes the caller (oslo.policy)
    inputs      path, query and body of a request, with size limits
    answers     renders engine results as response bodies
    metrics     /metrics and its access control
    discovery   / and /v1
    errors      maps exceptions to statuses and error documents

    contract    the contract of each microversion
    conf        configuration options
    serving     granian workers
    cli         `vobjects api`

No module here compares versions: the types of ``vobjects.clustering`` declare
the contents of each microversion.
"""

from __future__ import annotations

# Must precede any oslo import that would choose eventlet.
from vobjects import _threading as _threading
