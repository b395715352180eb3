# SPDX-License-Identifier: Apache-2.0
"""The oslo.messaging driver for RabbitMQ on py-amqp.

::

    driver             the driver class, loaded by oslo.messaging
    settings           the hosts of the URL, and the options
    sender             the connection for messages and for responses
    listener           receives messages for a server
    notifications      receives notifications
    bindings           keeps queues bound to their exchanges
    consumption        consumes from queues; acknowledgements
    calls              the calls that wait for their responses
    responses          sends responses, again if necessary
    publisher          publishes messages, with confirmations
    topology           the exchanges and queues
    message_format     the messages
    decompression      a limit on the size of decompressed messages
    frames             their AMQP frames
    link               a connection that is restored when it is lost
    broker_connection  py-amqp's connection, for several threads
    errors             the exceptions
"""

import logging

# Commands that configure no logging report the errors that they get, once.
logging.getLogger(__name__).addHandler(logging.NullHandler())
