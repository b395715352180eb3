# SPDX-License-Identifier: Apache-2.0
"""The REST API: translates HTTP requests to engine requests and back.

Modules, in the order in which a request passes through them::

    asgi          runs the WSGI application in an ASGI server
    request_threads  threads for the calls of the application
    outbox        sends responses in parts, and closes those that nobody reads
    wsgi          `application` for any WSGI server; connects at first use
    app           builds the middleware stack: build(conf, client, fleet)
    middleware    request IDs, error documents, pages
    request_log   a line for each request
    browsers      CORS headers; rejects DNS rebinding and cross-site requests
    health        /healthcheck
    metrics_page  /metrics and its access control; the metrics are in
                  vobjects.microversions.usage_metrics
    ui            /ui, a console for the browser
    dispatcher    maps path and method to a handler; serves / and /v1
    routes        the route table
    authentication  authenticates the caller: a strategy per auth_strategy
    basic_auth    the strategy for names and passwords
    keystone      the strategy for Keystone tokens
    check_limiter  limits concurrent password checks
    service       what all handlers share
    handler       one route: build the request, send, render
    request_builder  validates path, query and body
    engine_calls  sends requests; errors of engines that are too old
    policy        authorizes the caller (oslo.policy)
    request_body  path and body of a request, with size limits
    senlin_messages  Senlin's messages for invalid requests
    renderers     renders engine results as response bodies
    errors        maps exceptions to statuses and error documents

    contract      the contract of each microversion
    conf          configuration options
    serving       granian workers
    cli           `vobjects api`

No module here compares versions: the types of ``vobjects.clustering`` declare
the contents of each microversion.
"""
