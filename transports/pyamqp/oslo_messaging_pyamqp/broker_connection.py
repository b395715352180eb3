# SPDX-License-Identifier: Apache-2.0
"""A connection of py-amqp that several threads may use.

One thread connects and then reads all frames: it dispatches messages,
confirmations and errors. Any thread may write. A method with a response that
another thread sends is answered through the reading thread, see
:meth:`BrokerChannel.send_method`; py-amqp itself would read in that thread.

Reading in large pieces, instead of three reads per frame, halves the time that
py-amqp takes for a message; :mod:`~oslo_messaging_pyamqp.frames` halves
it again.
"""

from __future__ import annotations

import collections
import contextlib
import logging
import os
import queue
import select
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import amqp
from amqp import method_framing, spec

from oslo_messaging_pyamqp import frames
from oslo_messaging_pyamqp.settings import Host, Settings

LOG = logging.getLogger(__name__)

#: Seconds to connect and log in.
CONNECT_TIMEOUT = 5.0

#: Seconds to wait for the response to a method, such as a declaration.
METHOD_TIMEOUT = 30.0

#: Seconds after which a write that makes no progress fails.
WRITE_TIMEOUT = 10.0

CHUNK = 1 << 18

OnMessage = Callable[[frames.Delivered], None]


class _Response:
    """The expected response to a method."""

    __slots__ = ('method', 'outcome')

    def __init__(self, method: Any) -> None:
        self.method = method
        self.outcome: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()


class BrokerChannel(amqp.Channel):  # type: ignore[misc]
    """A channel whose methods may be called from any thread.

    :ivar on_closing: called in the reading thread when the broker closes the
        channel because of an error; py-amqp opens it again
    :ivar on_error: called with that error afterwards, unless a method has
        caused it; None: the error closes the connection
    :ivar timeout: seconds to wait for the response to a method
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.on_closing: Callable[[], None] = lambda: None
        self.on_error: Callable[[amqp.ChannelError], None] | None = None
        self.timeout = METHOD_TIMEOUT
        self._method_lock = threading.Lock()
        self._responses: collections.deque[_Response] = collections.deque()
        self._arriving: frames.Delivered | None = None
        super().__init__(*args, **kwargs)
        self.auto_decode = False

    def send_method(
        self,
        sig: Any,
        format: str | None = None,  # noqa: A002 - py-amqp's name
        args: Any = None,
        content: Any = None,
        wait: Any = None,
        callback: Any = None,
        returns_tuple: bool = False,
    ) -> Any:
        """Send a method and wait for its response, if it has one.

        Outside the reading thread, the values of the response are not
        returned.

        :raises amqp.ChannelError: the broker rejects the method
        :raises TimeoutError: the broker does not respond
        :raises OSError: the connection is lost
        """
        connection = self.connection
        if connection is None:
            raise ConnectionError('the connection is lost')
        if wait is None or connection.reader == threading.get_ident():
            return super().send_method(
                sig, format, args, content, wait, callback, returns_tuple
            )
        response = _Response(wait)
        with self._method_lock:
            # The broker responds in the order of the methods. If this thread
            # stops waiting, its place in the queue remains.
            self._responses.append(response)
            super().send_method(sig, format, args, content)
        try:
            error = response.outcome.get(timeout=self.timeout)
        except queue.Empty:
            raise TimeoutError('the broker does not respond') from None
        if error is not None:
            raise error
        return None

    def dispatch_method(
        self, method_sig: Any, payload: Any, content: Any
    ) -> None:
        """Handle a method from the broker."""
        if method_sig == spec.Channel.Close:
            self.on_closing()
        try:
            super().dispatch_method(method_sig, payload, content)
        except amqp.ChannelError as error:
            if self._responses:
                self._fail_all(error)
            elif self.on_error is not None:
                self.on_error(error)
            else:
                raise
        else:
            if self._responses and method_sig == self._responses[0].method:
                self._responses.popleft().outcome.put(None)

    def collect(self) -> None:
        """Release waiting threads when the connection is lost."""
        super().collect()
        self._fail_all(ConnectionError('the connection is lost'))

    def _fail_all(self, error: Exception) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._responses.popleft().outcome.put(error)

    def publish(
        self,
        message: frames.Message,
        exchange: str,
        routing_key: str,
        mandatory: bool,
    ) -> None:
        """Publish a message; ``basic_publish`` of py-amqp would also read.

        :raises ValueError: a name is too long
        :raises OSError: the connection is lost
        """
        connection, number = self._open_connection()
        connection.write(
            frames.publish(
                number,
                connection.frame_max,
                exchange,
                routing_key,
                mandatory,
                message,
            )
        )

    def acknowledge(self, tag: int) -> None:
        """Acknowledge a delivery.

        :raises OSError: the connection is lost
        """
        connection, number = self._open_connection()
        connection.write(frames.acknowledge(number, tag))

    def _open_connection(self) -> tuple[BrokerConnection, int]:
        connection, number = self.connection, self.channel_id
        if connection is None or number is None:
            raise ConnectionError('the connection is lost')
        return connection, number

    def take_frame(self, kind: int, payload: bytes) -> bool:
        """Handle a frame of a delivery or of a confirmation.

        :returns: False for frames of other methods
        """
        arriving = self._arriving
        if kind == frames.METHOD:
            self._arriving = None
            method = payload[:4]
            if method == frames.DELIVER:
                self._arriving = frames.Delivered(payload)
                return True
            if method == frames.ACK:
                number, bits = frames.TAG.unpack_from(payload, 4)
                for listener in self.events['basic_ack']:
                    listener(number, bool(bits & 1))
                return True
            return False
        if arriving is None:
            return False
        add = (
            arriving.add_header if kind == frames.HEADER else arriving.add_body
        )
        if add(payload):
            self._arriving = None
            self._deliver(arriving)
        return True

    def _deliver(self, message: frames.Delivered) -> None:
        callback = self.callbacks.get(message.consumer)
        if callback is None:
            # The consumer has been cancelled.
            self.basic_reject(message.tag, requeue=True)
        else:
            callback(message)

    def declare_queue(
        self,
        queue_name: str,
        durable: bool,
        auto_delete: bool,
        arguments: dict[str, Any],
    ) -> None:
        """Create a queue unless it exists.

        ``queue_declare`` of py-amqp always reads in the calling thread.

        :raises amqp.ChannelError: it exists with other properties, or cannot
            be created
        """
        self.send_method(
            spec.Queue.Declare,
            'BsbbbbbF',
            (
                0,
                queue_name,
                False,
                durable,
                False,
                auto_delete,
                False,
                arguments,
            ),
            wait=spec.Queue.DeclareOk,
        )

    def consume(
        self,
        queue_name: str,
        on_message: OnMessage,
        on_cancel: Callable[[], None],
        no_ack: bool = False,
        arguments: dict[str, Any] | None = None,
    ) -> None:
        """Consume from a queue; its name becomes the consumer's tag.

        :param on_cancel: called when the broker cancels the consumer
        :raises amqp.ChannelError: the queue does not exist, for instance
        """
        self.callbacks[queue_name] = on_message
        self.cancel_callbacks[queue_name] = lambda tag: on_cancel()
        if no_ack:
            self.no_ack_consumers.add(queue_name)
        self.send_method(
            spec.Basic.Consume,
            'BssbbbbF',
            (
                0,
                queue_name,
                queue_name,
                False,
                no_ack,
                False,
                False,
                arguments,
            ),
            wait=spec.Basic.ConsumeOk,
        )


class BrokerConnection(amqp.Connection):  # type: ignore[misc]
    """A connection to one host; the creating thread becomes its reader.

    :param on_blocked: called with True when the broker blocks publishers, and
        with False when it continues
    :ivar reader: id of the reading thread
    :ivar deadline: monotonic time at which reading fails; None: unlimited
    :ivar on_tick: called by the reader every few seconds; it must not wait
    """

    Channel = BrokerChannel

    def __init__(
        self,
        host: Host,
        settings: Settings,
        on_blocked: Callable[[bool], None],
    ) -> None:
        self.reader = threading.get_ident()
        self.deadline: float | None = None
        self.on_tick: Callable[[], None] = lambda: None
        self._frames = collections.deque[tuple[int, int, bytes]]()
        self._buffer = bytearray()
        self._socket: Any = None
        self._tls = settings.tls is not None
        # Also for reading with TLS: OpenSSL allows one operation at a time.
        self._write_lock = threading.Lock()
        self._tick = min(
            CONNECT_TIMEOUT, (settings.heartbeat or CONNECT_TIMEOUT) / 4
        )
        self._last_received = time.monotonic()
        self._next_tick = self._last_received + self._tick
        self._sent_at_tick = 0
        tls: Any = settings.tls or False
        if tls and settings.verify_hostname:
            tls = {**tls, 'server_hostname': host.name}
        super().__init__(
            host=str(host),
            userid=host.user,
            password=host.password,
            login_method=settings.login_method,
            virtual_host=settings.virtual_host,
            ssl=tls,
            connect_timeout=CONNECT_TIMEOUT,
            read_timeout=self._tick,
            write_timeout=WRITE_TIMEOUT,
            heartbeat=settings.heartbeat,
            socket_settings=_socket_settings(settings.heartbeat),
            client_properties={
                'connection_name': f'{os.path.basename(sys.argv[0])}:'
                f'{os.getpid()}'
            },
            frame_writer=_frame_writer,
            on_blocked=lambda reason: on_blocked(True),
            on_unblocked=lambda: on_blocked(False),
        )

    def write(self, data: bytes | memoryview) -> None:
        """Write frames; any thread may do so.

        :raises OSError: the connection is lost
        """
        try:
            with self._write_lock:
                self.transport.write(data)
        except OSError:
            # A part of the frame may have been sent.
            self.abort()
            raise
        self.bytes_sent += 1

    def blocking_read(self, timeout: float | None = None) -> Any:
        """Read and handle one frame.

        :param timeout: in seconds; None: until the connection counts as lost
        :raises TimeoutError: the timeout expired
        :raises OSError: the connection is lost
        :raises amqp.AMQPError: the broker reports an error
        """
        if not self._frames:
            self._fill(timeout)
        kind, number, payload = frame = self._frames.popleft()
        channel = self.channels.get(number) if number else None
        if channel is not None and channel.take_frame(kind, payload):
            return True
        return self.on_inbound_frame(frame)

    def collect(self) -> None:
        """Release what belongs to the connection, which may be lost."""
        # None: there is no transport, and py-amqp would connect to return one.
        if self._tls and self.connected is not None:
            transport = self.transport
            if transport.sock is not None:
                # py-amqp would wait for the peer's end of TLS, and fails if
                # the connection is shut down.
                transport.sock.close()
                transport.sock = None
        super().collect()

    def abort(self) -> None:
        """Break the connection, so that its reader returns with an error."""
        with contextlib.suppress(OSError):
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)

    def request_close(self) -> None:
        """Ask the broker to close; the reader ends with its response.

        :raises OSError: the connection is lost
        """
        self.send_method(spec.Connection.Close, 'BsBB', (0, '', 0, 0))

    def close_inherited(self) -> None:
        """Close the socket of the parent's connection in a child process."""
        if self._socket is not None:
            os.close(self._socket.detach())

    def _fill(self, timeout: float | None) -> None:
        deadline = None if timeout is None else time.monotonic() + timeout
        if self._socket is None:
            self._socket = self.transport.sock
            if self._tls:
                self._socket.settimeout(self._tick)
        while not self._frames:
            try:
                data = self._receive()
            except (BlockingIOError, TimeoutError):
                data = None
            now = time.monotonic()
            if self.deadline is not None and now >= self.deadline:
                raise TimeoutError('the broker does not respond')
            if data:
                self._last_received = now
                self._split(data)
            elif data is not None:
                raise ConnectionResetError('the broker closed the connection')
            if now >= self._next_tick:
                self._next_tick = now + self._tick
                self._check_heartbeats(now, idle=data is None)
                self.on_tick()
            if deadline is not None and now >= deadline and not self._frames:
                raise TimeoutError('the broker does not respond')

    def _receive(self) -> bytes:
        data: bytes
        if not self._tls:
            # A blocking socket with SO_RCVTIMEO needs no further system call.
            data = self._socket.recv(CHUNK)
            return data
        if not self._socket.pending():
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            if not poll.poll(self._tick * 1000):
                raise TimeoutError
        with self._write_lock:
            data = self._socket.recv(CHUNK)
            return data

    def _split(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        start, size = 0, len(buffer)
        while size - start >= 8:
            kind, channel, length = frames.PREFIX.unpack_from(buffer, start)
            end = start + 7 + length
            if size <= end:
                break
            if buffer[end] != frames.END:
                raise ConnectionAbortedError('malformed frame from the broker')
            self._frames.append(
                (kind, channel, bytes(buffer[start + 7 : end]))
            )
            start = end + 1
        del buffer[:start]

    def _check_heartbeats(self, now: float, idle: bool) -> None:
        # None until both sides have agreed.
        if not self.heartbeat:
            return
        if idle and now - self._last_received > self.heartbeat:
            raise ConnectionAbortedError(
                f'no heartbeat from the broker for {self.heartbeat:g} s'
            )
        if self.bytes_sent == self._sent_at_tick:
            self.send_heartbeat()
        self._sent_at_tick = self.bytes_sent


def _socket_settings(heartbeat: int) -> dict[int, int]:
    """Limit the time for which sent data may remain unacknowledged."""
    seconds = heartbeat or WRITE_TIMEOUT
    return {socket.TCP_USER_TIMEOUT: int(seconds * 1000)}


class _Transport:
    """The part of a transport that py-amqp's encoder of frames uses."""

    def __init__(self, connection: BrokerConnection) -> None:
        self.write = connection.write


def _frame_writer(
    connection: BrokerConnection, transport: Any
) -> Callable[..., None]:
    write = method_framing.frame_writer(connection, _Transport(connection))
    # Older releases of py-amqp share a buffer between threads.
    lock = threading.Lock()

    def locked(*args: Any) -> None:
        with lock:
            write(*args)

    return locked
