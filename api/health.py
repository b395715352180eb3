# SPDX-License-Identifier: Apache-2.0
"""``/healthcheck``: oslo.middleware's health check with a fleet backend.

The backend ``vobjects_fleet`` checks whether an engine answers this process.
An engine can answer only over the message bus and with its database in reach.
If no engine answers, the process cannot serve clients, and a proxy should
route them to another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import webob
from oslo_config import cfg
from oslo_middleware import healthcheck
from oslo_middleware.healthcheck import opts, pluginbase

from vobjects import exceptions
from vobjects.microversions import application_errors

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from vobjects.rpc.client_process import ClientProcess

PATH = '/healthcheck'
GROUP = 'healthcheck'

#: Entry point of this check in ``oslo.middleware.healthcheck``.
BACKEND = 'vobjects_fleet'


class FleetCheck(pluginbase.HealthcheckBaseExtension):
    """Check whether an engine answers."""

    def healthcheck(self, server_port: int) -> pluginbase.HealthcheckResult:
        """Return the result of the check."""
        fleet: ClientProcess = self.conf['fleet']
        try:
            count = fleet.server_count()
        except exceptions.FleetError as error:
            # Only the details may reveal hosts and databases.
            return pluginbase.HealthcheckResult(
                False, 'no engine answers', str(error)
            )
        if not count:
            return pluginbase.HealthcheckResult(False, 'no live engine')
        return pluginbase.HealthcheckResult(
            True, 'engines answer', f'{count} live'
        )


class HealthPage(healthcheck.Healthcheck):
    """oslo.middleware's page, which also tells clients when to retry."""

    def process_request(self, req: webob.Request) -> webob.Response | None:
        """Return the response; None for clients that it does not serve."""
        response: webob.Response | None = super().process_request(req)
        if response is not None and response.status_int == 503:
            response.retry_after = application_errors.RetryLater.SECONDS
        return response


def page(
    app: WSGIApplication, conf: cfg.ConfigOpts, fleet: ClientProcess
) -> WSGIApplication:
    """Return the application that serves the page.

    :param app: serves clients outside of ``allowed_source_ranges``
    :param conf: the options of ``[healthcheck]`` are registered in it
    """
    register_options(conf)
    checks: Any = HealthPage(app, conf)
    # oslo.middleware passes this dict to each check.
    checks.conf['fleet'] = fleet
    return cast('WSGIApplication', checks)


def register_options(conf: cfg.ConfigOpts) -> None:
    """Register the options; repeated calls are harmless."""
    conf.register_opts(opts.HEALTHCHECK_OPTS, group=GROUP)
    conf.set_default('backends', [BACKEND], group=GROUP)
