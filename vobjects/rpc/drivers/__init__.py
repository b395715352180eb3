# SPDX-License-Identifier: Apache-2.0
"""Drivers for oslo.messaging.

Both drivers use::

    base           the base classes of drivers and of incoming messages
    oslo_api       the private parts of oslo.messaging that drivers need
    deadline       timeouts
    framing        JSON, and the frames of the embedded driver
    decompression  a limit on the size of decompressed messages
    remote_errors  descriptions of a server's error
    errors         the exceptions

:mod:`~vobjects.rpc.drivers.pyamqp` is the driver for RabbitMQ. The other
modules are the embedded driver: one host, one user, no broker::

    embedded     the driver class and its options, loaded by oslo.messaging
    directory    the directories of listening sockets, and their cleanup
    routing      selects a server for each message, and tries the next one
    server_connections  the servers of a topic, and idle connections to them
    connection   the sender's end: one message at a time, with a timeout
    listener     the receiver's end: queue, back-pressure, graceful stop
    peer         a connection on the receiver's side, and its messages

A message is one frame; its sender keeps the connection until the response. If
a connection breaks, the way it broke determines whether the message was
handled, see :mod:`~vobjects.rpc.drivers.connection`.
"""

import logging

# Commands that configure no logging report the errors that they get, once.
logging.getLogger(__name__).addHandler(logging.NullHandler())
