# SPDX-License-Identifier: Apache-2.0
"""Objects in calls of a service's own RPC methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg
from oslo_versionedobjects import base, fields

from vobjects import exceptions
from vobjects.objects.adoption import adopt
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import own_methods, transport

pytestmark = pytest.mark.usefixtures('registry')

OLD = Manifest({'Order': '1.0', 'Line': '1.0'})


class Contexts(base.VersionedObjectSerializer):
    """The serializer of a service: its own contexts and its own registry."""

    def serialize_context(self, context: Any) -> Any:
        return {'user': context}

    def deserialize_context(self, context: Any) -> Any:
        (user,) = context.values()
        return user


class Endpoint:
    """The methods of a service."""

    def __init__(self) -> None:
        self.received: list[Any] = []

    def echo(self, context: Any, orders: Any) -> Any:
        self.received.append((context, orders))
        return orders


@pytest.fixture
def order() -> Any:
    """Return an object with another inside, both at 1.1."""

    @base.VersionedObjectRegistry.register
    class Line(base.VersionedObject):
        VERSION = '1.1'
        fields = {'text': fields.StringField(), 'note': fields.StringField()}

        def obj_make_compatible(self, primitive: Any, target: str) -> None:
            super().obj_make_compatible(primitive, target)
            if target == '1.0':
                primitive.pop('note', None)

    @base.VersionedObjectRegistry.register
    class Order(base.VersionedObject):
        VERSION = '1.1'
        fields = {
            'name': fields.StringField(),
            'note': fields.StringField(),
            'lines': fields.ListOfObjectsField('Line'),
        }

        def obj_make_compatible(self, primitive: Any, target: str) -> None:
            super().obj_make_compatible(primitive, target)
            if target == '1.0':
                primitive.pop('note', None)

    adopt([Line, Order])
    return Order(name='a', note='b', lines=[Line(text='c', note='d')])


class Bus:
    """A server and a client of a service, in one process."""

    def __init__(self) -> None:
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        self.transport = transport.open_transport(
            conf, 'orders', url='fake://'
        )
        self.endpoint = Endpoint()
        self.server = own_methods.get_server(
            self.transport,
            oslo_messaging.Target(topic='orders', server='one'),
            [self.endpoint],
            Contexts(),
        )
        self.server.start()

    def call(self, orders: Any, **options: Any) -> Any:
        client = oslo_messaging.get_rpc_client(
            self.transport,
            oslo_messaging.Target(topic='orders'),
            serializer=own_methods.ArgumentSerializer(Contexts(), **options),
        )
        return client.call('ann', 'echo', orders=orders)

    def close(self) -> None:
        self.server.stop()
        self.server.wait()
        self.transport.cleanup()


@pytest.fixture
def bus() -> Iterator[Bus]:
    opened = Bus()
    yield opened
    opened.close()


def notes(orders: Any) -> list[tuple[bool, bool]]:
    """Return which objects have the field of 1.1."""
    return [
        (order.obj_attr_is_set('note'), line.obj_attr_is_set('note'))
        for order in orders
        for line in order.lines
    ]


@pytest.mark.parametrize(
    ('cap', 'reads', 'received', 'returned'),
    [
        (None, None, True, True),
        (OLD, None, False, False),
        (None, OLD, True, False),
        (Manifest({'Order': '1.9', 'Line': '1.9'}), None, True, True),
    ],
)
def test_objects_travel_at_the_versions_of_their_readers(
    bus: Bus, order: Any, cap: Any, reads: Any, received: bool, returned: bool
) -> None:
    response = bus.call(
        [order],
        versions=lambda: cap or local(),
        reads=lambda: reads or local(),
    )

    (context, arguments) = bus.endpoint.received[0]
    assert context == 'ann'
    assert notes(arguments) == [(received, received)]
    assert notes(response) == [(returned, returned)]
    bus.endpoint.received.clear()

    # What came in an older version can be sent again.
    again = bus.call(response, versions=local)

    assert notes(again) == [(returned, returned)]


def test_result_for_a_caller_that_tells_nothing_is_the_newest(
    bus: Bus, order: Any
) -> None:
    client = oslo_messaging.get_rpc_client(
        bus.transport,
        oslo_messaging.Target(topic='orders'),
        serializer=Contexts(),
    )

    response = client.call('ann', 'echo', orders=[order])

    assert notes(response) == [(True, True)]


def test_versions_of_one_caller_do_not_reach_the_next(
    bus: Bus, order: Any
) -> None:
    serializer = own_methods.ResultSerializer(Contexts())
    serializer.deserialize_context({'user': 'a', own_methods.READS: dict(OLD)})
    assert (
        serializer.serialize_entity('a', order)['versioned_object.version']
        == '1.0'
    )

    serializer.deserialize_context({'user': 'a'})

    assert (
        serializer.serialize_entity('a', order)['versioned_object.version']
        == '1.1'
    )


def test_arguments_without_a_live_server_are_refused(
    bus: Bus, order: Any
) -> None:
    with pytest.raises(exceptions.NoLivePeer):
        bus.call([order], versions=lambda: Manifest({}))

    assert not bus.endpoint.received


def test_arguments_of_an_unknown_type_are_refused(
    bus: Bus, order: Any
) -> None:
    with pytest.raises(exceptions.UnsupportedType):
        bus.call([order], versions=lambda: Manifest({'Line': '1.1'}))


@pytest.mark.parametrize(
    'reads', [None, 'x', {'Order': 'x'}, {'Order': 1}, [1]]
)
def test_result_for_malformed_versions_of_a_caller(
    order: Any, reads: Any
) -> None:
    serializer = own_methods.ResultSerializer(Contexts())
    context = {'user': 'a', own_methods.READS: reads}
    if reads is None:
        assert serializer.deserialize_context(context) == 'a'
        return

    with pytest.raises(exceptions.VobjectsError, match='the caller'):
        serializer.deserialize_context(context)


def test_at_most_lowers_versions_and_keeps_types() -> None:
    assert own_methods.at_most(
        {'Order': '1.10', 'Line': '1.1', 'Own': '1.0'},
        {'Order': '1.9', 'Line': '1.4', 'Other': '1.0'},
    ) == {'Order': '1.9', 'Line': '1.1', 'Own': '1.0'}


@pytest.mark.parametrize('ending', [SystemExit(1), KeyboardInterrupt()])
def test_what_ends_a_thread_is_an_error_of_the_call(
    bus: Bus,
    order: Any,
    monkeypatch: pytest.MonkeyPatch,
    ending: BaseException,
) -> None:
    def end(*arguments: Any) -> None:
        raise ending

    monkeypatch.setattr(Contexts, 'deserialize_context', end)
    with pytest.raises(RuntimeError, match=type(ending).__name__):
        bus.call([order], versions=local)
