# SPDX-License-Identifier: Apache-2.0
"""Random histories, checked against real old builds.

``VOBJECTS_HISTORIES=20000`` checks that many histories instead of 500.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import itertools
import json
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import PRINTED
from tests.unit.vobjects.objects import random_histories
from tests.unit.vobjects.objects.random_histories import (
    POSITIONS,
    ROOTS,
    Build,
    TypeHistory,
)
from vobjects import exceptions, objects
from vobjects.controllers import request_parsing
from vobjects.lock import edit, snapshot
from vobjects.microversions import errors, schema, version_policy
from vobjects.versions import Version
from vobjects_testing import matrix
from vobjects_testing.emulated_peer import EmulatedPeer

HISTORIES = int(os.environ.get('VOBJECTS_HISTORIES', '500'))
DATA = 'versioned_object.data'
KINDS = ('added', 'removed', 'renamed', 'changed')

#: (kind of change, position, root), or 'total' -> number of checked histories.
covered: collections.Counter[Any] = collections.Counter()


@contextlib.contextmanager
def lossy() -> Iterator[None]:
    """Ignore a loss that the library refuses."""
    with contextlib.suppress(exceptions.LossyDowngrade):
        yield


@pytest.fixture(autouse=True)
def partial_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send objects without their required fields, too."""
    monkeypatch.setattr(objects.Resource, 'check_complete', lambda self: None)
    monkeypatch.setattr(objects.Object, '_check_parts', lambda self: 0)


def new_object(build: Build, rng: random.Random) -> Any:
    """Return an object of the evolving type with random values."""
    cls = build.evolving
    values = random_histories.values_of(rng, cls.fields)
    return cls(**values)


def on_wire(build: Build, obj: Any, version: int) -> Any:
    primitive = build.wrap(obj).obj_to_primitive(
        version_manifest=build.manifest(version)
    )
    return json.loads(json.dumps(primitive))


def data_of(build: Build, primitive: Any) -> dict[str, Any]:
    """Return the data of the evolving object inside a primitive."""
    data = primitive[DATA]
    if build.history.position == 'top':
        return data
    inner: dict[str, Any] = build.inner(data)[DATA]
    return inner


def read(build: Build, primitive: Any) -> Any:
    return build.cls('Outer').obj_from_primitive(copy.deepcopy(primitive))


def check_schemas(new: Build, old: Build) -> None:
    """The schema of each old version is that of the old build."""
    for version in range(old.newest + 1):
        at = f'1.{version}'
        newer, older = new.evolving, old.evolving
        assert list(newer.fields_at(at)) == list(older.fields_at(at)) or (
            newer.fields_at(at).keys() == older.fields_at(at).keys()
        )
        names = list(older.fields_at(at))
        microversion = Version.parse(at)
        body = schema.body_schema(newer, microversion, names)
        assert body is not None
        assert body == schema.body_schema(older, microversion, names)


def check_downgrade(new: Build, old: Build, rng: random.Random) -> None:
    """The old build reads and writes the messages of the new build."""
    obj = new_object(new, rng)
    with new.active():
        try:
            sent = on_wire(new, obj, old.newest)
        except exceptions.LossyDowngrade:
            assert new.history.root == 'request'
            return
    with old.active():
        received = read(old, sent)
        again = json.loads(json.dumps(received.obj_to_primitive()))
    assert data_of(old, again) == data_of(new, sent)
    if new.history.root == 'request' and not new.history.ignores():
        values = {
            name: getattr(obj, name) if name in obj else None
            for name in obj.fields
        }
        with new.active():
            try:
                back = new.unwrap(read(new, again))
            except exceptions.LossyDowngrade:
                # The old peer got ``instead`` of null, which ``up`` rejects.
                assert None in values.values()
                return
        harmless = new.history.defaults()
        for name, value in values.items():
            if value in harmless:
                continue
            restored = getattr(back, name, None) if name in back else None
            assert restored == value, name


def check_upgrade(new: Build, old: Build, rng: random.Random) -> None:
    """The new build reads what the old build sends, and returns it."""
    with old.active():
        sent = on_wire(old, new_object(old, rng), old.newest)
    before = data_of(old, sent)
    with new.active():
        try:
            received = new.unwrap(read(new, sent))
            again = on_wire(new, received, old.newest)
        except exceptions.LossyDowngrade:
            assert new.history.root == 'request'
            return
    after = data_of(new, again)
    with old.active():
        read(old, again)
    if new.history.ignores() or new.history.root == 'resource':
        return
    known = old.evolving.fields
    harmless = new.history.dropped_defaults()
    for name, value in before.items():
        if value not in (known[name].default, *harmless):
            assert after.get(name) == value, name


def check_chain(new: Build, rng: random.Random) -> None:
    """One conversion equals the single steps.

    A default need not pass the types between. It can therefore be omitted
    where the single steps fail, or replace it by a value that ``changed``
    declares.
    """
    history = new.evolving._history
    steps = [Version(1, n) for n in range(new.newest + 1)]
    if rng.random() < 0.5:
        steps.reverse()
    forms = history.wire_fields_at(steps[0])
    data = random_histories.values_of(rng, forms)
    refuse_loss = new.history.root == 'request'
    if refuse_loss and new.history.drops_fields():
        return  # a single step may refuse the value that another filled in

    def convert(pairs: Any) -> Any:
        result = copy.deepcopy(data)
        try:
            for newer, older in pairs:
                history.plan(newer, older).apply(
                    result, refuse_loss=refuse_loss
                )
        except exceptions.LossyDowngrade:
            return 'loss'
        return result

    jumped = convert([(steps[0], steps[-1])])
    chained = convert(itertools.pairwise(steps))
    if chained in (jumped, 'loss'):
        return
    assert jumped != 'loss'
    substitutes = new.history.substitutes()
    for name in chained.keys() - jumped.keys():
        assert chained.pop(name) in substitutes
    assert chained == jumped


def check_shown(new: Build, rng: random.Random) -> None:
    """A resource appears at each version, with values of that version."""
    items = [new.wrap(new_object(new, rng)) for _ in range(2)]
    for version in range(new.newest + 1):
        manifest = new.manifest(version)
        for shown in objects.to_json_list(items, manifest):
            data = new.inner(shown)
            known = new.evolving.fields_at(f'1.{version}')
            assert data.keys() <= known.keys()
            for name, value in data.items():
                valid = schema.field_schema(known[name])
                jsonschema.Draft202012Validator(valid).validate(value)


def check_body(new: Build, old: Build, rng: random.Random) -> None:
    """A client of an old version keeps its behaviour."""
    version = f'1.{old.newest}'
    known = new.in_body.fields_at(version)
    items = {
        step: random_histories.values_of(rng, known)
        for step in new.body_steps()
    }
    body = json.dumps(new.body(list(items.values()))).encode()
    request = {version_policy.MICROVERSION: Version.parse(version)}
    rejected = None
    try:
        parsed = request_parsing.parse_body(new.cls('Outer'), request, body)
    except errors.ValidationError as error:
        rejected = error
    if rejected is not None:
        assert 'no longer supported' in str(rejected)
        assert rejected.path in {
            f'body{step}.{name}'
            for step, values in items.items()
            for name in values
        }
        return
    try:
        primitive = parsed.obj_to_primitive(
            version_manifest=new.manifest(old.newest)
        )
    except exceptions.LossyDowngrade:
        # The upgrade lost a value by declaration, and the old version cannot
        # hold the default that replaces it.
        assert new.history.ignores()
        return
    sent = json.loads(json.dumps(primitive))
    harmless = new.history.dropped_defaults()
    for values, data in zip(
        items.values(), new.bodies(sent[DATA]), strict=True
    ):
        for name, value in values.items():
            default = known[name].default
            if not new.history.ignores() and value not in (default, *harmless):
                assert data.get(name) == value, name
    with old.active():
        read(old, sent)


def check_peers(new: Build, old: Build, rng: random.Random) -> None:
    """The emulated old build and the matrix agree with the real one."""
    with old.active():
        code = snapshot.of_classes(
            [classes[0] for classes in old.registry.values()]
        )
        lock = edit.release(code, 'old', code)
        version = rng.randint(0, old.newest)
        with lossy():
            sent = on_wire(old, new_object(old, rng), version)
            try:
                real = read(old, sent).obj_to_primitive()
            except exceptions.LossyDowngrade:
                real = None
            try:
                emulated = EmulatedPeer(lock).read(sent).obj_to_primitive()
            except exceptions.LossyDowngrade:
                emulated = None
            assert (real is None) == (emulated is None)
            if real is not None and emulated is not None:
                assert json.loads(json.dumps(data_of(old, real))) == (
                    json.loads(json.dumps(data_of(old, emulated)))
                )
    with new.active():
        versions = [Version(1, n) for n in range(new.newest + 1)]
        for cell in matrix.matrix(lock, versions):
            assert cell.outcome != 'broken', cell.notes


def check(history: TypeHistory, rng: random.Random) -> None:
    """Check everything for a history and one of its old builds."""
    new = random_histories.build(history, history.newest)
    old = random_histories.build(history, rng.randint(0, history.newest))
    check_schemas(new, old)
    check_chain(new, rng)
    check_downgrade(new, old, rng)
    check_upgrade(new, old, rng)
    with new.active():
        if history.root == 'resource':
            check_shown(new, rng)
        else:
            check_body(new, old, rng)
    if rng.random() < 0.1:
        check_peers(new, old, rng)
    for kind in history.changes():
        covered[kind, history.position, history.root] += 1


def coverage() -> list[str]:
    """Return the lines of a table: the number of checked histories."""
    lines = []
    for position, root in itertools.product(POSITIONS, sorted(ROOTS)):
        counts = [f'{kind} {covered[kind, position, root]}' for kind in KINDS]
        lines.append(f'{position:>9} {root:<9} {", ".join(counts)}')
    return lines


@pytest.mark.timeout(max(1200, HISTORIES))
def test_random_histories_agree_with_old_builds(
    record_property: Callable[[str, object], None],
) -> None:
    @settings(
        max_examples=HISTORIES,
        deadline=None,
        database=None,
        derandomize=HISTORIES <= 500,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        size=st.integers(0, 11),
        count=st.integers(1, 3),
        seed=st.integers(0, 2**64),
    )
    def check_random_history(size: int, count: int, seed: int) -> None:
        rng = random.Random(seed)
        check(random_histories.draw(rng, size, count), rng)
        covered['total'] += 1

    check_random_history()

    title = f'{covered.pop("total")} random histories'
    record_property(PRINTED, '\n'.join([title, *coverage()]))
    if HISTORIES >= 500:
        assert len(covered) == len(KINDS) * len(POSITIONS) * len(ROOTS)
