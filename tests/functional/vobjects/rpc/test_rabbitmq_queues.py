# SPDX-License-Identifier: Apache-2.0
"""All drivers for RabbitMQ declare the same queues.

Otherwise, the broker would reject the declarations of some processes with
PRECONDITION_FAILED while the driver of a service is changed.
"""

from __future__ import annotations

from concurrent import futures

import oslo_messaging
import pytest
from oslo_config import cfg

from tests.functional import brokers
from vobjects.rpc import transport

pytestmark = pytest.mark.rabbit

DRIVERS = ('pyamqp', 'rabbit')


class Endpoint:
    target = oslo_messaging.Target(version='1.0')

    def double(self, context: object, value: int) -> int:
        return 2 * value


def declarations(url: str) -> set[str]:
    """Open a server and a client; return what they declare."""
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    bus = transport.open_transport(conf, 'tests', (), url)
    server = transport.build_server(
        bus, 'work', transport.SHARED_NAME, [Endpoint()], 2
    )
    # The default executor, of futurist, takes a second to stop.
    server._executor_cls = futures.ThreadPoolExecutor
    server.start()
    try:
        client = oslo_messaging.get_rpc_client(
            bus,
            oslo_messaging.Target(topic='work', version='1.0'),
            timeout=60,
        )
        assert client.call({}, 'double', value=21) == 42
        client.prepare(fanout=True).cast({}, 'double', value=21)
        return brokers.declarations(url)
    finally:
        server.stop()
        server.wait()
        bus.cleanup()


@pytest.mark.parametrize(
    ('options', 'expected'),
    [
        ('', 'queue work true false [{"x-queue-type","quorum"}] limit 128'),
        (
            'rabbit_quorum_queue=false&rabbit_qos_prefetch_count=7',
            'queue work false false [] limit 7',
        ),
        (
            'rabbit_transient_quorum_queue=true'
            '&rabbit_quorum_delivery_limit=3',
            'queue work_fanout_ID true false [{"x-queue-type","quorum"},'
            '{"x-delivery-limit",3},{"x-expires",1800000}] limit 128',
        ),
    ],
    ids=['defaults', 'classic', 'limits'],
)
def test_drivers_declare_the_same_queues(options: str, expected: str) -> None:
    declared = {}
    for driver in DRIVERS:
        with brokers.temporary(driver) as url:
            declared[driver] = declarations(f'{url}?{options}')

    assert declared['pyamqp'] == declared['rabbit']
    assert expected in declared['rabbit']


def test_servers_of_both_drivers_share_one_broker() -> None:
    with brokers.temporary('rabbit') as url:
        first = declarations(url)
        other = declarations(url.replace('rabbit', 'pyamqp', 1))
        again = declarations(url)
    assert first == other == again
