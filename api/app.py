# SPDX-License-Identifier: Apache-2.0
"""The application, put together.

From the outside in::

    RequestIds       an id first: everything after it can be found by it
    CORS             if pages of other origins may use the API: for errors, too
    Counting         outside of what answers
    Faults           so that whatever is raised below is a document
    health.Page      for who asks a moment before sending clients here
    metrics.Page     before a proxy's word is taken for who asks
    HTTPProxyToWSGI  if a proxy is to be believed, before links are made
    ui.Pages         it has no version
    Microversions    before anything looks at the version; it marks every
                     response that comes back through it
    Dispatcher       path and method to a handler, which authenticates: its
                     pages, discovery, are for everybody
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi

from api import conf as api_conf
from api import (
    context,
    cross_origin,
    discovery,
    dispatcher,
    handler,
    health,
    metrics,
    middleware,
    policy,
    routes,
    ui,
)
from vobjects.clustering import types
from vobjects.microversions import policy as version_policy
from vobjects.microversions.middleware import Microversions

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

#: Importing it registered the types that microversions are mapped to.
TYPES = types


class Fleet(Protocol):
    """What the live engines allow."""

    def maximum(self) -> version_policy.Maximum:
        """Return the highest microversion served now; quick, thread-safe.

        :raises vobjects.exceptions.NoLivePeer: no engine is known
        """

    def servers(self) -> int:
        """See :class:`api.health.Fleet`."""

    def fleet_data(self) -> dict[str, Any]:
        """Return what is known of the live processes, as JSON data.

        :raises vobjects.exceptions.NoLivePeer: no engine answers
        """


def build(
    conf: cfg.ConfigOpts, client: handler.Client, fleet: Fleet
) -> WSGIApplication:
    """Return the WSGI application.

    :param conf: with the options of ``api.conf`` registered
    :param client: reaches the engines
    :param fleet: knows them
    :raises vobjects.exceptions.DeclarationError: routes and types disagree
    """
    versions = api_conf.versions(conf)
    public_url = (conf.api.public_endpoint or '').rstrip('/')
    service = handler.Service(
        versions=versions,
        client=client,
        maximum=fleet.maximum,
        authenticate=context.strategy(conf),
        enforcer=policy.Enforcer(conf),
        max_body_size=conf.api.max_body_size,
        public_url=public_url,
    )
    pages = discovery.pages(versions, fleet.maximum, public_url)
    innermost = dispatcher.Dispatcher(routes.ROUTES, pages, service)

    negotiating = Microversions(innermost, versions, fleet.maximum)
    app: WSGIApplication = negotiating
    if conf.api.ui:
        may_see = ui.access(service.authenticate, service.enforcer)
        app = ui.Pages(app, fleet.fleet_data, may_see)
    if _behind_proxy(conf):
        app = http_proxy_to_wsgi.HTTPProxyToWSGI(app, conf)
    counted = conf.api.metrics != 'none'
    if counted:
        # Here: see what it says about when it may be imported.
        from vobjects.microversions import usage

        uses = usage.Usage(versions, max_agents=conf.api.metrics_agents)
        client.on_downgrade = uses.downgraded
        may = metrics.access(conf, service.authenticate, service.enforcer)
        app = metrics.Page(app, uses, fleet.maximum, may)
    app = health.Page(app, conf, fleet)
    app = middleware.Faults(app, negotiating)
    if counted:
        app = usage.Counting(app, uses)
    app = cross_origin.opened(app, conf)
    return middleware.RequestIds(app, log=conf.api.log_requests)


def _behind_proxy(conf: cfg.ConfigOpts) -> bool:
    group = api_conf.OSLO_MIDDLEWARE
    conf.register_opts(http_proxy_to_wsgi.OPTS, group=group)
    return bool(conf[group].enable_proxy_headers_parsing)
