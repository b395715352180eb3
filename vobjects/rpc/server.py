# SPDX-License-Identifier: Apache-2.0
"""Receives requests of any age and answers in what the caller speaks.

::

    class ClusterHandlers:
        @handles(ClusterGetRequest)
        def get(self, context, request):
            return ...   # a Resource, a list of them, or None

    server.Endpoint([ClusterHandlers()], speaks=manifest.own(), ...)

The request arrives as an object of our newest form, whatever its age. The
gates are the sender's: what can be read is done.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import oslo_messaging
from oslo_versionedobjects import exception as ovo_exception

from vobjects import base, exceptions, serializer
from vobjects.codec import unread
from vobjects.codec.compiled import compiled
from vobjects.manifest import Manifest, minimum, own
from vobjects.rpc import objects

LOG = logging.getLogger(__name__)

#: Manifests of readers that are remembered by digest.
MAX_READERS = 256

_HANDLES = '_vobjects_handles'

Handler = Callable[[Any, Any], Any]

#: Returns the answer that the call of an id was given, if it was: see
#: :class:`Endpoint`.
Recall = Callable[[str], 'objects.Answered | None']

_current: contextvars.ContextVar[str] = contextvars.ContextVar(
    'vobjects_call', default=''
)


def current_call() -> str:
    """Return the id of the call that this thread handles; empty: none.

    The same call may come twice, if an answer was lost or a broker delivers
    a message once more. A handler that changes something records the id and
    its answer in the same transaction, where a second record is refused.
    """
    return _current.get()


@contextlib.contextmanager
def handling(call: str) -> Iterator[None]:
    """Have a call be the current one in a block.

    :param call: its id; empty: what the block does is part of no call, but
        knows by itself whether it was done before
    """
    token = _current.set(call)
    try:
        yield
    finally:
        _current.reset(token)


Method = TypeVar('Method', bound=Callable[..., Any])


def handles(request_type: type[base.Request]) -> Callable[[Method], Method]:
    """Mark a method ``(self, context, request)`` as a type's handler."""

    def mark(method: Method) -> Method:
        setattr(method, _HANDLES, request_type)
        return method

    return mark


def handlers_of(services: Iterable[object]) -> dict[str, Handler]:
    """Collect the marked methods of some objects by request type.

    :raises vobjects.exceptions.DeclarationError: two handle one type
    """
    found: dict[str, Handler] = {}
    for service in services:
        for name in dir(type(service)):
            request_type = getattr(
                getattr(type(service), name), _HANDLES, None
            )
            if request_type is None:
                continue
            handler = getattr(service, name)
            type_name = request_type.obj_name()
            if type_name in found:
                raise exceptions.DeclarationError(
                    f'{type_name} is handled by'
                    f' {found[type_name].__qualname__} and by'
                    f' {handler.__qualname__}'
                )
            found[type_name] = handler
    return found


class Observer(Protocol):
    """Hears what an endpoint does. Both methods are quick."""

    def answered(
        self, request: str | None, error: Exception | None, seconds: float
    ) -> None:
        """Hear of a request that is done.

        :param request: its type; None: none that is handled here
        :param error: what it was refused with, or failed by
        """

    def downgraded(self, request: str) -> None:
        """Hear that the caller is older, and is answered in its form."""


class _Nobody:
    """Listens to nothing."""

    def answered(
        self, request: str | None, error: Exception | None, seconds: float
    ) -> None:
        """See :class:`Observer`."""

    def downgraded(self, request: str) -> None:
        """See :class:`Observer`."""


@dataclasses.dataclass(slots=True)
class _Call:
    """What is known of a call while it is performed."""

    name: str | None = None


class Endpoint:
    """The endpoint of an RPC server.

    :param services: objects with methods marked by :func:`handles`
    :param speaks: what this process understands; less than what it was
        built with when it stands in for an older release
    :param expected: classes of errors that are answers, not faults: they
        are not logged with a traceback
    :param context_from: rebuilds the caller's context from a dict
    :param prepare: called with the caller's context before each request is
        handled; it may refuse
    :param observer: told of each request
    :param recall: looks up what a handler has recorded of a call, see
        :func:`current_call`; asked when a handler raises, because that may
        be for no other reason than that it has been done already
    :param known_reader: returns the manifest of a digest, if the fleet has
        it. A caller can be asked for it, but its answer goes to the next
        server in turn, which of two is always the other one
    """

    target = oslo_messaging.Target(version='1.0')

    def __init__(
        self,
        services: Iterable[object],
        *,
        speaks: Manifest,
        expected: tuple[type[Exception], ...] = (),
        context_from: Callable[[dict[str, Any]], Any] = dict,
        prepare: Callable[[Any], None] = lambda context: None,
        known_reader: Callable[[str], Manifest | None] = lambda digest: None,
        observer: Observer | None = None,
        recall: Recall = lambda call: None,
    ) -> None:
        self._recall = recall
        self._handlers = handlers_of(services)
        self._speaks = speaks
        self._emulates = speaks != own()
        self._expected: tuple[type[Exception], ...] = (
            *expected,
            exceptions.VobjectsError,
            ovo_exception.IncompatibleObjectVersion,
            ovo_exception.UnsupportedObjectError,
        )
        self._context_from = context_from
        self._prepare = prepare
        self._known_reader = known_reader
        self._observer = observer or _Nobody()
        self._readers: dict[str, Manifest] = {}
        self._readers_lock = threading.Lock()

    def perform(
        self, context: dict[str, Any], request: Any, reader: Mapping[str, Any]
    ) -> Any:
        """Do what a request asks; the one RPC method.

        :param request: the primitive of a Request, or its JSON text; the
            answer is what the request is
        :param reader: ``digest`` of the caller's manifest; with ``manifest``
            when we said that we have never seen it; ``call``: an id that
            this call has for itself, however often it comes
        """
        call = _Call()
        began = time.perf_counter()
        failure: Exception | None = None
        try:
            return self._perform(context, request, reader, call)
        except self._expected as error:
            failure = error
            LOG.debug('Refused: %s: %s', type(error).__name__, error)
            raise oslo_messaging.ExpectedException() from error
        except Exception as error:
            failure = error
            raise
        finally:
            self._observer.answered(
                call.name, failure, time.perf_counter() - began
            )

    def _perform(
        self,
        context: dict[str, Any],
        request: Any,
        reader: Mapping[str, Any],
        call: _Call,
    ) -> Any:
        reads = self._reader(reader)
        rebuilt = self._context_from(context)
        asked = serializer.from_message(
            request, rebuilt, self._speaks if self._emulates else None
        )
        handler = None
        if isinstance(asked, base.Request):
            handler = self._handlers.get(asked.obj_name())
        if handler is None:
            raise ovo_exception.UnsupportedObjectError(
                objtype=type(asked).__name__
            )
        call.name = asked.obj_name()
        answer = _settled(
            self._answer(handler, rebuilt, asked, reader.get('call', ''))
        )
        spoken = _both(self._speaks, reads)
        if spoken != self._speaks:
            self._observer.downgraded(call.name)
        if isinstance(request, str):
            return serializer.to_bytes(answer, spoken).decode()
        return serializer.to_wire(answer, spoken)

    def _answer(
        self, handler: Handler, context: Any, asked: Any, call: str
    ) -> Any:
        try:
            with handling(call):
                self._prepare(context)
                return handler(context, asked)
        except Exception:
            before = self._recall(call) if call else None
            if before is None:
                raise
            LOG.info('Call %s came once more; it was done before', call)
            return serializer.from_wire(before.content)

    def _reader(self, reader: Mapping[str, Any]) -> Manifest:
        digest = reader['digest']
        if digest == self._speaks.digest:
            return self._speaks
        told = reader.get('manifest')
        with self._readers_lock:
            known = self._readers.get(digest)
            if known is not None:
                return known
            if told is not None:
                known = Manifest.parse(told, 'the reader')
            else:
                known = self._known_reader(digest)
            if known is None:
                raise exceptions.UnknownReader(digest)
            while len(self._readers) >= MAX_READERS:
                del self._readers[next(iter(self._readers))]
            self._readers[known.digest] = known
            return known


def _settled(answer: Any) -> Any:
    """Return an answer as what is: nothing in it is anybody's change.

    Naming each field as changed would be half of what is sent.
    """
    if isinstance(answer, unread.UnreadObjects):
        objects = unread.made_objects(answer)
    else:
        objects = answer if isinstance(answer, list) else [answer]
    for one in objects:
        if isinstance(one, base.Object):
            one.obj_reset_changes(recursive=compiled(type(one)).holds_objects)
    return answer


def emulated(manifest: Manifest) -> Manifest:
    """Return what a process speaks that stands in for an older release.

    The fleet's own types are always spoken: no release lacks them.

    :raises vobjects.exceptions.VobjectsError: it names what we are too old
        for, or what we do not know
    """
    ours = own()
    for name, version in manifest.items():
        known = ours.version(name)
        wanted = manifest.version(name)
        if known is None or wanted is None or wanted > known:
            raise exceptions.VobjectsError(
                f'the manifest asks for {name} {version}, but this build has'
                f' {"it at " + str(known) if known else "no such type"}'
            )
    always = {cls.obj_name(): cls.VERSION for cls in objects.ALWAYS}
    return Manifest({**manifest, **always})


@functools.lru_cache(maxsize=MAX_READERS)
def _both(ours: Manifest, reads: Manifest) -> Manifest:
    return minimum([ours, reads])
