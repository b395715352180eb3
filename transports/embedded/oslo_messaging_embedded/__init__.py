# SPDX-License-Identifier: Apache-2.0
"""The oslo.messaging driver for one host and one user, without a broker.

::

    driver       the driver class and its options, loaded by oslo.messaging
    directory    the directories of listening sockets, and their cleanup
    routing      selects a server for each message, and tries the next one
    server_connections  the servers of a topic, and idle connections to them
    connection   the sender's end: one message at a time, with a timeout
    listener     the receiver's end: queue, back-pressure, graceful stop
    peer         a connection on the receiver's side, and its messages
    framing      frames that contain JSON
    errors       the exceptions

A message is one frame; its sender keeps the connection until the response. If
a connection breaks, the way it broke determines whether the message was
handled, see :mod:`~oslo_messaging_embedded.connection`.
"""

import logging

# Commands that configure no logging report the errors that they get, once.
logging.getLogger(__name__).addHandler(logging.NullHandler())
