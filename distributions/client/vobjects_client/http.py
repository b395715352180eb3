# SPDX-License-Identifier: Apache-2.0
"""Clients, which send the requests of an exchange with httpx."""

from __future__ import annotations

import asyncio
import datetime
import inspect
import time
import typing
from collections.abc import Callable
from typing import Any, ClassVar, Generic

import httpx

from vobjects.microversions.version_policy import VersionPolicy
from vobjects.versions import Version
from vobjects_client.exchange import Exchange, Steps
from vobjects_client.messages import Message
from vobjects_client.operations import AnyOperation, Http, Operations


def _utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class Client(Generic[Http]):
    """A client of one endpoint; a subclass declares its groups of operations.

    The attributes annotated with a subclass of
    :class:`~vobjects_client.operations.Operations` are its groups. The version
    is negotiated with the first call, and again if the server no longer serves
    it, or if a call needs a higher one. A client may be used by several
    threads or tasks.

    :cvar POLICY: version policy of the service; its range is that of the
        client
    :param http: an ``httpx.Client`` or ``httpx.AsyncClient`` with the base
        URL, the headers with a token, or an ``auth``, and the timeout. Close
        it when you no longer need it
    :param retry_for: seconds that a call waits in all, if the server responds
        with ``Retry-After`` to a request that may be repeated
    :param sleep: waits some seconds; in an asynchronous client, it returns an
        awaitable. Default: ``time.sleep``, ``asyncio.sleep``
    :param now: returns the current time with its time zone
    """

    POLICY: ClassVar[VersionPolicy]

    def __init__(
        self,
        http: Http,
        *,
        retry_for: float = 60,
        sleep: Callable[[float], Any] | None = None,
        now: Callable[[], datetime.datetime] = _utc_now,
    ) -> None:
        self._http: Any = http
        self._exchange = Exchange(self.POLICY, retry_for, now)
        is_async = isinstance(http, httpx.AsyncClient)
        self._sleep: Callable[[float], Any] = sleep or (
            asyncio.sleep if is_async else time.sleep
        )
        self._run = self._run_async if is_async else self._run_sync
        for name, kind in typing.get_type_hints(type(self)).items():
            group = typing.get_origin(kind) or kind
            if inspect.isclass(group) and issubclass(group, Operations):
                setattr(self, name, group(self._call))

    @property
    def version(self) -> Version | None:
        """The negotiated version; None: there was no call yet."""
        return self._exchange.version

    def _call(self, route: AnyOperation, /, **fields: Any) -> Any:
        request = route.request(**fields)
        return self._run(self._exchange.call(route, request))

    def _run_sync(self, steps: Steps) -> Any:
        result = None
        while True:
            try:
                step = steps.send(result)
            except StopIteration as end:
                return end.value
            if isinstance(step, float):
                result = self._sleep(step)
            else:
                result = self._http.send(self._built(step))

    async def _run_async(self, steps: Steps) -> Any:
        result = None
        while True:
            try:
                step = steps.send(result)
            except StopIteration as end:
                return end.value
            if isinstance(step, float):
                result = await self._sleep(step)
            else:
                result = await self._http.send(self._built(step))

    def _built(self, message: Message) -> httpx.Request:
        request: httpx.Request = self._http.build_request(
            message.method,
            message.path,
            params=message.query or None,
            json=message.body,
            headers=message.headers,
        )
        return request
