# SPDX-License-Identifier: Apache-2.0
"""Sends a request at a version that every live server speaks.

A peer may join between our last look at the fleet and the arrival of a
message. It then refuses the message as one it cannot read; the client looks
again and sends once more, lower, or reports what would be lost.

A server may die while it has a message. Where all servers remember what they
have done, the same call is sent once more, to another one: it is done now, or
the answer of then comes back. With RabbitMQ the broker does so.
"""

from __future__ import annotations

import functools
import logging
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import oslo_messaging
from oslo_versionedobjects import exception as ovo_exception

from vobjects import base, exceptions, serializer
from vobjects.manifest import Manifest, own
from vobjects.rpc import fleet, objects
from vobjects.rpc.drivers import errors
from vobjects.versions import Version

LOG = logging.getLogger(__name__)

#: The one RPC method; which handler it reaches is the request's type.
METHOD = 'perform'

#: What a server says that cannot read a message.
NOT_UNDERSTOOD = (
    ovo_exception.IncompatibleObjectVersion,
    ovo_exception.UnsupportedObjectError,
)


class Client:
    """Calls the servers of one topic.

    :param transport: an ``oslo_messaging.Transport``
    :param topic: what the servers serve
    :param view: returns a view of the fleet whose lease holds
    :param refresh: renews that view at once
    :param timeout: seconds a call may take
    :ivar on_downgrade: called with the name of a request's type whenever a
        live server keeps it from being sent in our newest form
    """

    def __init__(
        self,
        transport: Any,
        topic: str,
        *,
        view: Callable[[], fleet.View],
        refresh: Callable[[], fleet.View],
        timeout: float,
    ) -> None:
        self.topic = topic
        self.on_downgrade: Callable[[str], None] = lambda type_name: None
        self._view = view
        self._refresh = refresh
        self._own = own()
        self._rpc = oslo_messaging.get_rpc_client(
            transport,
            oslo_messaging.Target(topic=topic, version='1.0'),
            timeout=timeout,
            serializer=ContextSerializer(),
        )

    def call(
        self,
        context: Any,
        request: base.Request,
        shown: Manifest | None = None,
    ) -> Any:
        """Ask one server, and return its answer.

        :param context: has ``to_dict()``, or is a dict
        :param shown: what the client's microversion shows; the request is
            sent no newer than this. None: as new as the servers speak
        :returns: a Resource, a list of them, or None
        :raises vobjects.exceptions.LossyDowngrade: a live server is too old
            for what the request says
        :raises vobjects.exceptions.TypeNotSpoken: or does not know it at all
        :raises vobjects.exceptions.NoLivePeer: no view of the fleet
        :raises oslo_messaging.MessagingException: the message or the answer
            was lost, or took too long
        :raises Exception: what the server's handler raised
        """
        view = self._view()
        call = uuid.uuid4().hex
        try:
            return self._send(context, request, view, shown, call)
        except NOT_UNDERSTOOD:
            view = self._refresh()
        except errors.AnswerLost as error:
            if not _remembers(view.cap(self.topic)):
                raise
            LOG.info('Asking once more: %s', error)
        try:
            return self._send(context, request, view, shown, call)
        except NOT_UNDERSTOOD as error:
            # Twice: somebody consumes who is not in the ledger.
            raise exceptions.TypeNotSpoken(
                request.obj_name(),
                'a server that is not in the ledger answered'
                f' "{str(error).splitlines()[0]}"',
            ) from error

    def ask(
        self, request: base.Request, timeout: float, server: str = ''
    ) -> Any:
        """Send a request of :mod:`vobjects.rpc.objects` without a view.

        Nothing is known yet of who will read it, so it is said at 1.0.

        :param timeout: seconds the call may take
        :param server: which to ask; empty: any
        """
        lowest = Manifest(dict.fromkeys(self._own, '1.0'))
        rpc = self._rpc.prepare(timeout=timeout, server=server or None)
        return self._exchange({}, request, lowest, rpc)

    def _send(
        self,
        context: Any,
        request: base.Request,
        view: fleet.View,
        shown: Manifest | None,
        call: str,
    ) -> Any:
        cap = view.cap(self.topic)
        if not cap:
            raise exceptions.NoLivePeer(
                f'no server of {self.topic!r} is alive'
            )
        spoken = _lowest(self._own, cap, shown or self._own)
        name = request.obj_name()
        said = spoken.get(name)
        if said is not None and said == cap[name] != self._own[name]:
            self.on_downgrade(name)
        try:
            return self._exchange(context, request, spoken, self._rpc, call)
        except exceptions.LossyDowngrade as error:
            why = self._why(view, error.type_name, error.from_version)
            raise error.for_peer(error.peer or why) from None
        except exceptions.TypeNotSpoken as error:
            raise exceptions.TypeNotSpoken(
                error.type_name, self._why(view, error.type_name, '1.0')
            ) from None

    def _exchange(
        self,
        context: Any,
        request: base.Request,
        spoken: Manifest,
        rpc: Any,
        call: str = '',
    ) -> Any:
        # Text, because the driver of RabbitMQ would walk through a primitive
        # once more to write it, and again to read it.
        message = serializer.to_bytes(request, spoken).decode()
        reader: dict[str, Any] = {'digest': self._own.digest, 'call': call}
        try:
            answer = rpc.call(context, METHOD, request=message, reader=reader)
        except exceptions.UnknownReader:
            reader['manifest'] = dict(self._own)
            answer = rpc.call(context, METHOD, request=message, reader=reader)
        return serializer.from_message(answer, context)

    def _why(self, view: fleet.View, type_name: str, needs: str) -> str:
        """Return who forces an older version of a type, in words."""
        cap = view.cap(self.topic)
        limit = fleet.Limit(
            Version(),
            type_name,
            needs,
            cap.get(type_name),
            view.forced_by(self.topic, type_name),
        )
        return limit.reason


class ContextSerializer(oslo_messaging.NoOpSerializer):  # type: ignore[misc]
    """Sends contexts as dicts; objects are converted before they get here."""

    def serialize_context(self, context: Any) -> dict[str, Any]:
        """Return the context as JSON data."""
        values: Mapping[str, Any] = (
            context if isinstance(context, Mapping) else context.to_dict()
        )
        return dict(values)


def _remembers(cap: Manifest) -> bool:
    """Tell whether every live server knows what it has done already."""
    return objects.Answered.obj_name() in cap


@functools.lru_cache(maxsize=256)
def _lowest(ours: Manifest, cap: Manifest, shown: Manifest) -> Manifest:
    """Return what may be said: known to us and to them, shown to the client.

    A type that the microversion does not show stays at the cap; it can only
    be inside an answer.
    """
    spoken = {}
    for name in ours.keys() & cap.keys():
        versions = [ours.version(name), cap.version(name), shown.version(name)]
        spoken[name] = str(min(v for v in versions if v is not None))
    return Manifest(spoken)
