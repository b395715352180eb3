# SPDX-License-Identifier: Apache-2.0
"""The API in granian, which serves WSGI from threads.

What was looked at before trusting it (granian 2.8): several lines of one
header arrive joined by commas; paths arrive percent-decoded, slashes and dots
untouched; chunked bodies arrive whole; HEAD has no body; SIGTERM lets
requests end; a dead worker is replaced. Five things it leaves to us:

- A sized read must not be followed by one without size (``api.inputs``).
- It binds with SO_REUSEPORT, so that a second service on the same port would
  quietly get half of the requests: :func:`_check_free` looks first.
- A worker that is just starting has the parent's signal handlers, and would
  not hear SIGTERM; nor does it end when the parent is killed:
  :func:`end_in_time` sees to both, and :func:`_close` to how long it takes.
- ``atexit`` does not run in workers: :func:`worker` uses what does.
- A client that sends its body slowly holds a thread for as long as it likes.
  Strangers belong behind a proxy that collects bodies first.

Requests that are no HTTP (bad framing, control characters in the request
line, 64 kB of path, more than 100 headers) are answered by granian itself,
with a status and no body.
"""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.util
import signal
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import granian
from granian import constants
from granian import log as granian_log
from oslo_config import cfg
from oslo_log import log as oslo_log
from oslo_service import systemd

from api import conf as api_conf
from api import metrics, wsgi
from vobjects import exceptions
from vobjects.cli import keeper

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

LOG = logging.getLogger(__name__)

#: granian's own records go where ours go.
_LOGGING = {
    'loggers': {'_granian': {'handlers': [], 'propagate': True}},
    'handlers': {},
    'formatters': {},
}


def serve(conf: cfg.ConfigOpts, load: Callable[[], WSGIApplication]) -> int:
    """Serve an application until SIGTERM or SIGINT.

    :param load: called in each worker process; importable by name
    :returns: 0; 1 when workers keep dying
    :raises OSError: the address cannot be listened on
    """
    address = _address(conf.api.host, conf.api.port)
    _check_free(address)
    server = _server(conf, address[0])
    # Again: granian's constructor configures logging, too.
    oslo_log.setup(conf, api_conf.PROJECT)
    LOG.info(
        'Serving on %s port %s with %s process(es) of %s threads',
        *address,
        conf.api.workers,
        conf.api.threads,
    )
    try:
        # With our loader: granian's puts the working directory first on
        # sys.path.
        with metrics.shared(conf):
            server.serve(target_loader=load, wrap_loader=False)
    except SystemExit as ended:
        return int(ended.code or 0)
    LOG.info('Stopped')
    return 0


def worker() -> WSGIApplication:
    """Return the connected application; called in each worker process.

    :raises SystemExit: it cannot be connected; the log says why
    """
    end_in_time()
    try:
        connected = wsgi.application.connect()
    except (exceptions.VobjectsError, cfg.Error, OSError) as error:
        LOG.error('Cannot start: %s', error)
        raise SystemExit(1) from None
    multiprocessing.util.Finalize(None, _close, exitpriority=10)
    systemd.notify_once()
    return connected


def _close() -> None:
    """Leave the fleet, within the time that a parent allows.

    To reach a broker that is away can take for ever, and a parent that was
    killed ends nobody.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(wsgi.application.stop_timeout)
    wsgi.application.close()


def end_in_time() -> None:
    """Have a new worker process end by SIGTERM, and with its parent.

    granian sets handlers of its own when the application is there.

    :raises SystemExit: the parent is gone already
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if (
        parent is not None
        and parent.pid is not None
        and sys.platform == 'linux'
        and not keeper.die_with_parent(signal.SIGTERM, parent.pid)
    ):
        raise SystemExit('the parent process is gone')


def _address(host: str, port: int) -> tuple[str, int]:
    """Return the IP address and port to listen on.

    :raises OSError: the host's name is unknown
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise OSError(
            f'[api] host = {host} cannot be resolved: {error.strerror}'
        ) from None
    # 127.0.0.1 before ::1 where a name has both.
    found.sort(key=lambda item: item[0] is not socket.AF_INET)
    ip, number = found[0][4][:2]
    return str(ip), int(number)


def _check_free(address: tuple[str, int]) -> None:
    """Refuse an address that somebody listens on.

    :raises OSError: naming address and option
    """
    family = socket.AF_INET6 if ':' in address[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise OSError(
                f'cannot listen on {address[0]} port {address[1]}:'
                f' {error.strerror}; set [api] host and port'
            ) from None


def _server(conf: cfg.ConfigOpts, ip: str) -> Any:
    return granian.Granian(
        'api.wsgi:application',
        address=ip,
        port=conf.api.port,
        interface=constants.Interfaces.WSGI,
        http=constants.HTTPModes.http1,
        websockets=False,
        workers=conf.api.workers,
        blocking_threads=conf.api.threads,
        respawn_failed_workers=True,
        workers_kill_timeout=conf.api.stop_timeout,
        log_level=granian_log.LogLevels.error,
        log_dictconfig=_LOGGING,
    )
