# SPDX-License-Identifier: Apache-2.0
"""Each field class, in each container, keeps its values on each path."""

from __future__ import annotations

import collections
import csv
import io
import json
import os
import pathlib
import sys
import urllib.parse
from typing import Any

import httpx
import pytest
from oslo_versionedobjects import base as ovo_base

import vobjects
import vobjects_client as typed
from tests.programs import run_program
from vobjects import field_corrections, fields, objects
from vobjects.controllers import request_parsing
from vobjects.lock import registries, samples, snapshot
from vobjects.microversions import errors, schema, version_policy
from vobjects.objects import manifest as manifest_of_objects
from vobjects.objects import primitives
from vobjects.objects.codec import json_text
from vobjects.rpc import serializer
from vobjects.versions import Version
from vobjects_contract import type_schemas
from vobjects_sql import stored

from . import field_table
from .field_table import ROWS, Row, Types, fields_of

TOP = pathlib.Path(vobjects.__file__).parents[1]
CSV = TOP / 'doc' / 'source' / 'field_classes.csv'

VERSIONS = ('1.0', '1.1')
DATA, VERSION = 'versioned_object.data', 'versioned_object.version'

rows = pytest.mark.parametrize('name', ROWS)


def client(version: str) -> dict[str, Any]:
    return {version_policy.MICROVERSION: Version.parse(version)}


def manifest(name: str, version: str) -> dict[str, str]:
    kinds = ('Request', 'Resource', 'Outer', 'List')
    return {f'{name}{kind}': version for kind in kinds}


@pytest.fixture(scope='module')
def types_of() -> Any:
    """Return the types of a row; they are in a registry of their own."""
    registry = ovo_base.VersionedObjectRegistry()._obj_classes
    real = dict(registry)
    registry.clear()
    types = {
        name: field_table.register_types(name, row)
        for name, row in ROWS.items()
    }
    ours = dict(registry)
    registry.clear()
    registry.update(real)

    class Lookup:
        def __getitem__(self, name: str) -> Types:
            registry.clear()
            registry.update(ours)
            return types[name]

    yield Lookup()
    registry.clear()
    registry.update(real)
    assert isinstance(registry, collections.defaultdict)


def read(obj: Any, names: Any) -> dict[str, Any]:
    return {name: getattr(obj, name) for name in names}


def instants(value: Any) -> Any:
    """Return a value that is equal only to the same instants and items.

    Python considers a time with a fold unequal to all times in other zones.
    """
    if isinstance(value, dict):
        return {key: instants(item) for key, item in value.items()}
    if isinstance(value, list):
        return [*map(instants, value)]
    if isinstance(value, (set, frozenset)):
        return {instants(item) for item in value}
    if hasattr(value, 'timestamp'):
        return int(value.timestamp())
    return type(value), value


def assert_values(obj: Any, row: Row) -> None:
    names = fields_of(row)
    assert instants(read(obj, names)) == instants(field_table.values(row))


# Completeness


def test_table_has_each_field_class_of_vobjects() -> None:
    exempt = field_table.ABSTRACT | field_table.OF_OBJECTS
    assert {*field_table.field_classes()} - exempt == {*ROWS}


def test_table_has_each_field_type_of_vobjects() -> None:
    used: set[type] = set()
    for row in ROWS.values():
        for field in fields_of(row).values():
            kind: Any = field_corrections.adapted(field)._type
            while kind is not None:
                used.update(type(kind).__mro__)
                element = getattr(kind, '_element_type', None)
                kind = getattr(element, '_type', None)
    unused = {*field_table.field_types()} - used - {fields.Object}
    assert unused == set()


# Requests


@rows
@pytest.mark.parametrize('version', VERSIONS)
def test_body_becomes_the_values(
    types_of: Any, name: str, version: str
) -> None:
    row, types = ROWS[name], types_of[name]
    body = json.dumps(field_table.json_values(row, version)).encode()
    request = request_parsing.parse_body(types.request, client(version), body)
    assert_values(request, row)
    for container in field_table.containers_of(row):
        default = getattr(request, f'default_{container}')
        expected = field_table.value(row, container)
        assert instants(default) == instants(expected)


@rows
def test_other_forms_in_body_become_the_same_values(
    types_of: Any, name: str
) -> None:
    row, types = ROWS[name], types_of[name]
    for given, expected in row.accepts:
        values = {**field_table.json_values(row), 'alone': given}
        request = request_parsing.parse_body(
            types.request, client('1.1'), json.dumps(values).encode()
        )
        written = request.obj_to_primitive()[DATA]['alone']
        assert json.loads(json.dumps(written)) == expected, given


@rows
def test_other_values_in_body_are_client_errors(
    types_of: Any, name: str
) -> None:
    row, types = ROWS[name], types_of[name]
    for given in row.rejects:
        for field, value in (
            ('alone', given),
            ('list', [given]),
            ('dict_of_lists', {'a': [given]}),
        ):
            values = {**field_table.json_values(row), field: value}
            with pytest.raises(errors.ValidationError, match=f'body.{field}'):
                request_parsing.parse_values(
                    types.request, client('1.1'), values
                )


@rows
def test_repeated_item_of_set_in_body_is_a_client_error(
    types_of: Any, name: str
) -> None:
    row, types = ROWS[name], types_of[name]
    if not row.in_sets:
        return
    twice = [row.values[0][1]] * 2
    values = {**field_table.json_values(row), 'set': twice}
    with pytest.raises(errors.ValidationError, match=r'body\.set'):
        request_parsing.parse_values(types.request, client('1.1'), values)


@rows
def test_query_becomes_the_value_or_is_a_client_error(name: str) -> None:
    row = ROWS[name]
    assert query_kinds(row) == bool(row.queries)
    for text, expected in row.queries:
        request = parse_query(row, text)
        written = request.obj_to_primitive()[DATA]['alone']
        assert json.loads(json.dumps(written)) == expected


def query_kinds(row: Row) -> bool:
    """Return whether a query can have a value of a row."""
    try:
        parse_query(row, row.queries[0][0] if row.queries else 'x')
    except errors.ValidationError:
        return False
    return True


def parse_query(row: Row, text: str) -> Any:
    attributes = {'fields': {'alone': row.make(fields)}}
    cls = type('SampleQuery', (vobjects.Request,), attributes)
    registered = vobjects.register(cls)
    try:
        return request_parsing.parse_query(
            registered,
            client('1.0'),
            urllib.parse.urlencode({'alone': text}),
        )
    finally:
        del ovo_base.VersionedObjectRegistry()._obj_classes['SampleQuery']


@rows
def test_schemas_of_contract_are_json(types_of: Any, name: str) -> None:
    types = types_of[name]
    names = schema.all_field_names(types.request)
    for version in map(Version.parse, VERSIONS):
        for part in (
            type_schemas.resource(types.outer, version),
            type_schemas.request_part(types.request, version, names),
            type_schemas.query(types.request, version, names),
        ):
            json.dumps(part, allow_nan=False)


# Responses


@rows
@pytest.mark.parametrize('version', VERSIONS)
def test_json_of_response_has_the_values(
    types_of: Any, name: str, version: str
) -> None:
    row, types = ROWS[name], types_of[name]
    resource = types.resource(**field_table.values(row))
    expected = field_table.json_values(row, version)
    older = manifest(name, version)
    inner = objects.to_json(resource, older)
    assert json.loads(json.dumps(inner)) == expected
    outer = types.outer(
        one=resource, many=[resource], by_key={'k': [resource]}
    )
    whole = json.loads(json.dumps(objects.to_json(outer, older)))
    assert whole == {
        'one': expected,
        'many': [expected],
        'by_key': {'k': [expected]},
    }
    pending = serializer.from_bytes(serializer.to_bytes([resource], None))
    for listed in ([resource], pending):
        written = primitives.to_json_text(listed, older)
        assert json.loads(json_text.dumps(written)) == [expected]


# RPC


@rows
@pytest.mark.parametrize('kind', ['request', 'resource'])
def test_bytes_of_rpc_are_read_back(
    types_of: Any, name: str, kind: str
) -> None:
    row = ROWS[name]
    cls = getattr(types_of[name], kind)
    obj = cls(**field_table.values(row))
    obj.obj_reset_changes()
    written = serializer.to_bytes(obj, None)
    again = serializer.from_bytes(written)
    assert_values(again, row)
    assert serializer.to_bytes(again, None) == written
    (listed,) = serializer.from_bytes(serializer.to_bytes([obj], None))
    assert_values(listed, row)
    assert_values(cls.obj_from_primitive(obj.obj_to_primitive()), row)
    assert_values(obj.obj_clone(), row)


@rows
def test_primitive_is_that_of_oslo_if_it_reads_it_back(
    types_of: Any, name: str
) -> None:
    row, types = ROWS[name], types_of[name]
    ours = types.resource(**field_table.values(row)).obj_to_primitive()[DATA]
    compared = 0
    for field, value in field_table.values(row).items():
        plain = types.plain()
        try:
            setattr(plain, field, value)
            written = plain.obj_to_primitive()
            back = getattr(types.plain.obj_from_primitive(written), field)
        except ValueError:
            continue
        theirs = written[DATA][field]
        if instants(back) == instants(value) and not has_sets(value):
            assert json.dumps(ours[field]) == json.dumps(theirs)
        compared += 1
    assert compared


def has_sets(value: Any) -> bool:
    """Tell whether a value has sets, which oslo writes in any order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return any(map(has_sets, value))
    return isinstance(value, set)


# Versions


@rows
@pytest.mark.parametrize('kind', ['request', 'resource'])
def test_older_version_keeps_the_values(
    types_of: Any, name: str, kind: str
) -> None:
    row = ROWS[name]
    cls = getattr(types_of[name], kind)
    older = cls(**field_table.values(row)).obj_to_primitive('1.0')
    assert older[VERSION] == '1.0'
    expected = field_table.json_values(row, '1.0')
    assert json.loads(json.dumps(older[DATA])) == expected
    assert_values(cls.obj_from_primitive(json.loads(json.dumps(older))), row)


@rows
@pytest.mark.parametrize('by', ['manifest', 'obj_relationships', 'child'])
def test_nested_older_version_keeps_the_values(
    types_of: Any, name: str, by: str
) -> None:
    row, types = ROWS[name], types_of[name]
    resource = types.resource(**field_table.values(row))
    if by == 'child':
        outer = types.list_(objects=[resource])
    else:
        # obj_relationships does not apply to objects in dicts.
        outer = types.outer(one=resource, many=[resource], by_key={})
    if by == 'manifest':
        written = outer.obj_to_primitive(
            version_manifest=manifest(name, '1.0')
        )
    else:
        written = outer.obj_to_primitive('1.0')
    data = json.loads(json.dumps(written))[DATA]
    inside = data['objects'] if by == 'child' else [data['one'], *data['many']]
    for primitive in inside:
        assert primitive[VERSION] == '1.0'
        assert primitive[DATA] == field_table.json_values(row, '1.0')
    again = type(outer).obj_from_primitive(json.loads(json.dumps(written)))
    first = again.objects[0] if by == 'child' else again.one
    assert_values(first, row)


# Clients and databases


class Samples(typed.Operations[typed.Http]):
    """A group whose operation a test sets."""


class SampleClient(typed.Client[typed.Http]):
    POLICY = version_policy.VersionPolicy(
        ('sample',), Version(1, 0), Version(1, 1), help_url=''
    )

    samples: Samples[typed.Http]


@rows
@pytest.mark.parametrize('version', VERSIONS)
def test_typed_client_and_server_exchange_the_values(
    types_of: Any, name: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, types = ROWS[name], types_of[name]
    manifest_of_objects.at_microversion.cache_clear()
    received = []

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path == '/':
            item = {'id': 'v1', 'min_version': '1.0', 'version': version}
            return httpx.Response(300, json={'versions': [item]})
        body = json.loads(request.content)
        received.append(
            request_parsing.parse_values(types.request, client(version), body)
        )
        resource = types.resource(**field_table.values(row))
        outer = types.outer(one=resource, many=[resource], by_key={})
        answer = objects.to_json(outer, manifest(name, version))
        return httpx.Response(200, json=answer)

    send = typed.operation('POST', '/x', types.request, types.outer)
    monkeypatch.setattr(Samples, 'send', send, raising=False)
    http = httpx.Client(
        base_url='http://x', transport=httpx.MockTransport(respond)
    )
    samples: Any = SampleClient(http).samples
    outer = samples.send(**field_table.values(row))
    (request,) = received
    for obj in (request, outer.one, *outer.many):
        assert_values(obj, row)


@rows
@pytest.mark.parametrize('version', VERSIONS)
@pytest.mark.parametrize('kind', ['request', 'resource'])
def test_stored_object_is_read_back(
    types_of: Any, name: str, kind: str, version: str
) -> None:
    row = ROWS[name]
    cls = getattr(types_of[name], kind)
    column = stored.StoredObject(cls, lambda: manifest(name, version))
    new = cls(**field_table.values(row))
    new.obj_reset_changes()  # they have the order of a set
    text = column.process_bind_param(new, None)
    assert text is not None
    obj = column.process_result_value(text, None)
    assert_values(obj, row)
    assert column.process_bind_param(obj, None) == text


# Unset and null


@pytest.fixture
def _partial_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send resources without their required fields, too."""
    monkeypatch.setattr(objects.Resource, 'check_complete', lambda self: None)


@rows
@pytest.mark.parametrize('kind', ['request', 'resource'])
@pytest.mark.usefixtures('_partial_resources')
def test_unset_fields_stay_unset(types_of: Any, name: str, kind: str) -> None:
    cls = getattr(types_of[name], kind)
    for version in VERSIONS:
        written = cls().obj_to_primitive(version)
        assert written[DATA] == {}
        again = cls.obj_from_primitive(json.loads(json.dumps(written)))
        names = [n for n in fields_of(ROWS[name]) if n in again]
        assert names == []


@rows
@pytest.mark.usefixtures('_partial_resources')
def test_null_is_kept_at_each_version(types_of: Any, name: str) -> None:
    cls = types_of[name].resource
    nulls = {'nullable': None, 'changed_nullable': None}
    for version in VERSIONS:
        written = cls(**nulls).obj_to_primitive(version)
        assert written[DATA] == nulls
        assert read(cls.obj_from_primitive(written), nulls) == nulls


# Locks


def test_lock_depends_neither_on_the_hash_seed_nor_on_the_order() -> None:
    def run(seed: str, *arguments: str) -> list[str]:
        done = run_program(
            [
                *(sys.executable, '-W', 'ignore', '-m'),
                field_table.__name__,
                *arguments,
            ],
            cwd=TOP,
            env={**os.environ, 'PYTHONHASHSEED': seed},
            check=True,
        )
        return sorted(done.stdout.splitlines())

    first = run('1')
    assert len(first) > 1000
    assert run('2', 'backwards') == first


@rows
def test_snapshot_and_samples_have_each_field(
    types_of: Any, name: str
) -> None:
    cls = types_of[name].resource
    lock = snapshot.of_classes([cls])
    for version in VERSIONS:
        known = lock.types[cls.obj_name()]
        (found,) = [s for s in known if s.version == version]
        names = {field.name for field in found.fields}
        assert names == {*cls.fields_at(version)}
    full = next(samples.primitives(cls, registries.newest))
    assert full[DATA].keys() == cls.fields.keys()
    cls.obj_from_primitive(full)


# Documentation


def table() -> str:
    """Return the table of the documentation as CSV."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator='\n')
    writer.writerow(('Class', 'Python', 'JSON', 'Query', 'In a set'))
    for name, row in ROWS.items():
        value, written = row.values[-1]
        writer.writerow(
            (
                f'``{name}``',
                type(value).__name__,
                f'``{json.dumps(written, ensure_ascii=False)}``',
                'yes' if row.queries else 'no',
                'yes' if row.in_sets else 'no',
            )
        )
    return output.getvalue()


def test_documentation_has_the_table() -> None:
    if os.environ.get('VOBJECTS_WRITE_FIELD_CLASSES'):
        CSV.write_text(table())
    assert CSV.read_text() == table(), (
        'run this test with VOBJECTS_WRITE_FIELD_CLASSES=1'
    )
