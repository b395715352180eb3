# SPDX-License-Identifier: Apache-2.0
"""All drivers for RabbitMQ declare the same queues.

Otherwise, the broker would reject the declarations of some processes with
PRECONDITION_FAILED while the driver of a service is changed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
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


#: Case -> options in the URL, and a queue that the drivers declare.
CASES = {
    'defaults': (
        '',
        'queue defaults true false [{"x-queue-type","quorum"}] limit 128',
    ),
    'classic': (
        'rabbit_quorum_queue=false&rabbit_qos_prefetch_count=7',
        'queue classic false false [] limit 7',
    ),
    'limits': (
        'rabbit_transient_quorum_queue=true&rabbit_quorum_delivery_limit=3',
        'queue limits_fanout_ID true false [{"x-queue-type","quorum"},'
        '{"x-delivery-limit",3},{"x-expires",1800000}] limit 128',
    ),
}


@contextlib.contextmanager
def serving(url: str, topic: str) -> Iterator[None]:
    """Run a server that a client has called, by name and by fanout."""
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    bus = transport.open_transport(conf, f'of {topic}', (), url)
    server = transport.build_server(
        bus, topic, transport.SHARED_NAME, [Endpoint()], 2
    )
    # The default executor, of futurist, takes a second to stop.
    server._executor_cls = futures.ThreadPoolExecutor
    server.start()
    try:
        client = oslo_messaging.get_rpc_client(
            bus,
            oslo_messaging.Target(topic=topic, version='1.0'),
            timeout=60,
        )
        assert client.call({}, 'double', value=21) == 42
        client.prepare(fanout=True).cast({}, 'double', value=21)
        yield
    finally:
        server.stop()
        server.wait()
        bus.cleanup()


@pytest.fixture(scope='module')
def declared() -> dict[str, set[str]]:
    """What each driver declares for all cases."""
    found = {}
    for driver in DRIVERS:
        with contextlib.ExitStack() as stack:
            url = stack.enter_context(brokers.temporary(driver))
            for topic, (options, _) in CASES.items():
                stack.enter_context(serving(f'{url}?{options}', topic))
            found[driver] = brokers.declarations(url)
    return found


@pytest.mark.parametrize('case', CASES)
def test_drivers_declare_the_same_queues(
    declared: dict[str, set[str]], case: str
) -> None:
    _, expected = CASES[case]

    assert declared['pyamqp'] == declared['rabbit']
    assert expected in declared['rabbit']
