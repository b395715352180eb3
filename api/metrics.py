# SPDX-License-Identifier: Apache-2.0
"""``/metrics`` in the Prometheus format, shared by all worker processes.

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

from api import conf as api_conf
from api import context, errors, policy, request_body
from vobjects import exceptions
from vobjects.versions import Maximum

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

    from vobjects.microversions.usage_metrics import UsageMetrics

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


class Page:
    """WSGI middleware that serves the metrics.

    :param maximum: returns the highest microversion served now
    :param may: raises an error if the caller may not read the metrics
    """

    def __init__(
        self,
        app: WSGIApplication,
        usage: UsageMetrics,
        maximum: Callable[[], Maximum],
        may: Callable[[WSGIEnvironment], None],
    ) -> None:
        self.app = app
        self._usage = usage
        self._maximum = maximum
        self._may = may

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        if environ.get('PATH_INFO') != PATH:
            return self.app(environ, start_response)
        request_body.only_read(environ, PATH)
        self._may(environ)
        media_type, content = self._usage.text(self._minor())
        headers = [
            ('Content-Type', media_type),
            ('Content-Length', str(len(content))),
        ]
        start_response('200 OK', headers)
        return [] if environ['REQUEST_METHOD'] == 'HEAD' else [content]

    def _minor(self) -> int:
        try:
            maximum = self._usage.policy.limit(self._maximum())
        except exceptions.NoLivePeer:
            return -1
        return maximum.version.minor


def access_check(
    conf: cfg.ConfigOpts,
    authenticate: context.Authenticate,
    enforcer: policy.Enforcer,
) -> Callable[[WSGIEnvironment], None]:
    """Return a function that rejects callers without access to the metrics.

    It raises api.errors.Forbidden, or any error of ``authenticate``.
    """

    def to_loopback(environ: WSGIEnvironment) -> None:
        passed_on = any(name in environ for name in _FORWARDED)
        address = environ.get('REMOTE_ADDR', '')
        if passed_on or not api_conf.is_loopback(address):
            raise errors.NotLocal(
                f'{PATH} is for requests from the machine of the API that no'
                ' proxy has passed on; [api] metrics in its configuration'
                ' admits others.'
            )

    def to_admins(environ: WSGIEnvironment) -> None:
        if not enforcer.is_admin(authenticate(environ)):
            raise errors.Forbidden(policy.IS_ADMIN)

    def to_all(environ: WSGIEnvironment) -> None:
        """Admit every caller."""

    return {'loopback': to_loopback, 'admin': to_admins, 'all': to_all}[
        conf.api.metrics
    ]


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
        named = conf.api.metrics_directory
        if named is None:
            named = stack.enter_context(
                tempfile.TemporaryDirectory(prefix='vobjects-metrics-')
            )
        directory = pathlib.Path(named)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in directory.glob('*_*.db'):
            file.unlink()
        os.environ[DIRECTORY] = str(directory)
        try:
            yield
        finally:
            del os.environ[DIRECTORY]
