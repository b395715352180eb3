# SPDX-License-Identifier: Apache-2.0
"""Negotiate, repeat and retry requests, without input and output.

An :class:`Exchange` yields what to do: a message to send, whose response it
receives, or seconds to wait. A synchronous and an asynchronous client do it.
"""

from __future__ import annotations

import dataclasses
import datetime
import email.utils
import json
from collections.abc import Callable, Generator, Mapping
from typing import Any

from vobjects import objects
from vobjects.microversions import client as negotiation
from vobjects.microversions.version_policy import HEADER, VersionPolicy
from vobjects.versions import Version
from vobjects_client import messages
from vobjects_client.errors import RequestFailed, ServerTooOld
from vobjects_client.operations import AnyOperation

#: Statuses with which a server asks any client to come back later: it has not
#: processed the request.
_NOT_PROCESSED = (413, 429)
#: Methods that may be repeated after a 503: the server may have processed the
#: request, and lost the result.
_REPEATABLE = ('GET', 'HEAD', 'PUT', 'DELETE')


#: Seconds to wait if the server names fewer.
_SHORTEST_WAIT = 1.0

#: Yields messages to send and seconds to wait, and returns the result.
Steps = Generator[messages.Message | float, Any, Any]


class Exchange:
    """The calls of a client to one endpoint.

    :param policy: version policy of the service, with the client's range
    :param retry_for: seconds that a call waits in all, if the server asks to
        retry
    :param now: returns the current time
    :ivar version: the version of the requests; None: not yet negotiated
    """

    def __init__(
        self,
        policy: VersionPolicy,
        retry_for: float,
        now: Callable[[], datetime.datetime],
    ) -> None:
        self.version: Version | None = None
        self._policy = policy
        self._retry_for = retry_for
        self._now = now

    def call(self, route: AnyOperation, request: objects.Request) -> Steps:
        """Send a request, and return its result.

        :raises ServerTooOld: no version of the server can hold the request
        :raises RequestFailed: the server rejected it
        :raises vobjects_client.errors.InvalidResponse: the result is not as
            declared
        :raises vobjects.microversions.client.NoCommonVersion: the versions of
            both sides differ
        :raises vobjects.microversions.client.NoRange: the server announces no
            versions
        """
        request.check_complete()
        is_current = self.version is None
        if self.version is None:
            yield from self.negotiate()
        while True:
            assert self.version is not None
            version = self.version
            try:
                message = messages.write(route, request, version, self._policy)
            except ServerTooOld as error:
                if not is_current:
                    is_current = True
                    yield from self.negotiate()
                    continue
                reason = yield from self._reason(error.needed)
                raise ServerTooOld(
                    error.subject, error.needed, version, reason
                ) from error
            response = yield from self._send(message, version)
            if response.status_code == self._policy.unsupported_status and (
                not is_current
            ):
                is_current = True
                yield from self.negotiate()
                if self.version != version:
                    continue
            break
        # Also a redirection: without follow_redirects, nothing has happened.
        if not 200 <= response.status_code < 300:
            raise failure(response, self._now())
        served = negotiation.served_version(
            response.headers, self._policy.service_type
        )
        return messages.read(route, response, served or version, self._policy)

    def negotiate(self) -> Steps:
        """Ask the server for its versions, and choose the highest of both.

        :raises vobjects.microversions.client.NoCommonVersion: there is none
        :raises vobjects.microversions.client.NoRange: the server announces no
            versions
        :raises RequestFailed: the same, because of an error
        """
        policy = self._policy
        # At its lowest version, Barbican does not show the range.
        response = yield from self._send(
            messages.Message('GET', '/'), 'latest'
        )
        try:
            document = response.json()
        except ValueError:
            document = None
        try:
            server = negotiation.range_of(document, policy.minimum.major)
        except negotiation.NoRange as error:
            if 200 <= response.status_code < 300:
                raise
            raise failure(response, self._now()) from error
        self.version = negotiation.negotiate(
            server, [(policy.minimum, policy.maximum)]
        )

    def _reason(self, version: Version) -> Steps:
        """Return the server's reason not to serve a version; or ``''``."""
        # Servers serve discovery at any version, and refuse a version before
        # they look for the path.
        message = messages.Message('GET', f'/{self._policy.major}/-')
        response = yield from self._send(message, version)
        if response.status_code != self._policy.unsupported_status:
            return ''
        return failure(response, self._now()).detail

    def _send(
        self, message: messages.Message, version: Version | str
    ) -> Steps:
        """Send a message until the server does not ask to retry."""
        headers = {
            'Accept': 'application/json',
            HEADER: f'{self._policy.service_type} {version}',
            **dict.fromkeys(self._policy.legacy_headers, str(version)),
        }
        message = dataclasses.replace(message, headers=headers)
        left = self._retry_for
        while True:
            response = yield message
            may_retry = response.status_code in _NOT_PROCESSED or (
                response.status_code == 503 and message.method in _REPEATABLE
            )
            delay = retry_after(response.headers, self._now())
            if delay is not None:
                # With 0, or a time in the past, the attempts never end.
                delay = max(delay, _SHORTEST_WAIT)
            if not may_retry or delay is None or delay > left:
                return response
            left -= delay
            yield delay


def retry_after(
    headers: Mapping[str, str], now: datetime.datetime
) -> float | None:
    """Return the seconds in ``Retry-After``, which may also be a date.

    :returns: None without the header, or if it is malformed
    """
    text = headers.get('Retry-After', '').strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        at = email.utils.parsedate_to_datetime(text)
        return max(0.0, (at - now).total_seconds())
    except (TypeError, ValueError):
        return None


def failure(response: Any, now: datetime.datetime) -> RequestFailed:
    """Return the error in a response of any service."""
    try:
        document = response.json()
    except ValueError:
        document = None
    item: Any = document
    if isinstance(document, dict) and isinstance(document.get('errors'), list):
        item = next(iter(document['errors']), document)
    code = item.get('code') if isinstance(item, dict) else ''
    detail = _detail(item) or _detail(document) or response.reason_phrase
    if location := response.headers.get('Location'):
        detail = f'{detail}, to {location}'
    return RequestFailed(
        response.status_code,
        detail,
        code=code if isinstance(code, str) else '',
        request_id=response.headers.get('X-OpenStack-Request-ID', ''),
        needed=negotiation.required_version(document),
        retry_after=retry_after(response.headers, now),
    )


#: Keys of the text of an error, most specific first.
_TEXTS = ('detail', 'message', 'faultstring', 'description')


def _detail(item: Any) -> str:
    """Return the text of an error in the format of any service.

    Some nest it in an object, whose key depends on the error, or in a text
    with JSON.
    """
    if not isinstance(item, dict):
        return ''
    for key in _TEXTS:
        if isinstance(item.get(key), str) and item[key]:
            return str(item[key])
    for value in item.values():
        if isinstance(value, str) and value.startswith('{'):
            try:
                value = json.loads(value)
            except ValueError:
                continue
        if detail := _detail(value):
            return detail
    title = item.get('title')
    return title if isinstance(title, str) else ''
