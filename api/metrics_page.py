# SPDX-License-Identifier: Apache-2.0
"""The page ``/metrics``, which all worker processes share.

:mod:`vobjects.microversions.usage_metrics` defines the metrics.

``[api] metrics`` controls access:

========  ==================================================================
loopback  requests from this machine that no proxy has forwarded. A proxy
          that adds no forwarding headers must not forward this path
admin     callers that ``context_is_admin`` allows
all       every client that can reach the API
none      disabled; the path does not exist
========  ==================================================================
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from oslo_config import cfg

from api import authentication, errors, middleware, policy
from api import conf as api_conf
from vobjects import exceptions

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

    from vobjects.microversions.usage_metrics import UsageMetrics
    from vobjects.rpc.client_process import ClientProcess

PATH = '/metrics'

#: As in :mod:`vobjects.microversions.usage_metrics`, which must be imported
#: only after this variable is set.
DIRECTORY = 'PROMETHEUS_MULTIPROC_DIR'

#: Headers that mark a forwarded request.
_FORWARDED = (
    'HTTP_FORWARDED',
    'HTTP_VIA',
    'HTTP_X_FORWARDED_FOR',
    'HTTP_X_FORWARDED_HOST',
    'HTTP_X_FORWARDED_PREFIX',
    'HTTP_X_FORWARDED_PROTO',
    'HTTP_X_REAL_IP',
)


def page(
    usage: UsageMetrics,
    fleet: ClientProcess,
    check_access: Callable[[WSGIEnvironment], None],
) -> WSGIApplication:
    """Return the application that serves the page.

    :param fleet: the live engines and the highest microversion served now
    :param check_access: raises an error if the caller may not read the metrics
    """

    def serve(
        environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        check_access(environ)
        minor = -1
        # The maximum alone remains the last known one without an engine.
        with contextlib.suppress(exceptions.NoLivePeer):
            if fleet.known_server_count():
                maximum = usage.policy.limit(fleet.maximum())
                minor = maximum.version.minor
        media_type, content = usage.text(minor)
        return middleware.send_page(
            environ, start_response, content, media_type
        )

    return serve


def access_check(
    conf: cfg.ConfigOpts,
    authenticate: authentication.Authenticate,
    enforcer: policy.Enforcer,
) -> Callable[[WSGIEnvironment], None]:
    """Return a function that rejects callers without access to the metrics.

    It raises api.errors.Forbidden, or any error of ``authenticate``.
    """

    def require_local(environ: WSGIEnvironment) -> None:
        forwarded = any(name in environ for name in _FORWARDED)
        address = environ.get('REMOTE_ADDR', '')
        if forwarded or not api_conf.is_loopback(address):
            raise errors.NotLocal(
                f'{PATH} accepts only requests from the machine of the API'
                ' that no proxy has forwarded; set [api] metrics to admin or'
                ' all to accept others.'
            )

    def require_admin(environ: WSGIEnvironment) -> None:
        if not enforcer.is_admin(authenticate(environ)):
            raise errors.Forbidden(policy.IS_ADMIN)

    def allow_all(environ: WSGIEnvironment) -> None:
        """Accept every caller."""

    return {
        'loopback': require_local,
        'admin': require_admin,
        'all': allow_all,
    }[conf.api.metrics]


@contextlib.contextmanager
def shared_counters(conf: cfg.ConfigOpts) -> Iterator[None]:
    """Share the counters of worker processes started in this context.

    Counters of an earlier run are removed.

    :raises OSError: the directory is not usable
    """
    if conf.api.metrics == 'none':
        yield
        return
    with contextlib.ExitStack() as stack:
        path = conf.api.metrics_directory
        if path is None:
            path = stack.enter_context(
                tempfile.TemporaryDirectory(prefix='vobjects-metrics-')
            )
        directory = pathlib.Path(path)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in directory.glob('*_*.db'):
            file.unlink()
        os.environ[DIRECTORY] = str(directory)
        try:
            yield
        finally:
            del os.environ[DIRECTORY]
