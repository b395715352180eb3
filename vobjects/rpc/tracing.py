# SPDX-License-Identifier: Apache-2.0
"""Spans of OpenTelemetry for calls and handlers.

A process traces if it records spans, as one does that
``opentelemetry-instrument`` has started. The context of a trace travels with
the call, and servers of older releases ignore it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from vobjects import objects, spans

_SCOPE = 'vobjects'

#: Key of the context among the properties of a call.
_CONTEXT = 'trace'


@contextlib.contextmanager
def calling(
    request: objects.Request, reader: dict[str, Any]
) -> Iterator[None]:
    """Trace a call for the duration of a block.

    :param reader: properties of the call, see
        :meth:`vobjects.rpc.server.Endpoint.perform`; gets the context
    """
    if not spans.are_recorded():
        yield
        return
    from opentelemetry import propagate, trace

    with trace.get_tracer(_SCOPE).start_as_current_span(
        f'call {request.obj_name()}',
        kind=trace.SpanKind.CLIENT,
        attributes={'rpc.system': 'oslo.messaging'},
    ):
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        reader[_CONTEXT] = carrier
        yield


def sent(request: objects.Request, version: str | None) -> None:
    """Record the version in which a request is sent, on the current span.

    :param version: the mapped version, or an older one that all servers
        support; None: no version can be sent
    """
    if not spans.are_recorded() or version is None:
        return
    from opentelemetry import trace

    known = type(request).fields_at(version)
    trace.get_current_span().set_attributes(
        {
            'vobjects.version.newest': request.VERSION,
            'vobjects.version.sent': version,
            'vobjects.downgraded_fields': sorted(
                name
                for name in request.fields
                if name not in known and request.obj_attr_is_set(name)
            ),
        }
    )


@contextlib.contextmanager
def handling(reader: Mapping[str, Any]) -> Iterator[None]:
    """Trace the handling of a call for the duration of a block."""
    if not spans.are_recorded():
        yield
        return
    from opentelemetry import propagate, trace

    context = reader.get(_CONTEXT)
    carrier = {
        name: value
        for name, value in (
            context.items() if isinstance(context, Mapping) else ()
        )
        if isinstance(value, str)
    }
    with trace.get_tracer(_SCOPE).start_as_current_span(
        'handle',
        context=propagate.extract(carrier),
        kind=trace.SpanKind.SERVER,
    ):
        yield


def handled(request: objects.Request, version: str | None) -> None:
    """Name the current span by the request of the handler.

    :param version: version in which the caller reads the request's type
    """
    if not spans.are_recorded():
        return
    from opentelemetry import trace

    span = trace.get_current_span()
    span.update_name(f'handle {request.obj_name()}')
    span.set_attributes(
        {
            'vobjects.version.newest': request.VERSION,
            'vobjects.version.caller': version or '',
        }
    )
