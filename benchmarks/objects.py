# SPDX-License-Identifier: Apache-2.0
"""Measure object conversions, compared with oslo.versionedobjects.

The same types are declared twice: with hand-written conversions on plain
oslo.versionedobjects, and with a declared history on ``vobjects``. Rounds of
both alternate, so that other load affects both. The ratio is the median of the
ratios of processor time in each round. The script first checks that both
produce the same results. The row of the request body is compared with Senlin's
scheme; see request_bodies.py.

Run it with ``python benchmarks/objects.py [--rounds 15]``.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import functools
import json
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import request_bodies

from vobjects import fields, objects
from vobjects.objects.history import added
from vobjects.rpc import serializer

from oslo_versionedobjects import base as ovo_base  # isort: skip - import last

NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)
ADDED = {'tainted': '1.1', 'cost': '1.2', 'labels': '1.3'}
OLD = {'Node': '1.0', 'Disk': '1.0', 'Server': '1.0', 'Site': '1.0'}


def node_fields() -> dict[str, Any]:
    """Return 21 fields, three of them added in later versions."""
    return {
        'id': fields.UUIDField(),
        'name': fields.StringField(),
        'cluster_id': fields.StringField(nullable=True),
        'profile_id': fields.UUIDField(),
        'physical_id': fields.StringField(nullable=True),
        'index': fields.IntegerField(),
        'role': fields.StringField(nullable=True),
        'init_at': fields.DateTimeField(nullable=True),
        'created_at': fields.DateTimeField(nullable=True),
        'updated_at': fields.DateTimeField(nullable=True),
        'status': fields.EnumField(['ACTIVE', 'ERROR']),
        'status_reason': fields.StringField(nullable=True),
        'metadata': fields.DictOfStringsField(),
        'data': fields.DictOfStringsField(),
        'user': fields.StringField(),
        'project': fields.StringField(),
        'domain': fields.StringField(nullable=True),
        'dependents': fields.ListOfStringsField(),
        'tainted': fields.BooleanField(default=False),
        'cost': fields.IntegerField(nullable=True),
        'labels': fields.ListOfStringsField(default=[]),
    }


def node_values(number: int) -> dict[str, Any]:
    return {
        'id': f'b0b1b2b3-0000-4000-8000-{number:012d}',
        'name': f'node-{number}',
        'cluster_id': '0a0b0c0d-1111-4000-8000-000000000001',
        'profile_id': '0a0b0c0d-2222-4000-8000-000000000002',
        'physical_id': f'c0c1c2c3-0000-4000-8000-{number:012d}',
        'index': number,
        'role': None,
        'init_at': NOW,
        'created_at': NOW,
        'updated_at': None,
        'status': 'ACTIVE',
        'status_reason': 'Creation succeeded',
        'metadata': {'rack': 'r1', 'zone': 'z2'},
        'data': {},
        'user': 'f' * 32,
        'project': 'e' * 32,
        'domain': None,
        'dependents': ['one'],
        'tainted': False,
        'cost': None,
        'labels': [],
    }


class Side(NamedTuple):
    """The types of one implementation and their registry."""

    types: dict[str, Any]
    registry: dict[str, list[Any]]


def declare(theirs: bool) -> Side:
    register: Any = (
        ovo_base.VersionedObjectRegistry.register
        if theirs
        else objects.register
    )
    root: Any = ovo_base.VersionedObject if theirs else objects.Object
    a_list: Any = ovo_base.ObjectListBase if theirs else objects.ObjectListBase

    def drop(self: Any, primitive: dict[str, Any], version: str) -> None:
        ovo_base.VersionedObject.obj_make_compatible(self, primitive, version)
        target = tuple(map(int, version.split('.')))
        for name, since in ADDED.items():
            if target < tuple(map(int, since.split('.'))):
                primitive.pop(name, None)

    of_node = node_fields()
    body: dict[str, Any] = {'VERSION': '1.3', 'fields': of_node}
    if theirs:
        body['obj_make_compatible'] = drop
    else:
        for name, since in ADDED.items():
            of_node[name] = added(since, of_node[name])
    with own_registry() as registry:
        register(type('Node', (root,), body))
        register(
            type(
                'NodeList',
                (a_list, root),
                {
                    'VERSION': '1.3',
                    'fields': {'objects': fields.ListOfObjectsField('Node')},
                    'child_versions': {'1.0': '1.0', '1.3': '1.3'},
                },
            )
        )
        register(
            type(
                'Disk',
                (root,),
                {
                    'fields': {
                        'name': fields.StringField(),
                        'size': fields.IntegerField(),
                    }
                },
            )
        )
        register(
            type(
                'Server',
                (root,),
                {
                    'fields': {
                        'name': fields.StringField(),
                        'node': fields.ObjectField('Node'),
                        'disks': fields.ListOfObjectsField('Disk'),
                    }
                },
            )
        )
        register(
            type(
                'Site',
                (root,),
                {
                    'fields': {
                        'name': fields.StringField(),
                        'opened': fields.DateTimeField(),
                        'server': fields.ObjectField('Server'),
                    }
                },
            )
        )
        registered = {
            name: list(classes) for name, classes in registry.items()
        }
    return Side(
        {name: classes[0] for name, classes in registered.items()}, registered
    )


@contextlib.contextmanager
def own_registry(
    content: dict[str, list[Any]] | None = None,
) -> Iterator[dict[str, list[Any]]]:
    """Replace the content of the registry temporarily."""
    classes = ovo_base.VersionedObjectRegistry()._obj_classes
    before = dict(classes)
    classes.clear()
    classes.update(content or {})
    yield classes
    classes.clear()
    classes.update(before)


class Subject(NamedTuple):
    """Objects of one side, without changes, as if read from a database."""

    side: Side
    node: Any
    nodes: Any
    site: Any


def subject(side: Side) -> Subject:
    types = side.types
    with own_registry(side.registry):
        node = types['Node'](**node_values(0))
        nodes = types['NodeList'](
            objects=[types['Node'](**node_values(n)) for n in range(100)]
        )
        server = types['Server'](
            name='s',
            node=types['Node'](**node_values(1)),
            disks=[types['Disk'](name='d', size=n) for n in range(3)],
        )
        site = types['Site'](name='x', opened=NOW, server=server)
        for obj in (node, nodes, site, server.node, server):
            obj.obj_reset_changes()
        for obj in (*nodes.objects, *server.disks):
            obj.obj_reset_changes()
    return Subject(side, node, nodes, site)


Make = Callable[[Subject], Callable[[], Any]]


class Row(NamedTuple):
    """Row of the table: operation, calls per round and target ratio."""

    title: str
    target: float
    number: int
    make: Make
    theirs: Make | None = None


def their_bytes(s: Subject) -> Callable[[], Any]:
    serial = ovo_base.VersionedObjectSerializer()
    return lambda: json.dumps(serial.serialize_entity(None, s.nodes)).encode()


def their_objects(s: Subject) -> Callable[[], Any]:
    serial = ovo_base.VersionedObjectSerializer()
    text = json.dumps(s.nodes.obj_to_primitive()).encode()
    return lambda: serial.deserialize_entity(None, json.loads(text))


def our_objects(s: Subject) -> Callable[[], Any]:
    text = serializer.to_bytes(s.nodes, None)
    return lambda: [*serializer.from_bytes(text).objects]


def our_lazy_objects(s: Subject) -> Callable[[], Any]:
    text = serializer.to_bytes(s.nodes, None)
    return lambda: serializer.from_bytes(text)


def our_bytes_passed_on(s: Subject) -> Callable[[], Any]:
    text = serializer.to_bytes(s.nodes, None)
    return lambda: serializer.to_bytes(serializer.from_bytes(text), None)


def their_bytes_passed_on(s: Subject) -> Callable[[], Any]:
    serial = ovo_base.VersionedObjectSerializer()
    text = json.dumps(s.nodes.obj_to_primitive()).encode()

    def call() -> bytes:
        nodes = serial.deserialize_entity(None, json.loads(text))
        return json.dumps(serial.serialize_entity(None, nodes)).encode()

    return call


def constructing(s: Subject) -> Callable[[], Any]:
    keywords = node_values(0)
    return lambda: s.side.types['Node'](**keywords)


def reading(name: str) -> Make:
    def make(s: Subject) -> Callable[[], Any]:
        primitive = getattr(s, name).obj_to_primitive()
        cls = type(getattr(s, name))
        return lambda: cls.obj_from_primitive(primitive)

    return make


def setting(s: Subject) -> Callable[[], Any]:
    node = s.side.types['Node']()

    def call() -> None:
        node.name = 'another'

    return call


ROWS = (
    Row('to_primitive, Node', 12, 40, lambda s: s.node.obj_to_primitive),
    Row('to_primitive, 100 Nodes', 20, 1, lambda s: s.nodes.obj_to_primitive),
    Row('to_primitive, tree', 0, 10, lambda s: s.site.obj_to_primitive),
    Row(
        'downgrade, Node',
        12,
        40,
        lambda s: lambda: s.node.obj_to_primitive('1.0'),
    ),
    Row(
        'downgrade, 100 Nodes',
        20,
        1,
        lambda s: (
            lambda: s.nodes.obj_to_primitive(
                version_manifest={'NodeList': '1.0', 'Node': '1.0'}
            )
        ),
        lambda s: (
            lambda: s.nodes.obj_to_primitive(
                '1.0', {'NodeList': '1.0', 'Node': '1.0'}
            )
        ),
    ),
    Row(
        'downgrade, tree by manifest',
        12,
        10,
        lambda s: lambda: s.site.obj_to_primitive('1.0', OLD),
    ),
    Row(
        'object to bytes, 100 Nodes',
        20,
        1,
        lambda s: lambda: serializer.to_bytes(s.nodes, None),
        their_bytes,
    ),
    Row('bytes to object, each taken', 8, 1, our_objects, their_objects),
    Row(
        'bytes to object, none taken',
        40,
        4,
        our_lazy_objects,
        their_objects,
    ),
    Row(
        'bytes to bytes, none taken',
        0,
        1,
        our_bytes_passed_on,
        their_bytes_passed_on,
    ),
    Row('from_primitive, Node', 0, 40, reading('node')),
    Row('from_primitive, 100 Nodes', 0, 1, reading('nodes')),
    Row('from_primitive, tree', 0, 10, reading('site')),
    Row('clone, Node', 8, 20, lambda s: s.node.obj_clone),
    Row('clone, 100 Nodes', 8, 1, lambda s: s.nodes.obj_clone),
    Row('clone, tree', 8, 10, lambda s: s.site.obj_clone),
    Row('what_changed, clean Node', 30, 60, lambda s: s.node.obj_what_changed),
    Row('what_changed, clean tree', 30, 40, lambda s: s.site.obj_what_changed),
    Row('construct Node, 21 keywords', 4, 60, constructing),
    Row('get an attribute', 0, 2000, lambda s: lambda: s.node.name),
    Row('set a string', 0, 1000, setting),
)


def microseconds(call: Callable[[], Any], number: int) -> float:
    """Return the processor time of one call in microseconds."""
    timer = timeit.Timer(call, timer=time.process_time)
    return timer.timeit(number) / number * 1e6


def line(title: str, figures: str, target: str, is_met: bool | None) -> None:
    """Print a row of the table."""
    mark = '' if is_met is None else 'met' if is_met else 'MISSED'
    print(f'{title:<31} {figures:>28}  {target:>5}  {mark}', flush=True)


def ratio_line(
    title: str, ours: list[float], theirs: list[float], target: float
) -> None:
    """Print a row with the medians of both sides and their ratio.

    :param ours: microseconds per call in each round
    :param theirs: the same for the peer
    :param target: minimum ratio; 0 for none
    """
    ratio = statistics.median(
        their / our for our, their in zip(ours, theirs, strict=True)
    )
    line(
        title,
        f'{statistics.median(ours):9.2f} {statistics.median(theirs):10.2f}'
        f' {ratio:6.1f}x',
        f'{target:g}x' if target else '-',
        ratio >= target if target else None,
    )


def compare(row: Row, ours: Subject, theirs: Subject, rounds: int) -> None:
    with own_registry(theirs.side.registry):
        their_call = (row.theirs or row.make)(theirs)
    with own_registry(ours.side.registry):
        our_call = row.make(ours)
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, side, times, number in (
            (our_call, ours.side, took[0], row.number * 4),
            (their_call, theirs.side, took[1], row.number),
        ):
            with own_registry(side.registry):
                times.append(microseconds(call, number))
    ratio_line(row.title, *took, row.target)


def request_body(rounds: int) -> None:
    """Measure the conversion of a JSON body to a request object."""
    case = request_bodies.cases()[0]
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        took[0].append(microseconds(case.ours, 40))
        took[1].append(microseconds(case.peer, 4))
    ratio_line(f'request body, {case.name}', *took, 60)


def normal(primitive: Any) -> Any:
    return json.loads(json.dumps(primitive))


def check_same(ours: Subject, theirs: Subject) -> None:
    """Check that both sides return the same primitives."""
    primitives = []
    for s in (ours, theirs):
        with own_registry(s.side.registry):
            primitives.append(
                [
                    normal(obj.obj_to_primitive(version, manifest))
                    for obj, version, manifest in (
                        (s.node, None, None),
                        (s.nodes, None, None),
                        (s.site, None, None),
                        (s.node, '1.0', None),
                        (s.node, '1.2', None),
                        (s.nodes, '1.0', {'NodeList': '1.0', 'Node': '1.0'}),
                        (s.site, '1.0', OLD),
                    )
                ]
            )
    assert primitives[0] == primitives[1]


def history_length(rounds: int) -> None:
    """Measure downgrades of types with 1, 10 and 100 versions."""
    calls = {}
    for length in (1, 10, 100):
        with own_registry():
            declared: dict[str, Any] = {
                f'field{n}': fields.StringField() for n in range(10)
            }
            for n in range(3):
                declared[f'new{n}'] = added(
                    f'1.{max(1, length - n)}',
                    fields.StringField(nullable=True),
                )
            cls: Any = objects.register(
                type(
                    'Aged',
                    (objects.Object,),
                    {'VERSION': f'1.{length}', 'fields': declared},
                )
            )
            obj = cls(**{f'field{n}': 'x' for n in range(10)})
            for n in range(length):
                # Fill the caches, as if peers of every version were running.
                obj.obj_to_primitive(f'1.{n}')
            calls[length] = obj.obj_to_primitive
    took: dict[int, list[float]] = {length: [] for length in calls}
    for _ in range(rounds * 3):
        for length, call in calls.items():
            took[length].append(
                microseconds(functools.partial(call, '1.0'), 300)
            )
    medians = {n: statistics.median(times) for n, times in took.items()}
    spread = max(medians.values()) / min(medians.values()) - 1
    line(
        'downgrade, history of 1/10/100',
        '/'.join(f'{median:.2f}' for median in medians.values())
        + f' {spread:6.0%}',
        '10%',
        spread <= 0.1,
    )


def imports() -> None:
    """Check that the core does not import oslo.messaging or eventlet."""
    code = (
        'import sys, vobjects.versions, vobjects.microversions;'
        "print([m for m in ('oslo_messaging', 'eventlet')"
        ' if m in sys.modules])'
    )
    loaded = subprocess.run(
        [sys.executable, '-c', code],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    line(
        'imported of messaging, eventlet',
        loaded if loaded != '[]' else 'none',
        'none',
        loaded == '[]',
    )


def main() -> int:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=15)
    rounds = parser.parse_args().rounds
    ours = subject(declare(theirs=False))
    theirs = subject(declare(theirs=True))
    check_same(ours, theirs)
    print(
        f'{"":<31} {"ours, us":>9} {"peer, us":>10} {"ratio":>7}  target',
        flush=True,
    )
    for row in ROWS:
        compare(row, ours, theirs, rounds)
    request_body(rounds)
    history_length(rounds)
    imports()
    return 0


if __name__ == '__main__':
    sys.exit(main())
