# SPDX-License-Identifier: Apache-2.0
"""Spans of a request, of its call and of its handler."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import webob
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import (
    InMemorySpanExporter,
)
from webob.dec import wsgify

from tests.unit.vobjects.rpc import test_client_server as peers
from vobjects import exceptions
from vobjects.microversions import tracing
from vobjects.objects.manifest import local

#: The fixture of the other module.
bus = peers.bus

EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope='module', autouse=True)
def _provider() -> None:
    """Record all spans of the process, which has at most one provider."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(EXPORTER))
    trace.set_tracer_provider(provider)


@pytest.fixture(autouse=True)
def _empty(_provider: None) -> Iterator[None]:
    EXPORTER.clear()
    yield
    EXPORTER.clear()


def spans() -> dict[str, Any]:
    """Return the finished spans by name."""
    return {span.name: span for span in EXPORTER.get_finished_spans()}


def test_handler_belongs_to_the_trace_of_its_caller(bus: peers.Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    bus.client.call({}, peers.WorkRequest(name='a', force=True))
    call, handler = spans()['call WorkRequest'], spans()['handle WorkRequest']
    assert handler.parent.span_id == call.context.span_id
    assert handler.context.trace_id == call.context.trace_id
    assert call.attributes['vobjects.version.sent'] == '1.1'
    assert call.attributes['vobjects.downgraded_fields'] == ()


def test_call_of_an_old_server_names_version_and_downgraded_fields(
    bus: peers.Bus,
) -> None:
    bus.members = (bus.serve('old', peers.old()),)
    bus.client.call({}, peers.WorkRequest(name='a', force=False))
    call, handler = spans()['call WorkRequest'], spans()['handle WorkRequest']
    assert call.attributes['vobjects.version.newest'] == '1.1'
    assert call.attributes['vobjects.version.sent'] == '1.0'
    assert call.attributes['vobjects.downgraded_fields'] == ('force',)
    assert handler.attributes['vobjects.version.caller'] == '1.0'


def test_error_of_a_handler_is_recorded_on_both_spans(bus: peers.Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    with pytest.raises(exceptions.ServiceError):
        bus.client.call({}, peers.WorkRequest(name='reject', force=False))
    for span in spans().values():
        assert span.status.status_code is trace.StatusCode.ERROR
        assert 'There is no such thing' in span.status.description


def test_request_has_the_requested_and_the_served_version() -> None:
    @wsgify
    def app(request: webob.Request) -> webob.Response:
        with trace.get_tracer('test').start_as_current_span('inner'):
            return webob.Response(
                headers={'OpenStack-API-Version': 'clustering 1.8'}
            )

    request = webob.Request.blank(
        '/v1/clusters', headers={'OpenStack-API-Version': 'clustering latest'}
    )
    request.environ['openstack.request_id'] = 'req-1'
    response = request.get_response(tracing.traced(app))
    # The span ends when the response has been sent.
    assert response.body == b''
    (outer,) = (span for name, span in spans().items() if name != 'inner')
    assert spans()['inner'].parent.span_id == outer.context.span_id
    assert {
        name: value
        for name, value in outer.attributes.items()
        if name.startswith(('openstack.', 'vobjects.'))
    } == {
        'openstack.request_id': 'req-1',
        'vobjects.microversion.requested': 'clustering latest',
        'vobjects.microversion.served': 'clustering 1.8',
    }


# oslo.middleware imports the SDK if it is installed, in newer releases.
@pytest.mark.parametrize(
    'imported', ['sys', 'opentelemetry.sdk.trace', 'oslo_middleware']
)
def test_process_without_a_provider_has_no_spans(imported: str) -> None:
    code = f"""
import sys, {imported}

def loaded():
    return [name for name in sys.modules if name.startswith('opentelemetry')]

before = loaded()
from vobjects.microversions.tracing import traced
from vobjects.rpc import client, fleet_types, server, tracing

reader = {{}}
request = fleet_types.FleetStateGet()
with tracing.calling(request, reader), tracing.handling(reader):
    tracing.sent(request, '1.0')
    tracing.handled(request, '1.0')
assert not reader
assert traced(1) == 1
assert bool(loaded()) is bool(before), loaded()
assert ('opentelemetry.sdk.trace' in loaded()) is bool(before)
"""
    subprocess.run([sys.executable, '-c', code], check=True, timeout=60)
