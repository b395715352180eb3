# SPDX-License-Identifier: Apache-2.0
"""``api.wsgi:application``, for any WSGI server.

Where the configuration comes from is told in :mod:`api.conf`.

Nothing is opened before the first use: a server may import this module and
then fork, and neither threads nor connections survive that. ``vobjects api``
knows better and has each worker process connect when it starts.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import socket
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from oslo_config import cfg
from oslo_log import log as oslo_log

from api import app, context
from api import conf as api_conf
from vobjects import manifest
from vobjects.clustering import history, topics
from vobjects.lock import shipped
from vobjects.rpc import caller, server

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

LOG = logging.getLogger(__name__)

#: Names the release that this process stands in for, if it does.
EMULATE = 'VOBJECTS_EMULATE'
BINARY = 'vobjects-api'


def configuration(files: Sequence[str] | None = None) -> cfg.ConfigOpts:
    """Return the configuration, with logging set up.

    :param files: None: those of the environment
    :raises oslo_config.cfg.Error: a file is missing or has a bad value
    :raises vobjects.exceptions.VobjectsError: see :func:`api.conf.check` and
        :func:`api.context.check`
    """
    conf = cfg.ConfigOpts()
    oslo_log.register_options(conf)
    api_conf.load(conf, files)
    oslo_log.setup(conf, api_conf.PROJECT)
    api_conf.check(conf)
    context.check(conf)
    return conf


class Application:
    """The WSGI application of this process, connected at first use.

    :ivar stop_timeout: seconds that closing may take; 0: it is not connected
    """

    def __init__(self) -> None:
        self.stop_timeout = 0
        self._lock = threading.Lock()
        self._app: WSGIApplication | None = None
        self._caller: caller.Caller | None = None

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        return (self._app or self.connect())(environ, start_response)

    def connect(self) -> WSGIApplication:
        """Open the connection to the engines, and report to the fleet.

        :returns: the application itself, without this wrapper
        """
        with self._lock:
            if self._app is None:
                conf = configuration()
                self.stop_timeout = conf.api.stop_timeout
                self._caller = _caller(conf)
                self._caller.start()
                self._app = app.build(conf, self._caller.client, self._caller)
            return self._app

    def close(self) -> None:
        """Leave the fleet; for the end of the process."""
        with self._lock:
            connected, self._caller, self._app = self._caller, None, None
        if connected is not None:
            connected.stop()


def _caller(conf: cfg.ConfigOpts) -> caller.Caller:
    return caller.Caller(
        conf,
        exchange=topics.EXCHANGE,
        calls=topics.ENGINE,
        topic=topics.API,
        binary=BINARY,
        host=socket.gethostname(),
        release=_stand_in() or importlib.metadata.version('vobjects'),
        newest=history.MAXIMUM,
        error_modules=topics.ERROR_MODULES,
    )


def _stand_in() -> str:
    """Speak as an older release, if the environment says so.

    :returns: its name
    """
    release = os.environ.get(EMULATE, '')
    if release:
        spoken = shipped.spoken(shipped.release(release))
        manifest.stand_in(server.emulated(spoken))
    return release


application = Application()
