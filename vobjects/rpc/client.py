# SPDX-License-Identifier: Apache-2.0
"""Send requests at a version that every live server supports.

Calls that need more may go to the servers that support it: see
``vobjects.rpc.routing``.

A server may join between the client's last view of the fleet and the arrival
of a message. It rejects a message that is too new for it. The client then
renews its view and sends the request once more, in an older version, or
reports the data that would be lost.

A call ends within its timeout, whatever the message bus does. If the ledger's
clock is known, the message carries the deadline, and servers reject messages
that arrive later.

The response to a message may be lost: its server dies, or the connection to
the broker. A driver that notices it raises a timeout whose attribute
``answer_lost`` is true. The client then sends the same call again: the next
server either performs it or returns the recorded response. A broker may itself
redeliver the calls of a dead server.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import oslo_messaging
from oslo_versionedobjects import exception as ovo_exception

from vobjects import exceptions, objects
from vobjects.number_options import LONGEST
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import (
    call_limits,
    fleet,
    response_text,
    routing,
    serializer,
    tracing,
)
from vobjects.versions import Version

LOG = logging.getLogger(__name__)

#: The only RPC method; the type of the request selects the handler.
METHOD = 'perform'

#: Errors of a server that cannot read a message.
UNREADABLE = (
    ovo_exception.IncompatibleObjectVersion,
    ovo_exception.UnsupportedObjectError,
)

#: Ends the names of the classes of errors that oslo.messaging has rebuilt.
REMOTE_SUFFIX = '_Remote'

#: Shortest timeout, and a negligible difference between two, in seconds.
_MIN_TIMEOUT = 0.1

#: Default limit of calls that wait at the same time.
MAX_CALLS = 64

#: Reads the message of a response, for a context.
Read = Callable[[Any, Any], Any]

#: See :class:`Client`.
AwaitView = Callable[[Callable[[fleet.View], bool], float], fleet.View]


@dataclasses.dataclass(slots=True)
class _Call:
    """A call, however often it is sent.

    :ivar reader: see :meth:`vobjects.rpc.server.Endpoint.perform`
    :ivar deadline: when the caller stops waiting, by the monotonic clock
    :ivar shown: versions of the types in the response; None: all that the
        microversion shows
    :ivar needs: versions above the cap that its server must support
    """

    context: Any
    reader: dict[str, Any]
    deadline: float
    shown: Manifest | None = routing.NOTHING
    needs: Manifest = routing.NOTHING

    @property
    def remaining(self) -> float:
        """Seconds until the caller stops waiting."""
        return self.deadline - time.monotonic()


class Client:
    """Calls the servers of one topic.

    :param transport: an ``oslo_messaging.Transport``
    :param topic: topic of the servers
    :param get_view: returns a view of the fleet with a valid lease
    :param refresh_view: renews that view at once, and returns it
    :param timeout: timeout of a call, in seconds; at most 20 days
    :param ledger_deadline: converts seconds from now to a time on the ledger's
        clock; returns None if that is unknown
    :param max_calls: maximum number of calls that wait at the same time
    :param await_view: waits up to a number of seconds for a view that
        satisfies a condition, and returns the current view
    :ivar on_downgrade: called with the name of a request's type whenever the
        client sends an older version of it because of a live server
    """

    def __init__(
        self,
        transport: Any,
        topic: str,
        *,
        get_view: Callable[[], fleet.View],
        refresh_view: Callable[[], fleet.View],
        timeout: float,
        ledger_deadline: Callable[[float], float | None] = lambda _: None,
        max_calls: int = MAX_CALLS,
        await_view: AwaitView = lambda is_ready, timeout: fleet.View(0, ()),
    ) -> None:
        self.topic = topic
        self.on_downgrade: Callable[[str], None] = lambda type_name: None
        self._get_view = get_view
        self._refresh_view = refresh_view
        self._timeout = timeout = min(timeout, LONGEST)
        self._ledger_deadline = ledger_deadline
        self._limit = call_limits.CallLimit(max_calls)
        self._await_view = await_view
        self._local = local()
        self._lowest = Manifest(dict.fromkeys(self._local, '1.0'))
        self._rpc = oslo_messaging.get_rpc_client(
            transport,
            oslo_messaging.Target(topic=topic, version='1.0'),
            timeout=timeout,
            serializer=ContextSerializer(),
        )

    def call(
        self,
        context: Any,
        request: objects.Request,
        versions: Manifest | None = None,
    ) -> Any:
        """Send a request to one server and return its response.

        :param context: a dict, or an object with ``to_dict()``
        :param versions: manifest of the API client's microversion: upper limit
            of the version to send. None: the newest version that all live
            servers support
        :returns: a Resource, a list of them, or None
        :raises vobjects.exceptions.LossyDowngrade: a live server is too old
            for the data of the request
        :raises vobjects.exceptions.UnsupportedType: a live server does not
            know the type of the request
        :raises vobjects.exceptions.NoCapablePeer: no live server supports what
            the request needs, and its type has opted in to such servers
        :raises vobjects.exceptions.NoLivePeer: there is no valid view of the
            fleet, or no live server
        :raises oslo_messaging.MessagingException: the message or the response
            was lost, or the timeout expired
        :raises Exception: any error of the server's handler
        """
        return self._start(
            context, request, versions, serializer.from_bytes, {}
        )

    def call_for_text(
        self,
        context: Any,
        request: objects.Request,
        versions: Manifest,
        *,
        shown: Manifest | None = None,
        part: str = '',
    ) -> response_text.ResponseText:
        """Send a request to one server and return its response as JSON text.

        A server writes the text, unless it is too old for that.

        :param versions: see :meth:`call`
        :param shown: the part of ``versions`` with the types in the response,
            which makes the message shorter
        :param part: name of the field of the response to return as text;
            empty: the whole response
        :raises Exception: see :meth:`call`
        """
        shown = versions if shown is None else shown

        def read(message: Any, _context: Any) -> response_text.ResponseText:
            text = response_text.load(message)
            if text is None:
                response = serializer.from_bytes(message)
                text = response_text.write(response, shown, part)
            return text

        text: response_text.ResponseText = self._start(
            *(context, request, versions, read),
            {'text': {'versions': dict(shown), 'part': part}},
            None if shown is versions else shown,
        )
        return text

    def _start(
        self,
        context: Any,
        request: objects.Request,
        versions: Manifest | None,
        read: Read,
        reader: dict[str, Any],
        shown: Manifest | None = routing.NOTHING,
    ) -> Any:
        deadline = time.monotonic() + self._timeout
        with self._limit.slot(self._timeout):
            reader = {'call': uuid.uuid4().hex, **reader}
            call = _Call(context, reader, deadline, shown)
            with tracing.calling(request, call.reader):
                message = self._call(call, request, versions)
                # An error of this is no rejection: the call was performed.
                return read(message, context)

    def _call(
        self,
        call: _Call,
        request: objects.Request,
        versions: Manifest | None,
    ) -> Any:
        reader = call.reader
        view = self._get_view()
        is_renewed: bool = False
        lost: oslo_messaging.MessagingTimeout | None = None
        while True:
            # An error of writing comes from this process, and only an error of
            # the exchange from a server.
            try:
                with self._reasons(view):
                    message, rpc = self._prepare(call, request, view, versions)
            except exceptions.NoCapablePeer as error:
                if lost is not None:
                    raise lost from error  # the call may have been performed
                if not routing.may_wait(call.needs) or call.remaining <= 0:
                    raise
                view = self._await_view(
                    lambda view: bool(view.capable(self.topic, call.needs)),
                    call.remaining,
                )
                continue
            try:
                with self._reasons(view):
                    return self._exchange(call, message, rpc)
            except exceptions.UnknownManifest:
                if 'manifest' in reader:
                    raise
                reader['manifest'] = dict(self._local)
                # The lease may have expired while the message was under way.
                view = self._get_view()
            except UNREADABLE as error:
                if is_renewed:
                    # Rejected twice: a server consumes that is not in the
                    # ledger.
                    raise exceptions.UnsupportedType(
                        request.obj_name(),
                        'a server that is not in the ledger answered'
                        f' "{str(error).splitlines()[0]}"',
                    ) from error
                view, is_renewed = self._refresh_view(), True
            except oslo_messaging.MessagingTimeout as error:
                if lost or not getattr(error, 'answer_lost', None):
                    raise
                LOG.info('Sending the call again: %s', error)
                view, lost = self._get_view(), error

    def call_ledger(self, request: objects.Request, timeout: float) -> Any:
        """Send a fleet protocol request to the next server in turn.

        The request is one of :mod:`vobjects.rpc.fleet_types`. The reader's
        versions are not known yet, so it is sent in version 1.0, without a
        view of the fleet.

        :param timeout: timeout of the call, in seconds
        """
        rpc = self._rpc.prepare(timeout=timeout)
        deadline = time.monotonic() + timeout
        message = serializer.to_bytes(request, self._lowest).decode()
        call = _Call({}, {}, deadline)
        try:
            response = self._exchange(call, message, rpc)
        except exceptions.UnknownManifest:
            call.reader['manifest'] = dict(self._local)
            response = self._exchange(call, message, rpc)
        return serializer.from_bytes(response)

    def _prepare(
        self,
        call: _Call,
        request: objects.Request,
        view: fleet.View,
        versions: Manifest | None,
    ) -> tuple[str, Any]:
        """Return the message of a call, and the RPC client to send it.

        :raises vobjects.exceptions.NoCapablePeer: no live server supports what
            the call needs
        """
        cap = view.cap(self.topic)
        if not cap:
            raise exceptions.NoLivePeer(
                f'no server of {self.topic!r} is alive'
            )
        if versions is not None:
            cls: Any = type(request)
            call.needs = routing.needs(cls, cap, versions, call.shown)
        message, rpc = self._write(request, view, call.needs, versions)
        ledger_deadline = self._ledger_deadline(call.remaining)
        if ledger_deadline is not None:
            call.reader['deadline'] = ledger_deadline
        return message, rpc

    @contextlib.contextmanager
    def _reasons(self, view: fleet.View) -> Iterator[None]:
        """Add the members that force an older version to errors."""
        try:
            yield
        except exceptions.LossyDowngrade as error:
            if error.is_upgrade:
                raise  # by a server that is newer, not too old
            reason = self._reason(view, error.type_name, error.from_version)
            raise error.for_peer(error.peer or reason) from None
        except exceptions.UnsupportedType as error:
            raise exceptions.UnsupportedType(
                error.type_name, self._reason(view, error.type_name, '1.0')
            ) from None

    def _write(
        self,
        request: objects.Request,
        view: fleet.View,
        needs: Manifest,
        versions: Manifest | None,
    ) -> tuple[str, Any]:
        """Return the message of a request, and the RPC client to send it.

        :param needs: versions above the cap that the server must support
        :param versions: upper limit of the versions to send
        """
        limit, rpc = view.cap(self.topic), self._rpc
        if needs:
            chosen = routing.choose(view, self.topic, needs)
            rpc = rpc.prepare(server=chosen.digest)
            limit = view.limited(chosen)
        manifest = _common_versions(
            self._local, limit, versions or self._local
        )
        name = request.obj_name()
        version = manifest.get(name)
        if version is not None and version == limit[name] != self._local[name]:
            self.on_downgrade(name)
        tracing.sent(request, version)
        try:
            # Text, because the RabbitMQ driver would traverse a primitive once
            # more to encode it, and again to decode it.
            return serializer.to_bytes(request, manifest).decode(), rpc
        except exceptions.TOO_OLD as error:
            more = routing.with_value(needs, error)
            if more == needs or not view.capable(self.topic, more):
                raise
            return self._write(request, view, more, versions)

    def _exchange(self, call: _Call, message: str, rpc: Any) -> Any:
        call.reader['digest'] = self._local.digest
        remaining = call.remaining
        if remaining < self._timeout - _MIN_TIMEOUT:
            rpc = rpc.prepare(timeout=max(remaining, _MIN_TIMEOUT))

        try:
            return rpc.call(
                call.context, METHOD, request=message, reader=call.reader
            )
        except Exception as error:
            _hide_remote_traceback(error)
            raise

    def _reason(self, view: fleet.View, type_name: str, version: str) -> str:
        """Return a clause about the members that force an older version."""
        cap = view.cap(self.topic)
        return fleet.MicroversionLimit(
            Version(),
            type_name,
            version,
            cap.get(type_name),
            view.limiting_groups(self.topic, type_name),
        ).reason


class ContextSerializer(oslo_messaging.NoOpSerializer):  # type: ignore[misc]
    """Sends contexts as dicts; objects are already serialized by then."""

    def serialize_context(self, context: Any) -> dict[str, Any]:
        """Return the context as JSON data."""
        is_mapping = isinstance(context, Mapping)
        return dict(context if is_mapping else context.to_dict())


def _hide_remote_traceback(error: Exception) -> None:
    """Restore the class of an error that a server has raised.

    oslo.messaging raises a subclass ``..._Remote``, whose ``str()`` ends with
    the server's traceback, which must not reach the clients of an API.
    """
    cls = type(error)
    if cls.__name__.endswith(REMOTE_SUFFIX):
        LOG.debug('Raised by a server: %s', error)
        error.__class__ = cls.__bases__[0]


@functools.lru_cache(maxsize=256)
def _common_versions(
    local: Manifest, cap: Manifest, limit: Manifest
) -> Manifest:
    """Return the highest versions in all three manifests.

    A type that ``limit`` lacks stays at the version of the cap; it can only
    occur in a response.
    """
    common = {}
    for name in local.keys() & cap.keys():
        versions = [manifest.version(name) for manifest in (local, cap, limit)]
        common[name] = str(min(v for v in versions if v is not None))
    return Manifest(common)
