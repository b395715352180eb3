# SPDX-License-Identifier: Apache-2.0
"""Requests of an API that a client process forwards."""

from __future__ import annotations

import math
import pathlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from oslo_config import cfg
from oslo_messaging import MessagingTimeout

from tests import machine_speed
from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import (
    Request,
    Resource,
    Service,
    added,
    exceptions,
    fields,
    register,
)
from vobjects.microversions import version_policy
from vobjects.rpc import (
    ClientProcess,
    RemoteError,
    ServerProcess,
    handles,
)
from vobjects.versions import Version

#: Timeout of calls in whole seconds, which no call reaches.
TIMEOUT = math.ceil(60 * machine_speed.scale())


@register
class Parcel(Resource):
    """A resource with a field that microversion 1.1 adds."""

    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    fields = {
        'name': fields.StringField(),
        'weight': added('1.1', fields.IntegerField(nullable=True)),
    }


@register
class ParcelGetRequest(Request):
    """Show a parcel; early requests may have a reason at 1.0."""

    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}
    fields = {
        'name': fields.StringField(),
        'reason': added('1.1', fields.StringField(default='')),
    }


class Defect(Exception):
    """An error that the server does not declare."""


class Parcels:
    """Respond as the name in the request says.

    :ivar proceed: set when a late response may leave
    """

    def __init__(self) -> None:
        self.proceed = threading.Event()

    @handles(ParcelGetRequest)
    def get(self, context: dict[str, Any], request: Any) -> Any:
        if request.name == 'nothing':
            return None
        if request.name == 'late':
            assert self.proceed.wait(120)
        if request.name == 'defect':
            raise Defect('a defect')
        if request.get('reason'):
            return request.reason
        parcel = Parcel(name=context['project_id'], weight=5)
        return [parcel] if request.name == 'list' else parcel


@pytest.fixture
def client(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[ClientProcess]:
    """A client of a server; both have their own transport.

    Its parameter is the timeout of calls in seconds.
    """
    timeout = getattr(request, 'param', TIMEOUT)
    file = tmp_path / 'parcels.conf'
    file.write_text(
        f'[DEFAULT]\ntransport_url = embedded://{tmp_path}/bus\n'
        f'[fleet]\ncall_timeout = {timeout}\n'
    )
    conf = cfg.ConfigOpts()
    conf(['--config-file', str(file)])
    service = Service(
        name='parcels', types=(), history={'1.0': [], '1.1': ['Weight.']}
    )
    parcels = Parcels()
    server = ServerProcess(
        conf, service, ledger=MemoryLedger(), handlers=[parcels]
    )
    server.start()
    with ClientProcess(conf, service) as process:
        yield process
    parcels.proceed.set()
    server.stop_consuming()
    server.stop()


def forward(
    client: ClientProcess,
    name: str,
    version: str,
    *,
    early: bool = False,
    **values: str,
) -> Any:
    environ = {
        version_policy.MICROVERSION: Version.parse(version),
        version_policy.EARLY: early,
    }
    message = ParcelGetRequest(name=name, **values)
    return client.forward(environ, {'project_id': 'p1'}, message)


def test_forward_returns_json_at_the_version_of_the_request(
    client: ClientProcess,
) -> None:
    old, new = {'name': 'p1'}, {'name': 'p1', 'weight': 5}
    assert forward(client, 'one', '1.0') == old
    assert forward(client, 'one', '1.1') == new
    assert forward(client, 'list', '1.0') == [old]
    assert forward(client, 'list', '1.1') == [new]
    assert forward(client, 'nothing', '1.1') is None


def test_forward_names_the_versions_of_the_response(
    client: ClientProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = []
    call = client.client.call_for_text

    def record(*arguments: Any, **options: Any) -> Any:
        shown.append(options['shown'])
        return call(*arguments, **options)

    monkeypatch.setattr(client.client, 'call_for_text', record)
    environ = {version_policy.MICROVERSION: Version(1, 1)}
    for shows in (None, (Parcel,)):
        client.forward(
            environ,
            {'project_id': 'p1'},
            ParcelGetRequest(name='one'),
            shows=shows,
        )
    assert shown == [None, {'Parcel': '1.1'}]


@pytest.mark.parametrize('client', [1], indirect=True)
def test_forward_when_no_server_responds_in_time_raises_the_timeout(
    client: ClientProcess,
) -> None:
    with pytest.raises(MessagingTimeout):
        forward(client, 'late', '1.1')


def test_forward_when_a_handler_fails_raises_its_error(
    client: ClientProcess,
) -> None:
    with pytest.raises(RemoteError, match='a defect'):
        forward(client, 'defect', '1.1')


def test_forward_sends_no_version_above_that_of_the_request(
    client: ClientProcess,
) -> None:
    assert forward(client, 'one', '1.1', reason='audit') == 'audit'
    assert forward(client, 'one', '1.0', reason='audit', early=True) == 'audit'
    with pytest.raises(exceptions.LossyDowngrade, match='reason'):
        forward(client, 'one', '1.0', reason='audit')


def test_forward_when_the_request_has_no_version_raises(
    client: ClientProcess,
) -> None:
    with pytest.raises(LookupError, match='has no API version'):
        client.forward({}, {}, ParcelGetRequest(name='one'))
