# SPDX-License-Identifier: Apache-2.0
"""OpenStack's queue service Zaqar, using version 2 of its API.

All requests use the account in clouds.yaml that ``[queues] cloud`` names. The
queues belong to the project of that account, not to the projects of users.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import openstack
from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions
from openstack.message.v2 import _proxy
from oslo_config import cfg

from engine.db import database
from engine.queues import base
from vobjects.rpc import concurrency_limit

Method = TypeVar('Method', bound=Callable[..., Any])

#: The status code of the response when there is nothing to claim.
NO_CONTENT = 204

#: Subscription TTL in seconds; Zaqar requires a finite one.
SUBSCRIPTION_TTL = 2**36


def _converts_errors(method: Method) -> Method:
    @functools.wraps(method)
    def wrapper(*arguments: Any) -> Any:
        try:
            with concurrency_limit.released():
                return method(*arguments)
        except (
            exceptions.SDKException,
            auth_exceptions.ClientException,
        ) as error:
            raise base.QueueError(
                f'the queue service could not {method.__name__}: {error}'
            ) from error

    return wrapper  # type: ignore[return-value]  # wraps keeps the signature


class ZaqarQueues:
    """The Zaqar driver; see :class:`engine.queues.base.Queues`."""

    def __init__(
        self, conf: cfg.ConfigOpts, target: database.Database
    ) -> None:
        self._options = conf.queues

    @functools.cached_property
    def _zaqar(self) -> _proxy.Proxy:
        connection = openstack.connect(
            cloud=self._options.cloud,
            app_name='vobjects',
            api_timeout=self._options.timeout,
        )
        proxy: _proxy.Proxy = connection.message
        return proxy

    @_converts_errors
    def create(self, project: str | None, queue: str) -> None:
        """Create a queue."""
        self._zaqar.create_queue(
            name=queue, description='Messages for the clustering service.'
        )

    @_converts_errors
    def delete(self, project: str | None, queue: str) -> None:
        """Delete a queue."""
        self._zaqar.delete_queue(queue)

    @_converts_errors
    def subscribe(self, project: str | None, queue: str, url: str) -> str:
        """Subscribe a URL to new messages."""
        subscription = self._zaqar.create_subscription(
            queue, subscriber=url, ttl=SUBSCRIPTION_TTL, options={}
        )
        return str(subscription.subscription_id)

    @_converts_errors
    def unsubscribe(
        self, project: str | None, queue: str, subscription: str
    ) -> None:
        """Cancel a subscription."""
        self._zaqar.delete_subscription(queue, subscription)

    @_converts_errors
    def post(
        self, project: str | None, queue: str, body: Mapping[str, Any]
    ) -> None:
        """Add a message; Zaqar creates the queue if necessary."""
        self._zaqar.post_message(
            queue, [{'ttl': self._options.message_ttl, 'body': dict(body)}]
        )

    @_converts_errors
    def claim(self, project: str | None, queue: str) -> base.Claim:
        """Claim some messages that are not claimed."""
        ttl = self._options.claim_ttl
        # Not create_claim(), which fails: openstacksdk 4 confuses the location
        # of its connection with the Location header.
        response = self._zaqar.post(
            f'/queues/{queue}/claims',
            json={'ttl': ttl, 'grace': ttl},
            headers={
                'Client-ID': str(uuid.uuid4()),
                'X-PROJECT-ID': self._zaqar.get_project_id() or '',
            },
        )
        exceptions.raise_from_response(response)
        if response.status_code == NO_CONTENT:
            return base.Claim('', ())
        return base.Claim(
            response.headers['Location'].rpartition('/')[2],
            [
                base.Message(_id(message), message.get('body'))
                for message in response.json()['messages']
            ],
        )

    @_converts_errors
    def remove(
        self, project: str | None, queue: str, message: str, claim: str
    ) -> None:
        """Delete a claimed message."""
        self._zaqar.delete_message(queue, message, claim=claim)

    @_converts_errors
    def release(self, project: str | None, queue: str, claim: str) -> None:
        """Release the remaining messages of a claim."""
        self._zaqar.delete_claim(queue, claim)


def _id(message: Mapping[str, Any]) -> str:
    """Return the ID of a message; older Zaqars send only its href."""
    href: str = message.get('id') or message['href'].partition('?')[0]
    return href.rpartition('/')[2]
