# SPDX-License-Identifier: Apache-2.0
"""The embedded oslo.messaging driver: one host, one user, no broker.

::

    embedded     what oslo.messaging loads: URL, options, send and listen
    directory    who listens where: sockets in directories, stale ones too
    routing      which server gets a message, and what if it does not take it
    servers      who serves a topic, and idle connections to them
    connection   the sender's end: one message at a time, how long to wait
    listener     the receiver's end: queue, back-pressure, graceful stop
    peer         one connection as the receiver sees it; a message from it
    framing      bytes on a socket: frames with JSON in them
    errors       everything that may go wrong

A message travels in one frame; its sender keeps the connection until the
answer. What happened to a message whose connection breaks follows from how
it broke, see :mod:`~vobjects.rpc.drivers.connection`.
"""
