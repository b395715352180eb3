# SPDX-License-Identifier: Apache-2.0
"""Receive requests of any version and respond in the caller's version.

::

    class ClusterHandlers:
        @handles(ClusterGetRequest)
        def get(self, context, request):
            return ...   # a Resource, a list of them, or None

    server.Endpoint([ClusterHandlers()], manifest=manifest.local(), ...)

Whatever its version, the request reaches the handler as an object of the
newest version. Version limits are enforced by the sender: the server handles
every request that it can read.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

import oslo_messaging
from oslo_serialization import jsonutils
from oslo_versionedobjects import exception as ovo_exception

from vobjects import exceptions, json_depth, objects
from vobjects.objects.codec import json_text
from vobjects.objects.manifest import Manifest, common, local
from vobjects.rpc import (
    byte_budget,
    call_state,
    fleet_types,
    serializer,
    tracing,
)
from vobjects.rpc.dispatcher import error_for
from vobjects.versions import Version

LOG = logging.getLogger(__name__)

#: Maximum nesting of a request. A field holds at most ``json_depth.MAX_DEPTH``
#: levels of a user's data; objects inside of objects add some.
MAX_DEPTH = 2 * json_depth.MAX_DEPTH

#: Maximum number of reader manifests that are remembered by digest.
MAX_READERS = 256

_HANDLES = '_vobjects_handles'

Handler = Callable[[Any, Any], Any]

#: Errors that a handler may raise as its response: those of the service, and
#: those of this package that a live server is too old for what the handler
#: sends or stores, that there is none, or that a server that it needs, such as
#: the database, does not respond.
_RESPONSES = (
    exceptions.ServiceError,
    exceptions.LossyDowngrade,
    exceptions.NoLivePeer,
    exceptions.Unreachable,
    exceptions.UnsupportedType,
)

#: Errors that are not logged with a traceback.
_EXPECTED = (
    exceptions.ServiceError,
    exceptions.VobjectsError,
    ovo_exception.IncompatibleObjectVersion,
    ovo_exception.UnsupportedObjectError,
)

#: Other errors with which an endpoint or a client rejects a message. If a
#: handler raises one of these, for example because of a stored object, it must
#: not look as if this endpoint had rejected the call: the caller would send it
#: again. Nor must it look like an expected error, which is not logged.
_PROTOCOL_ERRORS = (
    exceptions.VobjectsError,
    ovo_exception.VersionedObjectsException,
    oslo_messaging.ExpectedException,
    oslo_messaging.MessagingException,
)

#: Maximum length of an error that is sent, as JSON text: a driver or a broker
#: drops a response that is too large, and the caller repeats the call.
MAX_ERROR = 1 << 16

#: Types of the parts of a message, and of those of its reader and its text.
_MESSAGE = {'context': Mapping, 'request': str, 'reader': Mapping}
_READER = {'digest': str, 'call': str, 'manifest': Mapping, 'text': Mapping}
_TEXT = {'versions': Mapping, 'part': str}

#: Returns the recorded response of the call with an id, or None: see
#: :class:`Endpoint`.
FindResponse = Callable[[str], 'fleet_types.Record | None']


Method = TypeVar('Method', bound=Callable[..., Any])


def handles(request_type: type[objects.Request]) -> Callable[[Method], Method]:
    """Mark a method ``(self, context, request)`` as a type's handler.

    :param request_type: type of the requests to handle
    """

    def mark(method: Method) -> Method:
        setattr(method, _HANDLES, request_type)
        return method

    return mark


def collect_handlers(services: Iterable[object]) -> dict[str, Handler]:
    """Collect the marked methods of some objects by request type.

    :raises vobjects.exceptions.DeclarationError: two methods handle one type
    """
    handlers: dict[str, Handler] = {}
    for service in services:
        for name in dir(type(service)):
            request_type = getattr(
                getattr(type(service), name), _HANDLES, None
            )
            if request_type is None:
                continue
            handler = getattr(service, name)
            type_name = request_type.obj_name()
            if type_name in handlers:
                raise exceptions.DeclarationError(
                    f'{type_name} is handled by'
                    f' {handlers[type_name].__qualname__} and by'
                    f' {handler.__qualname__}'
                )
            handlers[type_name] = handler
    return handlers


class Observer(Protocol):
    """Receives events of an endpoint. Both methods must return quickly."""

    def request_finished(
        self, request: str | None, error: Exception | None, seconds: float
    ) -> None:
        """Handle the end of a request.

        :param request: name of its type; None: a type without a handler here
        :param error: the error that rejected or failed the request; None:
            success
        :param seconds: duration of the request
        """

    def response_downgraded(self, request: str) -> None:
        """Handle a response that was sent in an older version."""


class Endpoint:
    """The endpoint of an RPC server.

    :param services: objects with methods marked by :func:`handles`
    :param manifest: versions that this process supports; lower than those of
        its build if it emulates an older release
    :param context_from: rebuilds the caller's context from a dict
    :param prepare: called with the caller's context before each request is
        handled; it may raise to reject the request
    :param observer: receives an event for each request
    :param find_response: looks up the recorded response of a call, see
        :mod:`vobjects.rpc.call_state`; called when a handler raises, because
        the call may already have been performed
    :param has_expired: returns whether a time on the ledger's clock has passed
    :param find_manifest: returns the manifest with a digest if a live member
        has it. Otherwise the caller sends its manifest in a second message,
        which goes to the next server in turn: with two servers, always to the
        other one
    :param response_bytes: bytes that handlers may reserve at a time for their
        responses; see ``vobjects.rpc.byte_budget``
    """

    target = oslo_messaging.Target(version='1.0')

    def __init__(
        self,
        services: Iterable[object],
        *,
        manifest: Manifest,
        context_from: Callable[[dict[str, Any]], Any] = dict,
        prepare: Callable[[Any], None] = lambda context: None,
        find_manifest: Callable[[str], Manifest | None] = lambda digest: None,
        observer: Observer | None = None,
        find_response: FindResponse = lambda call: None,
        has_expired: Callable[[float], bool] = lambda deadline: False,
        response_bytes: int = 64 << 20,
    ) -> None:
        self._budget = byte_budget.ByteBudget(response_bytes)
        self._find_response = find_response
        self._has_expired = has_expired
        self._handlers = collect_handlers(services)
        self._manifest = manifest
        self._emulates = manifest != local()
        self._context_from = context_from
        self._prepare = prepare
        self._find_manifest = find_manifest
        self._observer = observer
        self._readers: dict[str, Manifest] = {}
        self._readers_lock = threading.Lock()

    def perform(
        self, context: dict[str, Any], request: str, reader: Mapping[str, Any]
    ) -> str:
        """Perform a request; the only RPC method.

        :param context: the caller's context as a dict
        :param request: JSON text of the primitive of a Request
        :param reader: ``digest`` of the caller's manifest; ``manifest``
            itself, after this server reported an unknown digest; ``call``:
            unique id of the call, the same for each delivery; ``deadline``:
            time on the ledger's clock at which the caller's timeout expires;
            ``text``: ``versions`` and ``part`` of a response as JSON text, see
            :mod:`vobjects.rpc.response_text`; ``trace``: context of a trace,
            see ``vobjects.rpc.tracing``
        :returns: JSON text of the primitive of the response, or its text
        """
        call = call_state.Call()
        start = time.perf_counter()
        failure: Exception | None = None
        try:
            _check_message(context, request, reader)
            call.id = reader.get('call', '')
            with (
                byte_budget.call_scope(self._budget),
                tracing.handling(reader),
            ):
                return self._perform(context, request, reader, call)
        except _EXPECTED as error:
            failure = error
            LOG.debug('Rejected: %s: %s', type(error).__name__, error)
            raise oslo_messaging.ExpectedException() from error
        except Exception as error:
            failure = error
            raise
        except BaseException as ending:
            failure = error_for(ending)
            raise failure from ending
        finally:
            if self._observer is not None:
                self._observer.request_finished(
                    call.type_name, failure, time.perf_counter() - start
                )

    def _perform(
        self,
        context: dict[str, Any],
        request: str,
        reader: Mapping[str, Any],
        call: call_state.Call,
    ) -> str:
        deadline = reader.get('deadline')
        if isinstance(deadline, float) and self._has_expired(deadline):
            raise exceptions.DeadlinePassed(
                'the request arrived after the timeout of its caller'
            )
        manifest = common(self._manifest, self._reader_manifest(reader))
        primitive = _primitive_of(request)
        try:
            caller = self._context_from(context)
        except Exception as error:
            _check_own(error, 'the context of a call')
            raise
        message = serializer.from_wire(
            primitive, caller, self._manifest if self._emulates else None
        )
        handler = None
        if isinstance(message, objects.Request):
            handler = self._handlers.get(message.obj_name())
        if handler is None:
            raise ovo_exception.UnsupportedObjectError(
                objtype=type(message).__name__
            )
        call.type_name = message.obj_name()
        tracing.handled(message, manifest.get(call.type_name))
        shown = reader.get('text')
        if shown is not None:
            call.shown = _writable(
                self._manifest, tuple(sorted(shown['versions'].items()))
            )
            call.part = shown['part']
        try:
            response = self._handle(handler, caller, message, call)
            if call.shown is not None or isinstance(
                response, fleet_types.RecordedText
            ):
                return call.write(response)
            written = call.serialize(response, manifest).decode()
        except Exception as error:
            _check_own(error, f'the handler of {call.type_name}')
            raise
        if self._observer is not None and manifest != self._manifest:
            self._observer.response_downgraded(call.type_name)
        return written

    def _handle(
        self,
        handler: Handler,
        context: Any,
        request: Any,
        call: call_state.Call,
    ) -> Any:
        try:
            with call_state.call_scope(call):
                self._prepare(context)
                return handler(context, request)
        except Exception:
            recorded = self._find_response(call.id) if call.id else None
            if recorded is None:
                raise
            LOG.info('Returning the recorded response of call %s', call.id)
            return call_state.recorded_response(recorded)

    def _reader_manifest(self, reader: Mapping[str, Any]) -> Manifest:
        digest = reader['digest']
        if digest == self._manifest.digest:
            return self._manifest
        primitive = reader.get('manifest')
        with self._readers_lock:
            known = self._readers.get(digest)
            if known is not None:
                return known
            if primitive is not None:
                known = Manifest.parse(primitive, 'the reader')
            else:
                known = self._find_manifest(digest)
            if known is None:
                raise exceptions.UnknownManifest(digest)
            while len(self._readers) >= MAX_READERS:
                del self._readers[next(iter(self._readers))]
            self._readers[known.digest] = known
            return known


def emulated_manifest(manifest: Manifest) -> Manifest:
    """Return the manifest of a process that emulates an older release.

    It also contains the types in :data:`vobjects.rpc.fleet_types.BASE_TYPES`,
    because every release has them.

    :raises vobjects.exceptions.VobjectsError: the manifest names a version
        newer than this build, or an unknown type
    """
    build = local()
    for name, version in manifest.items():
        newest = build.version(name)
        if newest is None or Version.parse(version) > newest:
            raise exceptions.VobjectsError(
                f'the manifest names {name} {version}, but this build has'
                f' {f"only {newest}" if newest else "no such type"}'
            )
    base = {cls.obj_name(): '1.0' for cls in fleet_types.BASE_TYPES}
    return Manifest({**base, **manifest})


def _check_own(error: Exception, source: str) -> None:
    """Let an error of the service, or of a response, be nothing else.

    :param source: what raised it
    :raises RuntimeError: the error means something to the caller that the
        service does not mean, or cannot be sent
    """
    is_response = isinstance(error, _RESPONSES)
    is_own = is_response or not isinstance(error, _PROTOCOL_ERRORS)
    if not (is_own and _is_sendable(error)):
        raise RuntimeError(
            f'{source} raised {type(error).__name__}:'
            f' {exceptions.text_of(error)}'
        ) from error


def _is_sendable(error: Exception) -> bool:
    """Tell whether a driver can describe an error, and the caller rebuild it.

    A driver that cannot reports a lost response, and the caller repeats the
    call.
    """
    if isinstance(error, ExceptionGroup):
        return False
    try:
        parts = [str(error), error.args, getattr(error, 'kwargs', {})]
        return len(jsonutils.dumps(parts)) <= MAX_ERROR
    except Exception:  # noqa: BLE001 - of the error's class
        return False


def _check_message(context: Any, request: Any, reader: Any) -> None:
    """Check that a message has the form that clients send.

    :raises vobjects.exceptions.ConversionError: it has not
    """
    parts = {'context': context, 'request': request, 'reader': reader}
    _check_types('message', parts, _MESSAGE)
    optional = {'call': '', 'manifest': {}, 'text': {}}
    _check_types('reader', {**optional, **reader}, _READER)
    if 'text' in reader:
        _check_types('text', reader['text'], _TEXT)
        versions = reader['text']['versions']
        _check_types('text', versions, dict.fromkeys(versions, str))


def _check_types(
    name: str, parts: Mapping[str, Any], types: Mapping[str, Any]
) -> None:
    for key, kind in types.items():
        if not isinstance(parts.get(key), kind):
            raise exceptions.ConversionError(
                f'the {name} of a call needs {key!r} of type'
                f' {"object" if kind is Mapping else "string"}, not'
                f' {exceptions.cut(parts.get(key))}'
            )


def _primitive_of(request: str) -> Any:
    """Return the primitive of a request.

    :param request: its JSON text
    :raises vobjects.exceptions.ConversionError: the text is not JSON, has too
        many values, or is nested so deeply that this process could read it,
        but not store or send it
    """
    try:
        text = request.encode()
        if json_depth.too_deep_at(text, MAX_DEPTH) is not None:
            raise exceptions.ConversionError(
                f'the request is nested more than {MAX_DEPTH} deep'
            )
        return json_text.loads(text)
    except ValueError as error:
        raise exceptions.ConversionError(
            f'the request cannot be read: {error}'
        ) from error


@functools.lru_cache(maxsize=MAX_READERS)
def _writable(
    supported: Manifest, items: tuple[tuple[str, str], ...]
) -> Manifest | None:
    """Return the versions that a caller shows; None: this build is older.

    :raises vobjects.exceptions.VobjectsError: they are not a manifest
    """
    shown = Manifest.parse(dict(items), 'the reader')
    for name in shown:
        version, newest = shown.version(name), supported.version(name)
        if version is None or newest is None or version > newest:
            return None
    return shown
