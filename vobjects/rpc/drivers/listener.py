# SPDX-License-Identifier: Apache-2.0
"""The receiver's end: one thread reads, oslo.messaging's threads work.

A message is handed to the server's executor at once while fewer than
:data:`AHEAD` wait there for a thread; the executor's own queue has no bound.
Others wait in our queue. When that is full the thread stops reading, and
senders wait.

Stopping, in this order: the socket loses its name, so that nobody new comes;
connections are shut for reading, so that senders know what did not arrive;
calls that arrived but were not begun are given back; casts, which were
accepted, are handed to the executor; calls in progress are answered, and
each connection is closed after its last answer.
"""

from __future__ import annotations

import collections
import logging
import selectors
import socket
import threading
import time
from collections.abc import Callable

from oslo_messaging._drivers import base

from vobjects.rpc.drivers import errors, framing
from vobjects.rpc.drivers.directory import Address, Directory
from vobjects.rpc.drivers.framing import Frame, Kind
from vobjects.rpc.drivers.peer import Incoming, Peer

LOG = logging.getLogger(__name__)

#: Messages that wait in the executor for a thread.
AHEAD = 2

#: Seconds of rest when a connection cannot be accepted.
ACCEPT_PAUSE = 0.05

Deliver = Callable[[list[Incoming]], None]


class Listener(base.Listener):  # type: ignore[misc]
    """Listens at one address; senders find it as soon as it is made.

    :param directory: of the sockets
    :param address: names a server
    :param limit: bytes that the payload of a frame may have
    :param queue_size: messages that wait here
    """

    def __init__(
        self,
        directory: Directory,
        address: Address,
        limit: int,
        queue_size: int,
    ) -> None:
        super().__init__(batch_size=1, batch_timeout=None)
        self._address = address
        self._limit = limit
        self._queue_size = queue_size
        self._queue: collections.deque[Incoming] = collections.deque()
        self._ahead = 0
        self._peers: set[Peer] = set()
        self._stopping = False
        # Re-entrant, for an executor that works in the thread that submits.
        self._lock = threading.RLock()
        self._room = threading.Condition(self._lock)
        self._door = directory.open(address)
        self._waker, self._wake = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._thread: threading.Thread | None = None

    def start(self, on_incoming_callback: Deliver) -> None:
        """Begin to read, in a thread of its own.

        :param on_incoming_callback: gets each message in a list of one
        """
        super().start(on_incoming_callback)
        self._thread = threading.Thread(
            target=self._run,
            name=f'embedded-{self._address.topic}',
            daemon=True,
        )
        self._thread.start()

    def stop(self) -> None:
        """Take no more messages; calls in progress go on."""
        with self._lock:
            if self._stopping:
                return
            self._door.unlink()
            # First: the thread closes the other end when it sees the flag.
            self._waker.send(b'!')
            self._stopping = True
            self._room.notify_all()
        if self._thread is not None:
            self._thread.join()
        else:
            self._close_door()
        super().stop()

    def cleanup(self) -> None:
        """Close every connection; callers still waiting are told by that."""
        self.stop()
        for peer in self._peers:
            peer.hang_up()
        self._peers.clear()

    def abandon(self) -> None:
        """Leave everything to the parent of this, a child process.

        Its sockets are closed here: they would seem alive after its death.
        """
        self._stopping = True
        # A thread that is not here may have held the old one.
        self._lock = threading.RLock()
        self._close_door()
        for peer in self._peers:
            peer.socket.close()
        self._peers.clear()

    def _run(self) -> None:
        register = self._selector.register
        register(self._door.socket, selectors.EVENT_READ, self._accept)
        register(self._wake, selectors.EVENT_READ, lambda: None)
        while not self._stopping:
            for key, _ in self._selector.select():
                try:
                    key.data()
                except Exception:
                    # Whatever it was: the others are still to be served.
                    LOG.exception('%s: a connection failed', self._address)
            with self._room:
                self._room.wait_for(self._has_room)
        self._close_door()
        self._drain()

    def _has_room(self) -> bool:
        return self._stopping or len(self._queue) < self._queue_size

    def _accept(self) -> None:
        try:
            accepted, _ = self._door.socket.accept()
        except OSError as error:
            # No file descriptors left, or the sender has gone already.
            LOG.warning('%s: accept: %s', self._address, error)
            time.sleep(ACCEPT_PAUSE)
            return
        peer = Peer(accepted, self._limit)
        self._peers.add(peer)
        self._selector.register(
            accepted, selectors.EVENT_READ, lambda: self._read(peer)
        )

    def _read(self, peer: Peer) -> None:
        """Take what a peer sends; hang up when it ends or is nonsense."""
        try:
            frames = peer.read()
            for frame in frames or ():
                self._take(peer, frame)
            if frames is not None:
                return
        except errors.FrameTooLarge as error:
            LOG.error('%s: %s; refused', self._address, error)
            peer.write(_refusal(error))
        except errors.MalformedFrame as error:
            LOG.error('%s: %s; hanging up', self._address, error)
        except Exception:
            LOG.exception('%s: hanging up', self._address)
        self._selector.unregister(peer.socket)
        self._peers.discard(peer)
        peer.hang_up()

    def _take(self, peer: Peer, frame: Frame) -> None:
        """Deliver or queue a message.

        :raises vobjects.rpc.drivers.errors.MalformedFrame: it is none
        """
        if frame.kind not in (Kind.CALL, Kind.CAST, Kind.FANOUT):
            raise errors.MalformedFrame(f'{frame.kind.name} from a sender')
        incoming = Incoming(peer, frame, self._started)
        if frame.kind is Kind.CAST:
            accepted = framing.pack(Kind.ACCEPTED, frame.number, b'', 0)
            if not peer.write(accepted):
                return  # its sender has given up, and said so to its caller
        with self._lock:
            if self._ahead < AHEAD and not self._queue:
                self._hand_over(incoming)
            else:
                self._queue.append(incoming)

    def _hand_over(self, incoming: Incoming) -> None:
        # Under the lock: the executor takes nothing more once stop() is over.
        self._ahead += 1
        self.on_incoming_callback([incoming])

    def _started(self) -> None:
        """Hand over the next message: a thread began with one."""
        with self._lock:
            self._ahead -= 1
            while self._queue and not self._stopping:
                incoming = self._queue.popleft()
                if not incoming.is_call or incoming.peer.is_there():
                    self._hand_over(incoming)
                    break
                LOG.debug(
                    'The caller of %s gave up',
                    incoming.message.get('method'),
                )
            self._room.notify()

    def _drain(self) -> None:
        """Give back what was not begun, as described above."""
        for peer in self._peers:
            for frame in peer.rest():
                _give_back(peer, frame)
        with self._lock:
            while self._queue:
                incoming = self._queue.popleft()
                if incoming.is_call:
                    incoming.reject()
                else:
                    self._hand_over(incoming)
        for peer in self._peers:
            peer.leave()

    def _close_door(self) -> None:
        self._selector.close()
        for end in (self._door.socket, self._waker, self._wake):
            end.close()


def _refusal(error: errors.FrameTooLarge) -> bytes:
    payload = framing.encode([error.size, error.limit])
    return framing.pack(Kind.REFUSED, 0, payload, len(payload))


def _give_back(peer: Peer, frame: Frame) -> None:
    if frame.kind in (Kind.CALL, Kind.CAST):
        peer.write(framing.pack(Kind.REJECTED, frame.number, b'', 0))
