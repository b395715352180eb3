# SPDX-License-Identifier: Apache-2.0
"""Run the API in granian.

granian serves :class:`api.asgi.Gateway` over ASGI, because its WSGI interface
does not limit the time of bodies, and its ``wsgi.input`` ends a truncated body
like a complete one.

The following was verified with granian 2.8: paths arrive as the client sent
them; chunked bodies arrive completely; responses to HEAD have no body;
requests finish after SIGTERM; dead workers are replaced. This module handles
the rest:

- granian binds with SO_REUSEPORT, so a second service on the same port would
  silently get half of the requests. :func:`_check_address_is_free` detects
  that.
- A starting worker has the parent's signal handlers and ignores SIGTERM, and
  it survives if the parent is killed. :func:`install_worker_signals` prevents
  both; :func:`_close` limits how long closing takes.
- ``atexit`` does not run in workers. :func:`worker` registers a finalizer of
  multiprocessing instead.
- An idle connection counts against ``[api] max_connections`` until
  ``header_timeout`` closes it. Limit the connections of one client in a proxy
  in front of the API.

granian itself answers malformed HTTP (bad framing, control characters in the
request line, paths over 64 kB, more than 100 headers) with a status and no
body.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import multiprocessing
import multiprocessing.util
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import granian
from granian import constants
from granian import http as granian_http
from granian import log as granian_log
from oslo_config import cfg
from oslo_service import systemd

from api import asgi, metrics_page, wsgi
from api import conf as api_conf
from vobjects import exceptions
from vobjects.cli import collector
from vobjects.clustering.run import allocator, log_setup, subreaper
from vobjects.rpc import conf as rpc_conf

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

LOG = logging.getLogger(__name__)

#: Extra threads for requests that need no engine, such as /healthcheck, while
#: all others wait for engines.
SPARE_THREADS = 8

#: Size in bytes of granian's buffer of a connection: the maximum of the head
#: of a request, and of what waits for a client that does not read.
BUFFER_BYTES = 1 << 17

#: Seconds between attempts to connect to the own port while it is closed.
_PORT_INTERVAL = 0.02

#: Send granian's records to the root logger's handlers.
_LOGGING = {
    'loggers': {'_granian': {'handlers': [], 'propagate': True}},
    'handlers': {},
    'formatters': {},
}


def serve(conf: cfg.ConfigOpts, load: Callable[[], WSGIApplication]) -> int:
    """Serve an application until SIGTERM or SIGINT.

    :param load: called in each worker process; importable by name
    :returns: exit code: 0; 1 if workers keep dying
    :raises OSError: cannot listen on the address
    """
    rpc_conf.register(conf)
    address = _address(conf.api.host, conf.api.port)
    _check_address_is_free(address)
    server = _server(conf, address[0])
    # Again, because granian's constructor reconfigures logging.
    log_setup.set_up(conf, api_conf.PROJECT)
    LOG.info(
        'Serving on %s port %s with %s process(es) of %s threads',
        *address,
        conf.api.workers,
        conf.api.threads,
    )
    try:
        # Pass a loader: granian's own puts the working directory first on
        # sys.path.
        with metrics_page.shared_counters(conf):
            server.serve(
                target_loader=functools.partial(
                    _load_gateway,
                    load,
                    address,
                    threads=conf.api.threads + SPARE_THREADS,
                    body_timeout=conf.api.body_timeout,
                    max_body_size=conf.api.max_body_size,
                    response_timeout=conf.api.response_timeout,
                    max_waiting_bytes=conf.fleet.response_memory,
                ),
                wrap_loader=False,
            )
    except SystemExit as ended:
        return int(ended.code or 0)
    LOG.info('Stopped')
    return 0


def _load_gateway(
    load: Callable[[], WSGIApplication],
    address: tuple[str, int],
    *,
    response_timeout: float,
    **limits: Any,
) -> asgi.Gateway:
    """Return the ASGI application of a worker process."""
    _raise_file_limit()
    allocator.return_large_blocks()
    gateway = asgi.Gateway(load(), response_timeout=response_timeout, **limits)
    collector.end_loading()
    threading.Thread(
        target=_prepare_port,
        args=(*address, response_timeout),
        name='ready',
        daemon=True,
    ).start()
    return gateway


def _prepare_port(host: str, port: int, response_timeout: float) -> None:
    """Prepare the port as soon as it is open, and notify systemd.

    granian opens it some time after the application is loaded.
    """
    while True:
        with contextlib.suppress(OSError):
            socket.create_connection((host, port), timeout=1.0).close()
            break
        time.sleep(_PORT_INTERVAL)
    _close_unread_connections(response_timeout)
    systemd.notify_once()


def _close_unread_connections(seconds: float) -> None:
    """Close new connections whose client reads nothing for some time.

    The kernel closes them, because the end of a response waits in granian's
    buffer, for which granian has no timeout. Connections inherit the option
    from the listening socket, see tcp(7).
    """
    if sys.platform != 'linux':
        return
    for name in os.listdir('/proc/self/fd'):
        with contextlib.suppress(OSError), _duplicate(int(name)) as opened:
            if opened.family != socket.AF_UNIX and opened.getsockopt(
                socket.SOL_SOCKET, socket.SO_ACCEPTCONN
            ):
                opened.setsockopt(
                    socket.IPPROTO_TCP,
                    socket.TCP_USER_TIMEOUT,
                    round(seconds * 1000),
                )


def _duplicate(descriptor: int) -> socket.socket:
    """Return a socket by its file descriptor.

    :raises OSError: it is not open, or not a socket
    """
    duplicate = os.dup(descriptor)
    try:
        return socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise


def _raise_file_limit() -> None:
    """Raise this process's limit of open files to the hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def worker() -> WSGIApplication:
    """Return the connected application; called in each worker process.

    :raises SystemExit: it cannot connect; the log has the reason
    """
    install_worker_signals()
    try:
        connected = wsgi.application.connect()
    except (exceptions.VobjectsError, cfg.Error, OSError) as error:
        LOG.error('Cannot start: %s', error)
        raise SystemExit(1) from None
    multiprocessing.util.Finalize(None, _close, exitpriority=10)
    return connected


def _close() -> None:
    """Leave the fleet, within the time that a parent allows.

    Connecting to an unreachable broker can block forever, and a parent that
    was killed cannot end this process.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(wsgi.application.stop_timeout)
    wsgi.application.close()


def install_worker_signals() -> None:
    """Make a starting worker end on SIGTERM, and with its parent.

    granian installs its own handlers once the application is loaded.

    :raises SystemExit: the parent has already exited
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if (
        parent is not None
        and parent.pid is not None
        and sys.platform == 'linux'
        and not subreaper.die_with_parent(signal.SIGTERM, parent.pid)
    ):
        raise SystemExit('the parent process is gone')


def _address(host: str, port: int) -> tuple[str, int]:
    """Return the IP address and port to listen on.

    :raises OSError: the host name cannot be resolved
    """
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise OSError(
            f'[api] host = {host} cannot be resolved: {error.strerror}'
        ) from None
    # Prefer 127.0.0.1 to ::1 for names that have both.
    addresses.sort(key=lambda item: item[0] is not socket.AF_INET)
    ip, number = addresses[0][4][:2]
    return str(ip), int(number)


def _check_address_is_free(address: tuple[str, int]) -> None:
    """Reject an address that is already in use.

    :raises OSError: names address and option
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
        interface=constants.Interfaces.ASGINL,
        http=constants.HTTPModes.http1,
        http1_settings=granian_http.HTTP1Settings(
            header_read_timeout=round(conf.api.header_timeout * 1000),
            max_buffer_size=BUFFER_BYTES,
        ),
        websockets=False,
        workers=conf.api.workers,
        backpressure=conf.api.max_connections,
        respawn_failed_workers=True,
        workers_kill_timeout=conf.api.stop_timeout,
        log_level=granian_log.LogLevels.error,
        log_dictconfig=_LOGGING,
    )
