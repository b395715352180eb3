# SPDX-License-Identifier: Apache-2.0
"""``/healthcheck``: oslo.middleware's health check with a fleet backend.

The backend ``vobjects_fleet`` checks whether an engine answers this process.
An engine can answer only over the message bus and with its database in reach.
If no engine answers, the process cannot serve clients, and a proxy should
route them to another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from oslo_config import cfg
from oslo_middleware import healthcheck
from oslo_middleware.healthcheck import opts, pluginbase

from api import request_body
from vobjects import exceptions

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

PATH = '/healthcheck'
GROUP = 'healthcheck'

#: Entry point of this check in ``oslo.middleware.healthcheck``.
BACKEND = 'vobjects_fleet'


class Fleet(Protocol):
    """Tracks the live engines."""

    def servers(self) -> int:
        """Return the number of live engines; may be out of date by a lease.

        :raises vobjects.exceptions.NoLivePeer: no engine answers
        """


class FleetCheck(pluginbase.HealthcheckBaseExtension):
    """Check whether an engine answers."""

    def healthcheck(self, server_port: int) -> pluginbase.HealthcheckResult:
        """Return the result of the check."""
        fleet: Fleet = self.conf['fleet']
        try:
            living = fleet.servers()
        except exceptions.FleetError as error:
            # Only the details may reveal hosts and databases.
            return pluginbase.HealthcheckResult(
                False, 'no engine answers', str(error)
            )
        if not living:
            return pluginbase.HealthcheckResult(False, 'no engine lives')
        return pluginbase.HealthcheckResult(
            True, 'engines answer', f'{living} live'
        )


class Page:
    """WSGI middleware that serves ``/healthcheck``.

    :param conf: the options of ``[healthcheck]`` are registered in it
    """

    def __init__(
        self, app: WSGIApplication, conf: cfg.ConfigOpts, fleet: Fleet
    ) -> None:
        self.app = app
        register_options(conf)
        found = healthcheck.Healthcheck(app, conf)
        # oslo.middleware passes this dict to each check.
        found.conf['fleet'] = fleet
        self._checks: Any = found

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        if environ.get('PATH_INFO') != PATH:
            return self.app(environ, start_response)
        request_body.only_read(environ, PATH)
        answer: Iterable[bytes] = self._checks(environ, start_response)
        return answer


def register_options(conf: cfg.ConfigOpts) -> None:
    """Register the options; repeated calls are harmless."""
    conf.register_opts(opts.HEALTHCHECK_OPTS, group=GROUP)
    conf.set_default('backends', [BACKEND], group=GROUP)
