# SPDX-License-Identifier: Apache-2.0
"""``/healthcheck``: oslo.middleware's, with a check of ours.

``vobjects_fleet`` asks whether an engine answers this process, which it can
only do over the message bus and with its database in reach. A process that
nobody answers can do nothing for clients, and a proxy should send them to
another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from oslo_config import cfg
from oslo_middleware import healthcheck
from oslo_middleware.healthcheck import opts, pluginbase

from api import inputs
from vobjects import exceptions

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

PATH = '/healthcheck'
GROUP = 'healthcheck'

#: Its name among the entry points of ``oslo.middleware.healthcheck``.
FLEET = 'vobjects_fleet'


class Fleet(Protocol):
    """Who knows the engines."""

    def servers(self) -> int:
        """Return how many live; what it knows may be a lease old.

        :raises vobjects.exceptions.NoLivePeer: none answers
        """


class FleetCheck(pluginbase.HealthcheckBaseExtension):
    """Asks whether an engine answers."""

    def healthcheck(self, server_port: int) -> pluginbase.HealthcheckResult:
        """Return what the fleet says."""
        fleet: Fleet = self.conf['fleet']
        try:
            living = fleet.servers()
        except exceptions.FleetError as error:
            # Only the details may tell strangers of hosts and databases.
            return pluginbase.HealthcheckResult(
                False, 'no engine answers', str(error)
            )
        if not living:
            return pluginbase.HealthcheckResult(False, 'no engine lives')
        return pluginbase.HealthcheckResult(
            True, 'engines answer', f'{living} live'
        )


class Page:
    """WSGI middleware that serves the page.

    :param conf: gets the options of ``[healthcheck]``
    """

    def __init__(
        self, app: WSGIApplication, conf: cfg.ConfigOpts, fleet: Fleet
    ) -> None:
        self.app = app
        register(conf)
        found = healthcheck.Healthcheck(app, conf)
        # What oslo.middleware hands to each check.
        found.conf['fleet'] = fleet
        self._checks: Any = found

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        if environ.get('PATH_INFO') != PATH:
            return self.app(environ, start_response)
        inputs.only_read(environ, PATH)
        answer: Iterable[bytes] = self._checks(environ, start_response)
        return answer


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options; harmless when done twice."""
    conf.register_opts(opts.HEALTHCHECK_OPTS, group=GROUP)
    conf.set_default('backends', [FLEET], group=GROUP)
