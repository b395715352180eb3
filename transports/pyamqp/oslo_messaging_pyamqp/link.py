# SPDX-License-Identifier: Apache-2.0
"""A connection that is restored when it is lost, and its reading thread."""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable

import amqp
import oslo_messaging

from oslo_messaging_driverlib.deadline import Deadline
from oslo_messaging_pyamqp.broker_connection import (
    CONNECT_TIMEOUT,
    METHOD_TIMEOUT,
    BrokerConnection,
)
from oslo_messaging_pyamqp.settings import Host, Settings

#: Separate from the generator of the module `random`, whose state belongs to
#: the application.
_RANDOM = random.Random()  # noqa: S311

# Workers must not connect again at the same moments.
os.register_at_fork(after_in_child=_RANDOM.seed)

LOG = logging.getLogger(__name__)

#: A connection that ends earlier counts as failed if the one before did, too;
#: in seconds.
SHORT = 1.0

#: Errors of a declaration that another attempt would repeat.
REJECTIONS = (
    amqp.AccessRefused,
    amqp.PreconditionFailed,
    amqp.ResourceLocked,
)

_BLOCKED = (
    'RabbitMQ accepts no messages, because it has run out of memory or disk'
    ' space'
)


class OutageLog:
    """Logs each reason of an outage once, for all connections of a driver."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reasons: set[str] = set()

    def failed(self, host: Host, reason: str) -> None:
        """Log that a connection failed, unless the reason is known."""
        text = f'{host}: {reason}'
        with self._lock:
            is_new = text not in self._reasons
            self._reasons.add(text)
        if is_new:
            LOG.error('RabbitMQ at %s; connecting again', text)

    def connected(self, host: Host) -> None:
        """Log the end of an outage."""
        with self._lock:
            had_outage = bool(self._reasons)
            self._reasons.clear()
        if had_outage:
            LOG.info('Connected to RabbitMQ at %s again', host)


class Link:
    """Connects in its own thread, reads, and connects again.

    :param name: name of the thread
    :param settings: hosts and options
    :param outages: log of all connections of the driver
    :param on_connect: prepares a new connection, in the reading thread
    :param on_lost: called in the reading thread when a prepared connection is
        lost
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        outages: OutageLog,
        on_connect: Callable[[BrokerConnection], None],
        on_lost: Callable[[Exception], None],
    ) -> None:
        self._name = name
        self._settings = settings
        self._outages = outages
        self._on_connect = on_connect
        self._on_lost = on_lost
        self._hosts = list(settings.hosts)
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._connection: BrokerConnection | None = None
        self._is_ready = False
        self._is_blocked = False
        self._is_closed = False
        self._is_resting = False
        self._failures = 0
        #: Number of the last failure that the broker explains by its limits or
        #: permissions, so that the next attempt will fail, too.
        self._rejection = 0
        #: Host -> why its last connection failed, until one succeeds.
        self._reasons: dict[Host, str] = {}

    def start(self) -> None:
        """Start connecting; further calls have no effect."""
        if self._thread is not None:
            return
        with self._changed:
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(
                    target=self._run, name=self._name, daemon=True
                )
                self._thread.start()

    @property
    def is_ready(self) -> bool:
        """Whether the link is connected and the broker accepts messages."""
        return self._is_ready and not self._is_blocked

    def wait(self, deadline: Deadline, retry: int | None = None) -> None:
        """Wait until the link is connected and the broker accepts messages.

        :param retry: maximum number of attempts to connect after the first
            failed one; None or negative: until the deadline
        :raises oslo_messaging.MessageDeliveryFailure: too many attempts, the
            broker rejects a queue or an exchange, or the link is closed
        :raises TimeoutError: the timeout expired
        """
        self.start()
        limit = float('inf') if retry is None or retry < 0 else retry
        with self._changed:
            # An attempt that failed just now counts for this caller, too.
            before = self._failures - self._is_resting
            while not self.is_ready:
                if self._is_closed:
                    raise oslo_messaging.MessageDeliveryFailure(
                        'the transport is closed'
                    )
                if self._failures - before > limit or (
                    self._rejection > before
                ):
                    raise oslo_messaging.MessageDeliveryFailure(self.problem())
                if self._is_blocked and not limit:
                    raise oslo_messaging.MessageDeliveryFailure(self.problem())
                self._changed.wait(deadline.remaining())

    def problem(self) -> str:
        """Return why the link is not ready, as a clause; empty: unknown."""
        if self._is_ready:
            return _BLOCKED if self._is_blocked else ''
        reasons = [f'{host}: {why}' for host, why in self._reasons.items()]
        if reasons:
            return f'cannot connect to RabbitMQ at {"; ".join(reasons)}'
        hosts = ', '.join(str(host) for host in self._settings.hosts)
        return f'RabbitMQ at {hosts} does not respond'

    def abort(self) -> None:
        """Break the connection, so that the link connects again."""
        with self._changed:
            if self._connection is not None:
                self._connection.abort()

    def close(self) -> None:
        """Close the connection and end the thread."""
        with self._changed:
            self._is_closed = True
            connection, thread = self._connection, self._thread
            self._changed.notify_all()
        if connection is not None and self._is_ready:
            try:
                connection.request_close()
            except (OSError, amqp.AMQPError):
                connection.abort()
        elif connection is not None:
            connection.abort()
        if thread is None or thread is threading.current_thread():
            return
        thread.join(CONNECT_TIMEOUT)
        if thread.is_alive() and connection is not None:
            connection.abort()
            thread.join(CONNECT_TIMEOUT)

    def close_in_child(self) -> None:
        """Release the parent's connection in a child process."""
        if self._connection is not None:
            self._connection.close_inherited()

    def _run(self) -> None:
        pause, was_short = 0.0, False
        while not self._is_closed:
            start = time.monotonic()
            try:
                was_connected = self._serve_any()
            except Exception:
                # Nobody would read again if this thread ended.
                LOG.exception('Connecting to RabbitMQ again')
                was_connected = False
            if was_connected:
                # Connect again at once. Pause only if a broker or a proxy
                # closes each new connection.
                is_short = time.monotonic() - start < SHORT
                if not (is_short and was_short):
                    pause, was_short = 0.0, is_short
                    continue
            elif self._settings.shuffle:
                _RANDOM.shuffle(self._hosts)
            pause = min(
                pause + self._settings.retry_step
                if pause
                else self._settings.retry_start,
                self._settings.retry_max,
            )
            self._rest(pause * _RANDOM.uniform(0.8, 1.0))

    def _serve_any(self) -> bool:
        """Serve the first host that can be connected, and return whether."""
        return any(
            self._serve(host)
            for host in list(self._hosts)
            if not self._is_closed
        )

    def _rest(self, seconds: float) -> None:
        with self._changed:
            self._is_resting = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_closed, seconds)
            self._is_resting = False

    def _serve(self, host: Host) -> bool:
        """Connect to a host and read until the connection is lost.

        :returns: whether it was connected; the next attempt then begins with
            the next host
        """
        connection = BrokerConnection(host, self._settings, self._set_blocked)
        is_logged_in = was_ready = False
        try:
            with self._changed:
                if self._is_closed:
                    return False
                self._connection = connection
            # Heartbeats must not prolong the wait for a response.
            connection.deadline = time.monotonic() + METHOD_TIMEOUT
            connection.connect()
            is_logged_in = True
            self._on_connect(connection)
            connection.deadline = None
            was_ready = True
            self._outages.connected(host)
            with self._changed:
                self._is_ready = True
                self._reasons = {}
                self._changed.notify_all()
            while connection.connected:
                connection.blocking_read()
            error: Exception = ConnectionError('the connection is closed')
        except Exception as caught:  # noqa: BLE001 - py-amqp raises many types
            error = caught
        with self._changed:
            self._is_ready = self._is_blocked = False
            self._connection = None
            self._reasons = {**self._reasons, host: describe(error)}
            if not was_ready:
                self._failures += 1
                if is_logged_in and isinstance(error, REJECTIONS):
                    self._rejection = self._failures
            self._changed.notify_all()
        if not self._is_closed:
            self._outages.failed(host, describe(error))
            LOG.debug('Connection to %s', host, exc_info=error)
            self._hosts.append(self._hosts.pop(0))
        try:
            connection.collect()
        finally:
            if was_ready:
                self._on_lost(error)
        return was_ready

    def _set_blocked(self, is_blocked: bool) -> None:
        if is_blocked:
            LOG.error('%s', _BLOCKED)
        else:
            LOG.info('RabbitMQ accepts messages again')
        with self._changed:
            self._is_blocked = is_blocked
            self._changed.notify_all()


def describe(error: Exception) -> str:
    """Return an error of a connection as one line."""
    if isinstance(error, amqp.AMQPError) and error.reply_text:
        reason = str(error.reply_text).rstrip('.')
        if isinstance(error, (amqp.AccessRefused, amqp.NotAllowed)):
            reason += (
                '; check user, password and virtual host in the URL, and the'
                ' permissions of the user'
            )
        return reason
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
