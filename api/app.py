# SPDX-License-Identifier: Apache-2.0
"""Assemble the WSGI application.

From the outside in::

    RequestIds       outermost, so that every log line can have the ID
    tracing          only with the SDK of OpenTelemetry
    CORS             only with [cors] allowed_origin; covers errors, too
    UsageMiddleware  outside of everything that creates responses
    FaultWrapper     turns exceptions of middlewares into error documents
    Pages            /healthcheck, /metrics and /ui, which have no microversion
    TrustedHosts     stops DNS rebinding for everything below
    HTTPProxyToWSGI  if proxy headers are trusted; before links are made;
                     with a second TrustedHosts, for the forwarded name
    CrossOriginProtection
                     stops cross-site requests that change something
    Microversions    before anything reads the version; adds its headers to
                     every response that passes back through it
    Discovery        public documents at / and /v1
    Dispatcher       maps path and method to a handler, which authenticates

Pages have their own TrustedHosts, except /healthcheck, which proxies request
before they route clients here. /metrics does not get HTTPProxyToWSGI, which
would replace the caller's address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi

from api import (
    authentication,
    browsers,
    dispatcher,
    health,
    metrics_page,
    middleware,
    policy,
    request_log,
    routes,
    ui,
)
from api import conf as api_conf
from api.service import Service
from vobjects.clustering import types
from vobjects.microversions import tracing
from vobjects.microversions.middleware import Discovery, Microversions
from vobjects.rpc import byte_budget
from vobjects.rpc import conf as rpc_conf

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from api.ui import sign_in
    from vobjects.rpc.client import Client
    from vobjects.rpc.client_process import ClientProcess

#: The import registers the types that microversions are mapped to.
TYPES = types


def build(
    conf: cfg.ConfigOpts, client: Client, fleet: ClientProcess
) -> WSGIApplication:
    """Build the WSGI application.

    :param conf: configuration with the options of ``api.conf`` registered
    :param client: sends requests to engines
    :param fleet: tracks the live engines
    :raises vobjects.exceptions.DeclarationError: routes and types disagree
    """
    rpc_conf.register(conf)
    versions = api_conf.version_policy(conf)
    service = Service(
        versions=versions,
        client=client,
        maximum=fleet.maximum,
        authenticate=authentication.strategy(conf),
        enforcer=policy.Enforcer(conf),
        max_body_size=conf.api.max_body_size,
        strict_requests=conf.api.strict_requests,
        max_json_size=conf.api.max_json_size,
        max_limit=conf.api.max_limit,
        lists=byte_budget.ByteBudget(conf.fleet.response_memory),
        public_url=(conf.api.public_endpoint or '').rstrip('/'),
    )
    documents = Discovery(
        dispatcher.Dispatcher(routes.ROUTES, service),
        versions,
        service.public_url,
    )
    negotiating = Microversions(documents, versions, fleet.maximum)
    app: WSGIApplication = negotiating
    if conf.api.auth_strategy in browsers.AMBIENT_AUTH:
        app = browsers.CrossOriginProtection(app, conf)
    app = _with_trusted_hosts(app, conf)

    pages = {health.PATH: health.page(app, conf, fleet)}
    counted = conf.api.metrics != 'none'
    if counted:
        # Imported here because the import reads an environment variable,
        # which must be set by then.
        from vobjects.microversions import usage_metrics

        usage = usage_metrics.UsageMetrics(
            versions, max_agents=conf.api.metrics_agents
        )
        client.on_downgrade = usage.count_downgrade
        check_access = metrics_page.access_check(
            conf, service.authenticate, service.enforcer
        )
        pages[metrics_page.PATH] = browsers.TrustedHosts(
            metrics_page.page(usage, fleet, check_access), conf
        )
    if conf.api.ui:
        page = ui.page(
            fleet.fleet_data,
            client.call,
            service.authenticate,
            service.enforcer,
            _keystone_sign_in(conf),
            conf.api.trace_url,
        )
        page = browsers.CrossOriginProtection(page, conf)
        page = _with_trusted_hosts(page, conf)
        pages |= dict.fromkeys(ui.PATHS, page)

    app = middleware.Pages(app, pages, ui.WRITABLE_PATHS)
    app = middleware.FaultWrapper(app, negotiating)
    if counted:
        app = usage_metrics.UsageMiddleware(app, usage)
    app = browsers.with_cors(app, conf)
    app = tracing.traced(app)
    log = request_log.RequestLog() if conf.api.log_requests else None
    return middleware.RequestIds(app, log)


def _keystone_sign_in(conf: cfg.ConfigOpts) -> sign_in.KeystoneSignIn | None:
    if conf.api.auth_strategy != 'keystone':
        return None
    # Imported here, so that only the chosen strategy is loaded.
    from api.ui import sign_in

    return sign_in.KeystoneSignIn(conf)


def _with_trusted_hosts(
    app: WSGIApplication, conf: cfg.ConfigOpts
) -> WSGIApplication:
    """Check Host, and also the forwarded host if proxy headers are trusted."""
    group = api_conf.OSLO_MIDDLEWARE
    conf.register_opts(http_proxy_to_wsgi.OPTS, group=group)
    if conf[group].enable_proxy_headers_parsing:
        app = browsers.TrustedHosts(app, conf)
        app = http_proxy_to_wsgi.HTTPProxyToWSGI(app, conf)
    return browsers.TrustedHosts(app, conf)
