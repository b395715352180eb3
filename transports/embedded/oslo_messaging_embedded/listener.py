# SPDX-License-Identifier: Apache-2.0
"""The receiver's end: one thread reads, oslo.messaging's threads handle.

The reading thread submits messages to the server's executor while fewer than
:data:`MAX_SUBMITTED` of them wait there for a thread, because the queue of the
executor is unbounded. Further messages wait in the listener's queue. While
that is full, the thread does not read, and senders wait.

The listener stops in this order. It removes the name of the socket, so that no
sender connects. It shuts its connections down for reading, so that senders
know which messages did not arrive. It rejects calls that have arrived but not
begun, and submits casts, which it has accepted, to the executor. It completes
calls in progress, and closes each connection after its last response.
"""

from __future__ import annotations

import collections
import logging
import selectors
import socket
import threading
import time
from collections.abc import Callable

from oslo_messaging_driverlib import oslo_api
from oslo_messaging_embedded import errors, framing
from oslo_messaging_embedded.directory import Address, Directory
from oslo_messaging_embedded.framing import Frame, FrameKind
from oslo_messaging_embedded.peer import IncomingMessage, Peer

LOG = logging.getLogger(__name__)

#: Maximum number of messages that wait in the executor for a thread.
MAX_SUBMITTED = 2

#: Pause after a connection could not be accepted, in seconds.
ACCEPT_PAUSE = 0.05

OnIncoming = Callable[[list[IncomingMessage]], None]


class Listener(oslo_api.Listener):  # type: ignore[misc]
    """Listens at one address; senders find it once it is constructed.

    :param directory: of the sockets
    :param address: address of a server
    :param limit: maximum length of the payload of a frame, in bytes
    :param queue_size: number of messages in the queue at which it stops
        reading
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
        self._queue: collections.deque[IncomingMessage] = collections.deque()
        self._submitted = 0
        self._peers: set[Peer] = set()
        self._stopping = False
        # Re-entrant, for executors that run the task in the submitting thread.
        self._lock = threading.RLock()
        self._queue_changed = threading.Condition(self._lock)
        self._listening = directory.open(address)
        self._wake_sender, self._wake_receiver = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._thread: threading.Thread | None = None

    def start(self, on_incoming_callback: OnIncoming) -> None:
        """Start the reading thread.

        :param on_incoming_callback: receives each message, in a list of length
            one
        """
        super().start(on_incoming_callback)
        self._thread = threading.Thread(
            target=self._run,
            name=f'embedded-{self._address.topic}',
            daemon=True,
        )
        self._thread.start()

    def drain(self) -> None:
        """Receive only messages to all servers of the topic from now on."""
        with self._lock:
            if not self._stopping:
                self._listening = self._listening.drain()

    def stop(self) -> None:
        """Stop receiving messages; calls in progress continue."""
        with self._lock:
            if self._stopping:
                return
            self._listening.unlink()
            # Send before setting the flag: when the thread sees the flag, it
            # closes the receiving end.
            self._wake_sender.send(b'!')
            self._stopping = True
            self._queue_changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        else:
            self._close_sockets()
        super().stop()

    def cleanup(self) -> None:
        """Close every connection; waiting callers get an error."""
        self.stop()
        for peer in self._peers:
            peer.close()
        self._peers.clear()

    def close_in_child(self) -> None:
        """Close the inherited sockets in a child process.

        The parent continues to use them. If the child kept them open, they
        would seem alive after the parent's death.
        """
        self._stopping = True
        # A thread that exists only in the parent may have held the old lock.
        self._lock = threading.RLock()
        self._close_sockets()
        for peer in self._peers:
            peer.socket.close()
        self._peers.clear()

    def _run(self) -> None:
        register = self._selector.register
        register(self._listening.socket, selectors.EVENT_READ, self._accept)
        register(self._wake_receiver, selectors.EVENT_READ, lambda: None)
        while not self._stopping:
            for key, _ in self._selector.select():
                try:
                    key.data()
                except Exception:
                    # One failure must not end the service for other
                    # connections.
                    LOG.exception('%s: a connection failed', self._address)
            with self._queue_changed:
                self._queue_changed.wait_for(self._has_room)
        self._close_sockets()
        self._drain()

    def _has_room(self) -> bool:
        return self._stopping or len(self._queue) < self._queue_size

    def _accept(self) -> None:
        try:
            accepted, _ = self._listening.socket.accept()
        except OSError as error:
            # No free file descriptors, or the sender has already left.
            LOG.warning('%s: cannot accept: %s', self._address, error)
            time.sleep(ACCEPT_PAUSE)
            return
        peer = Peer(accepted, self._limit)
        self._peers.add(peer)
        self._selector.register(
            accepted, selectors.EVENT_READ, lambda: self._read(peer)
        )

    def _read(self, peer: Peer) -> None:
        """Read from a peer; close the connection at its end or an error."""
        try:
            frames = peer.read()
            for frame in frames or ():
                self._receive(peer, frame)
            if frames is not None:
                return
        except errors.FrameTooLarge as error:
            LOG.error('%s: rejected a message: %s', self._address, error)
            peer.write(_too_large_frame(error))
        except errors.MalformedFrame as error:
            LOG.error('%s: closing a connection: %s', self._address, error)
        except Exception:
            LOG.exception('%s: closing a connection', self._address)
        self._selector.unregister(peer.socket)
        self._peers.discard(peer)
        peer.close()

    def _receive(self, peer: Peer, frame: Frame) -> None:
        """Submit or queue a message.

        :raises oslo_messaging_embedded.errors.MalformedFrame: not a message
        """
        if frame.kind not in (
            FrameKind.CALL,
            FrameKind.CAST,
            FrameKind.FANOUT,
        ):
            raise errors.MalformedFrame(
                f'{frame.kind.name} is not valid from a sender'
            )
        incoming = IncomingMessage(peer, frame, self._on_start)
        if frame.kind is FrameKind.CAST:
            accepted = framing.pack(FrameKind.ACCEPTED, frame.number, b'', 0)
            if not peer.write(accepted):
                return  # the sender has reported a failure to its caller
        with self._lock:
            if self._submitted < MAX_SUBMITTED and not self._queue:
                self._submit(incoming)
            else:
                self._queue.append(incoming)

    def _submit(self, incoming: IncomingMessage) -> None:
        # Called with the lock held: after stop() the executor accepts nothing.
        self._submitted += 1
        self.on_incoming_callback([incoming])

    def _on_start(self) -> None:
        """Submit the next message, because a thread has begun with one."""
        with self._lock:
            self._submitted -= 1
            while self._queue and not self._stopping:
                incoming = self._queue.popleft()
                if not incoming.is_call or incoming.peer.is_connected():
                    self._submit(incoming)
                    break
                LOG.debug(
                    'The caller of %s has disconnected',
                    incoming.message.get('method'),
                )
            self._queue_changed.notify()

    def _drain(self) -> None:
        """Reject the remaining calls, and submit the remaining casts."""
        for peer in self._peers:
            for frame in peer.stop_reading():
                _reject(peer, frame)
        with self._lock:
            while self._queue:
                incoming = self._queue.popleft()
                if incoming.is_call:
                    incoming.reject()
                else:
                    self._submit(incoming)
        for peer in self._peers:
            peer.close_when_idle()

    def _close_sockets(self) -> None:
        self._selector.close()
        self._listening.socket.close()
        self._wake_sender.close()
        self._wake_receiver.close()


def _too_large_frame(error: errors.FrameTooLarge) -> bytes:
    payload = framing.encode([error.size, error.limit])
    return framing.pack(FrameKind.TOO_LARGE, 0, payload, len(payload))


def _reject(peer: Peer, frame: Frame) -> None:
    if frame.kind in (FrameKind.CALL, FrameKind.CAST):
        peer.write(framing.pack(FrameKind.REJECTED, frame.number, b'', 0))
