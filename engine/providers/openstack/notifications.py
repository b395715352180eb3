# SPDX-License-Identifier: Apache-2.0
"""Receive Nova's versioned notifications about servers.

All engines share one queue, so that each notification reaches one engine, and
other listeners miss none. A notification is stored if it concerns a node under
health monitoring. The health managers process it.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

import oslo_messaging
from oslo_config import cfg
from oslo_db import exception as oslo_db_exception
from oslo_utils import uuidutils

from engine.db import database, health, models
from engine.providers import server_events
from engine.providers.openstack import conf as openstack_conf
from vobjects import exceptions
from vobjects.rpc import transport

LOG = logging.getLogger(__name__)

TOPIC = 'versioned_notifications'

#: Seconds to wait before a notification is requeued.
PAUSE = 1.0

#: Prefix of the event types of Nova's unversioned notifications.
_PREFIX = 'compute.'


class Notifications(server_events.EventStore):
    """Nova's events; see :class:`engine.providers.server_events.EventStore`.

    :param conf: the configuration; ``[provider_openstack]`` sets
        ``notification_url``
    """

    def __init__(
        self, conf: cfg.ConfigOpts, target: database.Database
    ) -> None:
        super().__init__(target, models.LifecycleEvent)
        options = conf[openstack_conf.GROUP.name]
        endpoint = Endpoint(target)
        self._listeners = [
            _Listener(options, url, endpoint)
            for url in options.notification_url
        ]

    def start(self) -> None:
        """Start listening in the background."""
        for listener in self._listeners:
            listener.start()

    def stop(self) -> None:
        """Stop listening; received notifications are stored."""
        for listener in self._listeners:
            listener.stop()


class Endpoint:
    """Stores relevant notifications."""

    filter_rule = oslo_messaging.NotificationFilter(event_type=r'^instance\.')

    def __init__(self, target: database.Database) -> None:
        self._database = target

    def info(
        self,
        context: Any,
        publisher_id: Any,
        event_type: str,
        payload: Any,
        metadata: Any,
    ) -> str:
        """Process a notification of priority INFO."""
        type_ = f'{_PREFIX}{event_type}'
        if type_ not in server_events.FAILURES:
            return str(oslo_messaging.NotificationResult.HANDLED)
        server_id = _server_id(payload)
        if server_id is None:
            LOG.warning(
                'Ignored a notification %s of %s that names no server',
                event_type,
                exceptions.cut(publisher_id),
            )
            return str(oslo_messaging.NotificationResult.HANDLED)
        try:
            is_stored = self._database.write(
                lambda session: health.add_event(session, server_id, type_)
            )
        except (exceptions.Unreachable, oslo_db_exception.DBError) as error:
            database.log_failure(LOG, error, 'Could not store an event')
            threading.Event().wait(PAUSE)
            return str(oslo_messaging.NotificationResult.REQUEUE)
        if is_stored:
            LOG.info('Server %s: %s', server_id, event_type)
        return str(oslo_messaging.NotificationResult.HANDLED)

    #: rebuild.error has the priority ERROR.
    error = info


class _Listener:
    """Listens to one message bus.

    :param options: the options of ``[provider_openstack]``
    :raises vobjects.rpc.transport.BadTransport: the URL is not usable
    """

    def __init__(self, options: Any, url: str, endpoint: Endpoint) -> None:
        self._transport = transport.open_notifications(
            url, f'[{openstack_conf.GROUP.name}] notification_url'
        )
        self._server = oslo_messaging.get_notification_listener(
            self._transport,
            [
                oslo_messaging.Target(
                    topic=TOPIC, exchange=options.notification_exchange
                )
            ],
            [endpoint],
            executor='threading',
            allow_requeue=True,
            # The name of the queue that all engines share.
            pool=options.notification_pool,
        )
        self._is_listening = False
        # In a thread, because connecting blocks until the broker responds.
        self._thread = threading.Thread(
            target=self._listen, name='notifications', daemon=True
        )

    def start(self) -> None:
        """Connect in the background, as soon as the broker responds."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, or waiting for the broker."""
        if self._is_listening:
            self._server.stop()
            self._server.wait()
        self._transport.cleanup()

    def _listen(self) -> None:
        try:
            self._server.start()
        except oslo_messaging.MessageDeliveryFailure as error:
            LOG.info('Does not listen to notifications: %s', error)
            return
        self._is_listening = True
        LOG.info('Listens to notifications')


def _server_id(payload: Any) -> str | None:
    try:
        server_id = payload['nova_object.data']['uuid']
    except (KeyError, TypeError):
        return None
    return str(server_id) if uuidutils.is_uuid_like(server_id) else None
