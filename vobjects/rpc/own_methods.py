# SPDX-License-Identifier: Apache-2.0
"""Serializers for a service that keeps its RPC methods.

A service on plain oslo.messaging sends objects as arguments of its methods.
These serializers wrap that of the service, and choose the versions:

- :class:`ArgumentSerializer`, for a client, writes arguments in versions that
  all live servers support, and adds to the context which versions this process
  reads.
- :class:`ResultSerializer`, for a server, writes the result in versions that
  the caller reads.

:func:`get_server` returns a server with a :class:`ResultSerializer`.

::

    client = ClientProcess(conf, SERVICE)     # or a ServerProcess
    oslo_messaging.get_rpc_client(
        transport,
        target,
        serializer=ArgumentSerializer(
            MySerializer(),
            lambda: client.membership.current().cap(SERVICE.topic),
        ),
    )
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import oslo_messaging

from vobjects import exceptions
from vobjects.objects.manifest import Manifest, common, local, minimum
from vobjects.rpc.dispatcher import error_for
from vobjects.rpc.serializer import to_wire
from vobjects.rpc.transport import DrainedServer

#: Key of the versions that a caller reads, in the context of a message.
READS = 'vobjects_reads'


class _Wrapper:
    """A serializer that passes everything on to another.

    :param base: the serializer of the service, for contexts and for reading
    """

    def __init__(self, base: Any) -> None:
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


class ArgumentSerializer(_Wrapper):
    """The serializer of a client.

    :param base: the serializer of the service
    :param versions: returns the cap of the servers; empty: none is alive
    :param reads: returns the versions that this process reads
    """

    def __init__(
        self,
        base: Any,
        versions: Callable[[], Manifest],
        reads: Callable[[], Manifest] = local,
    ) -> None:
        super().__init__(base)
        self._versions = versions
        self._reads = reads

    def serialize_entity(self, context: Any, entity: Any) -> Any:
        """Return an argument as JSON data, in the versions of the servers.

        :raises vobjects.exceptions.NoLivePeer: no server is alive
        :raises vobjects.exceptions.UnsupportedType: a live server does not
            know the type of an object
        """
        versions = self._versions()
        if not versions:
            raise exceptions.NoLivePeer('no server is alive')
        written = to_wire(entity, common(local(), versions))
        return self._base.serialize_entity(context, written)

    def serialize_context(self, context: Any) -> Any:
        """Return a context as a dict, with the versions to respond in."""
        values = self._base.serialize_context(context)
        return {**values, READS: dict(self._reads())}


class ResultSerializer(_Wrapper):
    """The serializer of a server.

    Callers that send no versions receive the newest ones.

    :param base: the serializer of the service
    """

    def __init__(self, base: Any) -> None:
        super().__init__(base)
        # A server reads the context, calls the method and writes the result
        # in one thread.
        self._caller = threading.local()

    def serialize_entity(self, context: Any, entity: Any) -> Any:
        """Return a result as JSON data, in versions that the caller reads.

        :raises vobjects.exceptions.UnsupportedType: the caller does not know
            the type of an object
        """
        reads = getattr(self._caller, 'reads', None)
        if reads is not None:
            entity = to_wire(entity, common(local(), reads))
        return self._base.serialize_entity(context, entity)

    def deserialize_context(self, context: Any) -> Any:
        """Return a context from a dict, and note what its caller reads."""
        values = dict(context)
        reads = values.pop(READS, None)
        self._caller.reads = (
            None if reads is None else Manifest.parse(reads, 'the caller')
        )
        return self._base.deserialize_context(values)


class _Dispatcher(oslo_messaging.RPCDispatcher):  # type: ignore[misc]
    def dispatch(self, incoming: Any) -> Any:
        try:
            return super().dispatch(incoming)
        except Exception:
            raise
        except BaseException as ending:
            raise error_for(ending) from ending


def get_server(
    transport: Any,
    target: Any,
    endpoints: list[Any],
    serializer: Any,
    *,
    access_policy: Any = None,
    executor: str | None = None,
) -> DrainedServer:
    """Return a server; see ``oslo_messaging.get_rpc_server``.

    It responds in the versions of its callers. When it stops, it handles the
    messages that it has received, which the driver ``rabbit`` would drop.
    """
    dispatcher = _Dispatcher(
        endpoints, ResultSerializer(serializer), access_policy
    )
    return DrainedServer(transport, target, dispatcher, executor)


def at_most(
    versions: Mapping[str, str], limit: Mapping[str, str]
) -> dict[str, str]:
    """Lower the versions of a manifest to those of another.

    Use it for the manifest that a remotable method sends: the server looks up
    its own class by these versions.

    :param versions: type name -> version
    :param limit: the cap of the servers; types that it lacks are kept
    """
    lowest = minimum([versions, {**versions, **limit}])
    return {name: lowest[name] for name in versions}
