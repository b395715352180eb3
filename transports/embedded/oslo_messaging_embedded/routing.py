# SPDX-License-Identifier: Apache-2.0
"""Select a server for each message, and try another if it fails.

Messages go to the servers of their topic in turn. A message that was not
handled (:class:`~oslo_messaging_embedded.errors.NotHandled`) goes to the next
server. After all servers have been tried, or if there is none, the router
searches again after a short pause, until the timeout. A message that may have
been handled is never sent again.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import secrets
import threading
import time

import oslo_messaging

from oslo_messaging_driverlib.deadline import Deadline
from oslo_messaging_driverlib.errors import AnswerLost
from oslo_messaging_embedded import errors, framing
from oslo_messaging_embedded.connection import Connection
from oslo_messaging_embedded.directory import Address, Directory
from oslo_messaging_embedded.framing import Frame, FrameKind
from oslo_messaging_embedded.server_connections import (
    ConnectionPool,
    TopicServers,
)

LOG = logging.getLogger(__name__)

#: First pause before another search, in seconds; it doubles up to the option.
FIRST_PAUSE = 0.005


class Router:
    """Sends the messages of one driver instance.

    :param directory: of the sockets
    :param limit: maximum length of the payload of a frame, in bytes
    :param max_idle: number of idle connections to keep to each server
    :param interval: longest pause between searches for a server, in seconds
    """

    def __init__(
        self, directory: Directory, limit: int, max_idle: int, interval: float
    ) -> None:
        self._directory = directory
        self._limit = limit
        self._max_idle = max_idle
        self._interval = interval
        self._topics: dict[tuple[str, str], TopicServers] = {}
        self._lock = threading.Lock()
        self._closed = False
        # A random start, so that the numbers of two processes differ in a log.
        self._numbers = itertools.count(secrets.randbits(62))

    def send(
        self,
        kind: FrameKind,
        address: Address,
        payload: bytes,
        deadline: Deadline,
        retry: int | None,
    ) -> Frame:
        """Send a message to one server.

        :param kind: CALL, or CAST, which goes into the server's queue
        :param retry: number of further searches for a server; None or -1:
            unlimited
        :returns: the REPLY or FAILURE of a call, or ACCEPTED
        :raises oslo_messaging.MessagingTimeout: no server received the call or
            responded in time
        :raises oslo_messaging_driverlib.errors.AnswerLost: the connection was
            lost after the server may have begun with the call
        :raises oslo_messaging.MessageDeliveryFailure: the message was not
            delivered
        """
        number = next(self._numbers)
        data = framing.pack(kind, number, payload, self._limit)
        topic = self._topic(address)
        pause = FIRST_PAUSE
        try:
            for search in itertools.count():
                servers = topic.servers(address.server)
                for server in servers:
                    with contextlib.suppress(errors.NotHandled):
                        return _exchange(
                            server, address, kind, number, data, deadline
                        )
                if retry is not None and 0 <= retry <= search:
                    break
                remaining = deadline.remaining()
                time.sleep(
                    pause if remaining is None else min(pause, remaining)
                )
                pause = min(pause * 2, self._interval)
        except TimeoutError as error:
            timeout_class = (
                oslo_messaging.MessagingTimeout
                if kind is FrameKind.CALL
                else oslo_messaging.MessageDeliveryFailure
            )
            raise timeout_class(
                f'{str(error) or _not_sent(address, servers)};'
                f' waited {deadline}'
            ) from None
        raise oslo_messaging.MessageDeliveryFailure(
            f'{_not_sent(address, servers)};'
            f' searched {(retry or 0) + 1} time(s)'
        )

    def fanout(self, address: Address, payload: bytes, seconds: float) -> None:
        """Send a message to every server of a topic.

        Servers that leave meanwhile are skipped; a server that reads too
        slowly is logged.

        :param seconds: timeout for each server, in seconds
        """
        number = next(self._numbers)
        data = framing.pack(FrameKind.FANOUT, number, payload, self._limit)
        for server in self._topic(address).all_servers():
            try:
                deadline = Deadline(seconds)
                with server.connection(deadline) as connection:
                    connection.send(data, deadline)
            except TimeoutError:
                LOG.warning(
                    'A server of %s did not accept a fanout message within'
                    ' %g s and misses it',
                    address,
                    seconds,
                )
            except errors.NotHandled:
                LOG.debug('A server of %s has left', address)

    def close(self) -> None:
        """Close all connections; busy ones after their use."""
        with self._lock:
            self._closed = True
            topics = list(self._topics.values())
        for topic in topics:
            topic.close()

    def close_in_child(self) -> None:
        """Discard the inherited connections in a child process."""
        for topic in self._topics.values():
            topic.close_in_child()
        self._topics = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count(secrets.randbits(62))

    def _topic(self, address: Address) -> TopicServers:
        key = address.exchange, address.topic
        with self._lock:
            if self._closed:
                raise oslo_messaging.MessageDeliveryFailure(
                    'the transport has been cleaned up'
                )
            if key not in self._topics:
                self._topics[key] = TopicServers(
                    self._directory.topic(address), self._limit, self._max_idle
                )
            return self._topics[key]


def _not_sent(address: Address, servers: list[ConnectionPool]) -> str:
    if not servers:
        return f'no server listens on {address}'
    return (
        f'none of {len(servers)} server(s) on {address} accepted the message'
    )


def _exchange(
    server: ConnectionPool,
    address: Address,
    kind: FrameKind,
    number: int,
    data: bytes,
    deadline: Deadline,
) -> Frame:
    """Send a message to one server and return its response."""
    with server.connection(deadline) as connection:
        try:
            connection.send(data, deadline)
            frame = connection.receive(number, deadline)
            while frame.kind is FrameKind.HEARTBEAT:
                deadline.restart_monitor()
                frame = _after_heartbeat(connection, number, deadline)
        except TimeoutError:
            raise TimeoutError(
                f'no response from {address}'
                if kind is FrameKind.CALL
                else f'a server of {address} did not accept the message'
            ) from None
        except EOFError:
            if kind is FrameKind.CAST:
                raise errors.NotHandled from None
            raise AnswerLost(
                f'a server of {address} died, or closed the connection,'
                ' before it responded; it may have handled the call'
            ) from None
        except errors.MalformedFrame as error:
            raise AnswerLost(
                f'the response from {address} cannot be read: {error}'
            ) from None
    return frame


def _after_heartbeat(
    connection: Connection, number: int, deadline: Deadline
) -> Frame:
    """Return the next frame; any failure now means that the call had begun."""
    try:
        return connection.receive(number, deadline)
    except errors.NotHandled:
        raise EOFError from None
