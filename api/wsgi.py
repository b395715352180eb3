# SPDX-License-Identifier: Apache-2.0
"""``api.wsgi:application``, for any WSGI server.

:mod:`api.conf` documents where the configuration comes from.

Nothing is opened before the first use: a server may import this module and
then fork, which neither threads nor connections survive. ``vobjects api``
connects each worker process when it starts.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from oslo_config import cfg
from oslo_log import log as oslo_log

from api import app, authentication, policy
from api import conf as api_conf
from vobjects.cli import special_files
from vobjects.clustering.run import log_setup
from vobjects.clustering.service import SERVICE
from vobjects.lock import installed_locks
from vobjects.objects import manifest
from vobjects.rpc import client_process, server
from vobjects.rpc import conf as rpc_conf

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

LOG = logging.getLogger(__name__)

#: Environment variable with the release to emulate.
EMULATE = 'VOBJECTS_EMULATE'


def configuration(files: Sequence[str] | None = None) -> cfg.ConfigOpts:
    """Read and check the configuration, and set up logging.

    :param files: paths; None for those of the environment variable
    :raises oslo_config.cfg.Error: a file is missing or has an invalid value
    :raises vobjects.exceptions.VobjectsError: see :func:`api.conf.check`,
        :func:`api.authentication.check`, :func:`api.policy.check` and
        :func:`vobjects.rpc.conf.pinned_manifest`
    """
    conf = cfg.ConfigOpts()
    oslo_log.register_options(conf)
    api_conf.load(conf, files)
    special_files.check(conf)
    log_setup.set_up(conf, api_conf.PROJECT)
    api_conf.check(conf)
    authentication.check(conf)
    policy.check(conf)
    rpc_conf.register(conf)
    rpc_conf.pinned_manifest(conf, SERVICE.name)
    return conf


class Application:
    """The WSGI application of this process, connected at first use.

    :ivar stop_timeout: seconds that closing may take; 0 if not connected
    """

    def __init__(self) -> None:
        self.stop_timeout = 0
        self._lock = threading.Lock()
        self._app: WSGIApplication | None = None
        self._client_process: client_process.ClientProcess | None = None

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        return (self._app or self.connect())(environ, start_response)

    def connect(self) -> WSGIApplication:
        """Connect to the engines and join the fleet.

        :returns: the application without this wrapper
        """
        with self._lock:
            if self._app is None:
                conf = configuration()
                self.stop_timeout = conf.api.stop_timeout
                self._client_process = client_process.ClientProcess(
                    *(conf, SERVICE),
                    release=_emulated_release(),
                    max_calls=conf.api.threads,
                )
                self._client_process.start()
                self._app = app.build(
                    conf, self._client_process.client, self._client_process
                )
            return self._app

    def close(self) -> None:
        """Leave the fleet at the end of the process."""
        with self._lock:
            connected, self._client_process, self._app = (
                self._client_process,
                None,
                None,
            )
        if connected is not None:
            connected.stop()


def _emulated_release() -> str:
    """Emulate an older release if the environment names one.

    :returns: name of the release; empty if none
    """
    release = os.environ.get(EMULATE, '')
    if release:
        versions = installed_locks.declared_manifest(
            installed_locks.at_release('clustering', release)
        )
        manifest.emulate(server.emulated_manifest(versions))
    return release


application = Application()
