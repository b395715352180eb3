# SPDX-License-Identifier: Apache-2.0
"""The REST API: HTTP to versioned requests, answers to JSON.

In the order a request meets them::

    wsgi        `application` for any WSGI server; connects at first use
    app         the middleware, in order; build(conf, client, fleet)
    middleware  request ids, faults
    dispatcher  path and method to a handler
    routes      the table of every method of the API
    handler     one method: validate, build, send, render
    context     who asks (auth_strategy)
    policy      what they may (oslo.policy)
    inputs      path, query and body of a request, bounded
    answers     engine's answers to response bodies
    metrics     /metrics, and who may read it
    discovery   / and /v1
    errors      what goes wrong to statuses and documents

    contract    what is promised at each microversion
    conf        the options      serving   granian
    cli         `vobjects api`

No module here compares versions: the types of ``vobjects.clustering`` say
what each microversion has.
"""

from __future__ import annotations

# Before anything of oslo is imported that would choose eventlet.
from vobjects import _threading as _threading
