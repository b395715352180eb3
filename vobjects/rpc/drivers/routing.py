# SPDX-License-Identifier: Apache-2.0
"""Which server gets a message, and what if it does not take it.

A message goes to the servers of its topic in turn. One that was not begun
(:class:`~vobjects.rpc.drivers.errors.NotTaken`) goes to the next; when all
have been asked, or there is none, we look again after a short pause, until
the time is over. A message that may have been begun is never sent again.
"""

from __future__ import annotations

import itertools
import logging
import secrets
import threading
import time
from collections.abc import Iterator

import oslo_messaging

from vobjects.rpc.drivers import errors, framing
from vobjects.rpc.drivers.connection import Connection, Patience
from vobjects.rpc.drivers.directory import Address, Directory
from vobjects.rpc.drivers.framing import Frame, Kind
from vobjects.rpc.drivers.servers import Server, Topic

LOG = logging.getLogger(__name__)

#: Seconds before we look for a server again; doubles up to the option.
FIRST_PAUSE = 0.005


class Search:
    """Yields the servers to try, with pauses, until the time is over.

    :param retry: how often to look again; None or -1: without end
    :param interval: the longest pause, in seconds
    """

    def __init__(
        self,
        topic: Topic,
        address: Address,
        patience: Patience,
        retry: int | None,
        interval: float,
    ) -> None:
        self._topic = topic
        self._address = address
        self._patience = patience
        self._retry = -1 if retry is None else retry
        self._interval = interval
        self._found = 0

    def __iter__(self) -> Iterator[Server]:
        """Yield servers.

        :raises TimeoutError: the time is over
        """
        pause = FIRST_PAUSE
        for look in itertools.count():
            found = self._topic.servers(self._address.server)
            self._found = len(found)
            yield from found
            if 0 <= self._retry <= look:
                return
            left = self._patience.left()
            time.sleep(pause if left is None else min(pause, left))
            pause = min(pause * 2, self._interval)

    def __str__(self) -> str:
        if not self._found:
            return f'nobody listens on {self._address}'
        return (
            f'none of the {self._found} that listen on {self._address} took'
            ' the message'
        )


class Router:
    """Sends messages; one a process and driver.

    :param directory: of the sockets
    :param limit: bytes that the payload of a frame may have
    :param keep: idle connections kept to each server
    :param interval: seconds between looks for a server, at most
    """

    def __init__(
        self, directory: Directory, limit: int, keep: int, interval: float
    ) -> None:
        self._directory = directory
        self._limit = limit
        self._keep = keep
        self._interval = interval
        self._topics: dict[tuple[str, str], Topic] = {}
        self._lock = threading.Lock()
        self._closed = False
        # From anywhere, so that two processes' numbers differ in a log.
        self._numbers = itertools.count(secrets.randbits(62))

    def call(
        self,
        address: Address,
        payload: bytes,
        patience: Patience,
        retry: int | None,
    ) -> Frame:
        """Have one server handle a message; return its REPLY or FAILURE.

        :raises oslo_messaging.MessagingTimeout: nobody listened, or answered,
            in time
        :raises vobjects.rpc.drivers.errors.AnswerLost: the server went while
            it may have been at it
        :raises oslo_messaging.MessageDeliveryFailure: it was not sent
        """
        try:
            return self._deliver(Kind.CALL, address, payload, patience, retry)
        except TimeoutError as error:
            raise oslo_messaging.MessagingTimeout(
                f'{error}; waited {patience}'
            ) from None

    def cast(
        self,
        address: Address,
        payload: bytes,
        patience: Patience,
        retry: int | None,
    ) -> None:
        """Put a message into the queue of one server.

        :raises oslo_messaging.MessageDeliveryFailure: nobody took it
        """
        try:
            self._deliver(Kind.CAST, address, payload, patience, retry)
        except TimeoutError as error:
            raise oslo_messaging.MessageDeliveryFailure(
                f'{error}; waited {patience}'
            ) from None

    def fanout(self, address: Address, payload: bytes, seconds: float) -> None:
        """Send a message to every server of a topic.

        Those that go meanwhile do without; one that reads too slowly is
        logged.

        :param seconds: that each server may take to let it in
        """
        number = next(self._numbers)
        data = framing.pack(Kind.FANOUT, number, payload, self._limit)
        for server in self._topic(address).servers(None):
            try:
                self._hand_over(server, data, Patience(seconds))
            except TimeoutError:
                LOG.warning(
                    'A server of %s did not let in a message to all within'
                    ' %g s; it goes without',
                    address,
                    seconds,
                )
            except errors.NotTaken:
                LOG.debug('A server of %s has left', address)

    def close(self) -> None:
        """Close all connections; those in use after their use."""
        with self._lock:
            self._closed = True
            topics = list(self._topics.values())
        for topic in topics:
            topic.close()

    def abandon(self) -> None:
        """Begin afresh in a child process."""
        for topic in self._topics.values():
            topic.abandon()
        self._topics = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count(secrets.randbits(62))

    def _deliver(
        self,
        kind: Kind,
        address: Address,
        payload: bytes,
        patience: Patience,
        retry: int | None,
    ) -> Frame:
        number = next(self._numbers)
        data = framing.pack(kind, number, payload, self._limit)
        search = Search(
            self._topic(address), address, patience, retry, self._interval
        )
        try:
            for server in search:
                try:
                    return self._exchange(
                        server, address, kind, number, data, patience
                    )
                except errors.NotTaken:
                    continue
        except TimeoutError as error:
            raise TimeoutError(str(error) or str(search)) from None
        raise oslo_messaging.MessageDeliveryFailure(
            f'{search}; tried {(retry or 0) + 1} times'
        )

    def _exchange(
        self,
        server: Server,
        address: Address,
        kind: Kind,
        number: int,
        data: bytes,
        patience: Patience,
    ) -> Frame:
        """Send a message to one server and return the answer."""
        used = server.acquire(patience)
        done = False
        try:
            used.send(data, patience)
            frame = used.receive(number, patience)
            while frame.kind is Kind.HEARTBEAT:
                patience.renew()
                frame = _after_heartbeat(used, number, patience)
            done = True
        except TimeoutError:
            raise TimeoutError(
                f'no answer from {address}'
                if kind is Kind.CALL
                else f'a server of {address} did not let the message in'
            ) from None
        except EOFError:
            if kind is Kind.CAST:
                raise errors.NotTaken from None
            raise errors.AnswerLost(
                f'a server of {address} died, or closed the connection,'
                ' before it answered; it may have begun'
            ) from None
        except errors.MalformedFrame as error:
            raise errors.AnswerLost(
                f'the answer from {address} cannot be read: {error}'
            ) from None
        finally:
            if done:
                server.release(used)
            else:
                used.close()
        return frame

    def _hand_over(
        self, server: Server, data: bytes, patience: Patience
    ) -> None:
        used = server.acquire(patience)
        try:
            used.send(data, patience)
        except BaseException:
            used.close()
            raise
        server.release(used)

    def _topic(self, address: Address) -> Topic:
        key = address.exchange, address.topic
        with self._lock:
            if self._closed:
                raise oslo_messaging.MessageDeliveryFailure(
                    'the transport has been cleaned up'
                )
            if key not in self._topics:
                self._topics[key] = Topic(
                    self._directory.topic(address), self._limit, self._keep
                )
            return self._topics[key]


def _after_heartbeat(
    used: Connection, number: int, patience: Patience
) -> Frame:
    """Return the next frame; whatever breaks now, the call had begun."""
    try:
        return used.receive(number, patience)
    except errors.NotTaken:
        raise EOFError from None
