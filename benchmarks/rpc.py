# SPDX-License-Identifier: Apache-2.0
"""Measure RPC calls with the embedded driver and with RabbitMQ.

Each row is a combination of transport and payload, with a server in a separate
process. The last column is the ratio of calls per second to today's usual
setup: RabbitMQ with objects of plain oslo.versionedobjects. Compare the
ratios; absolute figures depend on the machine.

    python benchmarks/rpc.py --seconds 5

With ``--drivers``, it compares oslo.messaging's RabbitMQ driver with that in
transports/pyamqp instead: calls per second, and CPU time of client and server
per call. The rounds of both alternate.

    python benchmarks/rpc.py --drivers --concurrency 1 8
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import kombu
import oslo_messaging
from oslo_config import cfg
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields

from vobjects import objects
from vobjects.rpc import serializer, transport

BROKER = 'pyamqp://guest:guest@127.0.0.1:5672/'
WARM_UP = 0.3  # seconds


FIELDS = {
    **{f'text_{n}': fields.StringField() for n in range(8)},
    **{f'uuid_{n}': fields.UUIDField() for n in range(4)},
    **{f'number_{n}': fields.IntegerField() for n in range(3)},
    'is_locked': fields.BooleanField(),
    'note': fields.StringField(nullable=True),
    'created_at': fields.DateTimeField(),
    'tags': fields.ListOfStringsField(),
    'labels': fields.DictOfStringsField(),
}


@ovo_base.VersionedObjectRegistry.register
class PlainNode(ovo_base.VersionedObject):
    """A typical object of a service, with plain oslo.versionedobjects."""

    VERSION = '1.0'
    fields = FIELDS


@ovo_base.VersionedObjectRegistry.register
class PlainNodeList(ovo_base.ObjectListBase, ovo_base.VersionedObject):
    """A list of such objects."""

    VERSION = '1.0'
    fields = {'objects': fields.ListOfObjectsField('PlainNode')}


@objects.register
class OurNode(objects.Object):
    """The same object with vobjects."""

    VERSION = '1.0'
    fields = FIELDS


@objects.register
class OurNodeList(objects.ObjectListBase, objects.Object):
    """A list of such objects."""

    VERSION = '1.0'
    fields = {'objects': fields.ListOfObjectsField('OurNode')}
    child_versions = {'1.0': '1.0'}


class AsPrimitive(oslo_messaging.NoOpSerializer):
    """Serialize objects as primitives, as vobjects.rpc.own_methods does."""

    def serialize_entity(self, context: Any, entity: Any) -> Any:
        """Return an object as its primitive."""
        return serializer.to_wire(entity, None)

    def deserialize_entity(self, context: Any, entity: Any) -> Any:
        """Return the object of a primitive."""
        return serializer.from_wire(entity, context)


class AsText(oslo_messaging.NoOpSerializer):
    """Serialize objects as JSON text, as vobjects.rpc does."""

    def serialize_entity(self, context: Any, entity: Any) -> Any:
        """Return an object as JSON text."""
        return serializer.to_bytes(entity, None).decode()

    def deserialize_entity(self, context: Any, entity: Any) -> Any:
        """Return the object of a JSON text."""
        return serializer.from_bytes(entity)


def small() -> dict[str, Any]:
    """Return a small dict."""
    return {'identity': 'web-1', 'count': 3, 'force': False}


def node(kind: type[ovo_base.VersionedObject]) -> ovo_base.VersionedObject:
    """Return an object with 20 fields."""
    return kind(
        **{f'text_{n}': f'value {n}' for n in range(8)},
        **{
            f'uuid_{n}': f'0b2ce0c4-55e5-4cd0-9ba9-e4d1eb3c1d0{n}'
            for n in range(4)
        },
        **{f'number_{n}': n for n in range(3)},
        is_locked=False,
        note=None,
        created_at='2026-11-21T14:00:00Z',
        tags=['a', 'b'],
        labels={'key': 'value'},
    )


class Payload(NamedTuple):
    """A value that the server echoes, and its serializer."""

    make: Callable[[], Any]
    serializer: Callable[[], Any]


PAYLOADS = {
    'small dict': Payload(small, oslo_messaging.NoOpSerializer),
    'o.vo object': Payload(
        lambda: node(PlainNode), ovo_base.VersionedObjectSerializer
    ),
    'our object': Payload(lambda: node(OurNode), AsPrimitive),
    'as text': Payload(lambda: node(OurNode), AsText),
    '100 of o.vo': Payload(
        lambda: PlainNodeList(objects=[node(PlainNode)] * 100),
        ovo_base.VersionedObjectSerializer,
    ),
    '100 of ours': Payload(
        lambda: OurNodeList(objects=[node(OurNode)] * 100),
        AsPrimitive,
    ),
    '100 as text': Payload(
        lambda: OurNodeList(objects=[node(OurNode)] * 100), AsText
    ),
}

EMBEDDED = 'embedded'
RABBIT = 'RabbitMQ, quorum'
PAYLOADS_IN_TURN = (
    'o.vo object',
    'our object',
    'as text',
    'small dict',
    '100 of o.vo',
    '100 of ours',
    '100 as text',
)
ROWS = [
    (transport_name, payload)
    for transport_name in (RABBIT, EMBEDDED)
    for payload in PAYLOADS_IN_TURN
]


def baseline_of(payload: str) -> tuple[str, str]:
    """Return the row to compare a payload with."""
    many = payload.startswith('100')
    return (RABBIT, '100 of o.vo' if many else 'o.vo object')


class Echo:
    """RPC endpoint that returns its argument."""

    def echo(self, context: dict[str, Any], value: Any) -> Any:
        """Return the value after reading a field of each item."""
        for each in getattr(value, 'objects', ()):
            assert each.text_0
        return value

    def cpu_seconds(self, context: dict[str, Any]) -> float:
        """Return the CPU time of this process."""
        return time.process_time()


def open_transport(url: str, exchange: str) -> Any:
    """Return a transport, opened like that of a service."""
    conf = cfg.ConfigOpts()
    conf([])
    if url.endswith(DRIVER_OPTIONS):  # a certain driver: see DRIVERS
        transport.register_global_groups(conf)
        oslo_messaging.set_transport_defaults(exchange)
        return oslo_messaging.get_rpc_transport(conf, url)
    return transport.open_transport(conf, exchange, (), url)


def topic_name(exchange: str, payload: str) -> str:
    """Return the topic of a payload, unique to this run."""
    return f'{exchange}-{payload.replace(" ", "-")}'


def serve(url: str, exchange: str) -> None:
    """Serve calls until standard input is closed."""
    bus = open_transport(url, exchange)
    servers = [
        oslo_messaging.get_rpc_server(
            bus,
            oslo_messaging.Target(
                topic=topic_name(exchange, name), server='one'
            ),
            [Echo()],
            serializer=payload.serializer(),
        )
        for name, payload in PAYLOADS.items()
    ]
    for server in servers:
        server.start()
    print('ready', flush=True)
    sys.stdin.read()
    for server in servers:
        server.stop()
    for server in servers:
        server.wait()
    bus.cleanup()


@contextlib.contextmanager
def running_server(url: str, exchange: str) -> Iterator[None]:
    """Run a server in a separate process."""
    process = subprocess.Popen(
        [sys.executable, __file__, '--serve', url, exchange],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if not process.stdout.readline():
            raise SystemExit(f'the server for {url} did not start')
        yield
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()


def measure_latencies(
    call: Callable[[], Any], threads: int, seconds: float
) -> list[float]:
    """Call from several threads; return the sorted latencies in seconds."""
    latencies: list[float] = []
    begin = time.perf_counter() + WARM_UP
    end = begin + seconds

    def run() -> None:
        own = []
        while (start := time.perf_counter()) < end:
            call()
            if start >= begin:
                own.append(time.perf_counter() - start)
        latencies.extend(own)

    callers = [threading.Thread(target=run) for _ in range(threads)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    return sorted(latencies)


#: RabbitMQ drivers to compare, the baseline first.
DRIVERS = ('rabbit', 'pyamqp')

#: Reply and fanout queues expire a minute after the run.
EXPIRY = 'rabbit_transient_queues_ttl=60'

#: Options of both.
DRIVER_OPTIONS = f'?rabbit_quorum_queue=true&{EXPIRY}'

ROUNDS = 5


class DriverFigures(NamedTuple):
    """Results of a driver at one concurrency."""

    rate: float  # calls per second
    client: float  # milliseconds of CPU time per call
    server: float


def compare_drivers(arguments: argparse.Namespace) -> None:
    """Compare the RabbitMQ drivers in alternating rounds."""
    exchanges = {
        driver: f'bench-{driver}-{secrets.token_hex(4)}' for driver in DRIVERS
    }
    clients = {}
    with contextlib.ExitStack() as stack:
        for driver, exchange in exchanges.items():
            url = with_scheme(driver, arguments.broker) + DRIVER_OPTIONS
            stack.callback(delete_queues, arguments.broker, exchange)
            stack.enter_context(running_server(url, exchange))
            bus = open_transport(url, exchange)
            stack.callback(bus.cleanup)
            clients[driver] = oslo_messaging.get_rpc_client(
                bus,
                oslo_messaging.Target(
                    topic=topic_name(exchange, 'small dict')
                ),
                timeout=30,
            )
        print(
            f'{"driver":8} {"threads":>7} {"calls/s":>8} {"client ms":>10}'
            f' {"server ms":>10} {"rate":>6} {"CPU":>6}'
        )
        for threads in arguments.concurrency:
            rounds: dict[str, list[DriverFigures]] = {d: [] for d in DRIVERS}
            for _ in range(ROUNDS):
                for driver, client in clients.items():
                    rounds[driver].append(
                        measure_driver(client, threads, arguments.seconds)
                    )
            print_comparison(threads, rounds)


def measure_driver(client: Any, threads: int, seconds: float) -> DriverFigures:
    """Measure calls of a small dict."""
    value = small()
    server = client.call({}, 'cpu_seconds')
    own, calls = time.process_time(), 0

    def call() -> None:
        nonlocal calls
        client.call({}, 'echo', value=value)
        calls += 1

    latencies = measure_latencies(call, threads, seconds)
    own = time.process_time() - own
    server = client.call({}, 'cpu_seconds') - server
    return DriverFigures(
        len(latencies) / seconds, own / calls * 1e3, server / calls * 1e3
    )


def print_comparison(
    threads: int, rounds: dict[str, list[DriverFigures]]
) -> None:
    """Print the medians of each driver, and its ratios to the first one."""
    baseline: DriverFigures | None = None
    for driver, figures in rounds.items():
        median = DriverFigures(
            *(
                statistics.median(column)
                for column in zip(*figures, strict=True)
            )
        )
        baseline = baseline or median
        rate = median.rate / baseline.rate
        cpu = (median.client + median.server) / (
            baseline.client + baseline.server
        )
        print(
            f'{driver:8} {threads:7} {median.rate:8.0f} {median.client:10.2f}'
            f' {median.server:10.2f} {rate:5.2f}x {cpu:5.2f}x',
            flush=True,
        )


class Figures(NamedTuple):
    """Results of a row at one concurrency."""

    rate: float  # calls per second
    median: float  # milliseconds
    p99: float  # milliseconds


def measure(
    url: str, exchange: str, payload: str, threads: int, seconds: float
) -> Figures:
    """Measure calls to a running server."""
    bus = open_transport(url, exchange)
    client = oslo_messaging.get_rpc_client(
        bus,
        oslo_messaging.Target(topic=topic_name(exchange, payload)),
        timeout=30,
        serializer=PAYLOADS[payload].serializer(),
    )
    value = PAYLOADS[payload].make()
    try:
        latencies = measure_latencies(
            lambda: client.call({}, 'echo', value=value), threads, seconds
        )
    finally:
        bus.cleanup()
    return Figures(
        len(latencies) / seconds,
        statistics.median(latencies) * 1e3,
        latencies[int(len(latencies) * 0.99)] * 1e3,
    )


def broker_error(url: str) -> str | None:
    """Return the connection error of the broker, or None."""
    try:
        with kombu.Connection(
            with_scheme('amqp', url), connect_timeout=3
        ) as broker:
            broker.connect()
    except Exception as error:  # noqa: BLE001 reported to the user
        return f'{type(error).__name__}: {error}'
    return None


def delete_queues(url: str, exchange: str) -> None:
    """Delete the queues and exchanges of this run from the broker."""
    with kombu.Connection(with_scheme('amqp', url)) as broker:
        channel = broker.channel()
        for payload in PAYLOADS:
            topic = topic_name(exchange, payload)
            for queue in (topic, f'{topic}.one'):
                channel.queue_delete(queue)
            channel.exchange_delete(f'{topic}_fanout')
        channel.exchange_delete(exchange)


def with_scheme(scheme: str, url: str) -> str:
    """Return a URL with another scheme."""
    return f'{scheme}://{url.partition("://")[2]}'


def main() -> None:
    """Run the benchmark, or one of its servers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--seconds',
        type=float,
        default=3,
        help='duration of each measurement (%(default)s)',
    )
    parser.add_argument(
        '--concurrency',
        type=int,
        nargs='+',
        default=[1, 8, 32],
        help='numbers of calling threads (%(default)s)',
    )
    parser.add_argument(
        '--broker', default=BROKER, help='URL of RabbitMQ (%(default)s)'
    )
    parser.add_argument(
        '--drivers',
        action='store_true',
        help='compare the drivers for RabbitMQ',
    )
    parser.add_argument('--serve', nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    # oslo.messaging warns that 32 callers exceed its 30 connections.
    logging.disable(logging.WARNING)
    if arguments.serve:
        serve(*arguments.serve)
        return
    if arguments.drivers:
        compare_drivers(arguments)
        return
    with tempfile.TemporaryDirectory() as directory:
        run(arguments, f'embedded://{directory}')


def run(arguments: argparse.Namespace, embedded: str) -> None:
    """Measure every row at every concurrency; print results immediately."""
    exchange = f'bench-{secrets.token_hex(4)}'
    urls = {EMBEDDED: embedded}
    error = broker_error(arguments.broker)
    if error is None:
        urls[RABBIT] = f'{arguments.broker}?{EXPIRY}'
    else:
        print(f'No RabbitMQ at {arguments.broker}: {error}')
        print('The table has no rows of RabbitMQ and no ratios.\n')
    with contextlib.ExitStack() as stack:
        if RABBIT in urls:
            stack.callback(delete_queues, arguments.broker, exchange)
        for url in urls.values():
            stack.enter_context(running_server(url, exchange))
        print(
            f'{"transport":18} {"payload":12} {"threads":>7}'
            f' {"calls/s":>8} {"p50 ms":>8} {"p99 ms":>8} {"ratio":>6}'
        )
        baselines: dict[tuple[tuple[str, str], int], Figures] = {}
        for row in ROWS:
            name, payload = row
            if name not in urls:
                continue
            for threads in arguments.concurrency:
                figures = measure(
                    urls[name], exchange, payload, threads, arguments.seconds
                )
                baselines[row, threads] = figures
                baseline = baselines.get((baseline_of(payload), threads))
                ratio = (
                    f'{figures.rate / baseline.rate:5.1f}x'
                    if baseline
                    else '-'
                )
                print(
                    f'{name:18} {payload:12} {threads:7}'
                    f' {figures.rate:8.0f} {figures.median:8.2f}'
                    f' {figures.p99:8.2f} {ratio:>6}',
                    flush=True,
                )


if __name__ == '__main__':
    main()
