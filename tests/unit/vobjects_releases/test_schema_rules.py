# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of requests, and what they accept in two releases."""

from __future__ import annotations

import pytest

from .conftest import Compare

ACCEPTED = 'SCHEMA_REQUEST_ACCEPTED'
NULL = ('SCHEMA_NULL_ACCEPTED', 'orders.create', 'gift')
SIZE = (NULL[0], NULL[1], 'size')

TYPES = """
import copy

name = {'type': 'string', 'maxLength': 255}
nullable = {'type': ['string', 'null']}
"""

SCHEMAS = """
import copy
from shop import types

create = {{
    'type': 'object',
    'properties': {{
        'order': {{
            'type': 'object',
            'properties': {{'name': types.name, 'size': {{'enum': [1, 2]}}}},
            'required': ['name'],
            'additionalProperties': {open},
        }},
    }},
}}
{change}
"""

HANDLERS = """
from shop import schemas

class Orders:
    @validation.schema(schemas.create)
    def create(self, req, body):
        return body['order'].get('gift')
"""


def release(
    change: str = '', additional: bool = False, handlers: str = HANDLERS
) -> dict[str, str]:
    source = SCHEMAS.format(change=change, open=additional)
    return {'types.py': TYPES, 'schemas.py': source, 'orders.py': handlers}


PROPERTIES = "create['properties']['order']['properties']"


@pytest.mark.parametrize(
    ('change', 'field'),
    [
        ("create['properties']['order']['required'] += ['size']", None),
        ("create['properties']['order']['required'].append('size')", 'size'),
        ("create['properties']['order'].update({'required': []})", None),
        (f"del {PROPERTIES}['size']", 'size'),
        (f"{PROPERTIES}.pop('size')", 'size'),
        (f"{PROPERTIES}['size'] = {{'enum': [1]}}", 'size'),
        (f"{PROPERTIES}['size'] = {{'enum': [1, 2, 3]}}", None),
        (f"{PROPERTIES}['size'] = {{'enum': [1, *more()]}}", None),
        (f"{PROPERTIES}['name'] = {{'type': 'integer'}}", 'name'),
        (f"{PROPERTIES}['name'] = types.nullable", None),
        (f"{PROPERTIES}['name'] = unknown()", None),
        (f"{PROPERTIES}['name'] = {{'oneOf': [types.name]}}", None),
        (f"{PROPERTIES}['name']['maxLength'] = 64", 'name'),
        (f"{PROPERTIES}['name']['maxLength'] = 300", None),
        (f"{PROPERTIES}['name']['pattern'] = '^a'", 'name'),
        (f"{PROPERTIES}['gift'] = {{'type': 'string'}}", None),
        ("create = copy.deepcopy(create)\ncreate['properties'] = {}", None),
        ("later = copy.deepcopy(create)\nlater['required'] = ['x']", None),
    ],
)
def test_compare_schema_that_rejects_more_is_found(
    compare: Compare, change: str, field: str | None
) -> None:
    found = compare(release(), release(change))

    assert found == ({(ACCEPTED, 'schemas.create', field)} if field else set())


def test_compare_schema_that_no_longer_permits_others_is_found(
    compare: Compare,
) -> None:
    found = compare(release(additional=True), release())

    assert found == {(ACCEPTED, 'schemas.create', 'order')}


def test_compare_schema_that_moved_names_the_part_that_changed(
    compare: Compare,
) -> None:
    part = """
order = {{
    'type': 'object', 'properties': {{{}}}, 'additionalProperties': False
}}
"""
    schema = """
from shop import types
create = {'type': 'object', 'properties': {'order': types.order}}
"""
    handler = """
from shop.{} import schemas

@validated(schemas.create)
def create(body): pass
"""
    old = {
        'types.py': part.format("'size': {}, 'name': {}"),
        'v1/__init__.py': '',
        'v1/schemas.py': schema,
        'orders.py': handler.format('v1'),
    }
    new = {
        'types.py': part.format("'name': {}"),
        'v2/__init__.py': '',
        'v2/schemas.py': schema,
        'orders.py': handler.format('v2'),
    }

    assert compare(old, new) == {(ACCEPTED, 'types.order', 'size')}


@pytest.mark.parametrize('name', ['response_body_schema', 'merge', 'deepcopy'])
def test_compare_schema_of_other_documents_is_not_compared(
    compare: Compare, name: str
) -> None:
    handlers = HANDLERS.replace('validation.schema', name)

    found = compare(
        release(handlers=handlers),
        release(f"{PROPERTIES}.pop('size')", handlers=handlers),
    )

    assert found == set()


UNCHECKED = HANDLERS.replace('@validation.schema(schemas.create)', '')


@pytest.mark.parametrize(
    ('old', 'gift', 'additional', 'expected'),
    [
        (UNCHECKED, "{'type': 'string'}", True, {NULL}),
        (UNCHECKED, "{'type': 'string'}", False, {NULL}),
        (UNCHECKED, "{'enum': ['red']}", True, {NULL}),
        (UNCHECKED, "{'enum': ['red', None]}", True, set()),
        (UNCHECKED, "{'type': ['string', 'null']}", True, set()),
        (UNCHECKED, 'unknown()', True, set()),
        (UNCHECKED, "{'anyOf': []}", True, set()),
        (HANDLERS, "{'type': 'string'}", True, set()),
        (
            UNCHECKED.replace('Orders', 'Old'),
            "{'type': 'string'}",
            True,
            set(),
        ),
        (
            HANDLERS.replace('schemas.create', 'SCHEMA'),
            "{'type': 'string'}",
            True,
            set(),
        ),
        (UNCHECKED.replace("'gift'", "'size'"), 'unknown()', True, {SIZE}),
        (UNCHECKED.replace("'gift'", "'name'"), 'unknown()', True, set()),
    ],
)
def test_compare_first_schema_accepts_what_the_older_code_ignores(
    compare: Compare,
    old: str,
    gift: str,
    additional: bool,
    expected: set[tuple[str, str, str]],
) -> None:
    change = f"{PROPERTIES}['gift'] = {gift}"

    found = compare(release(handlers=old), release(change, additional))

    assert found == expected


VERSIONED = """
from shop import schemas

class Orders:
    @validation.schema(schemas.create{version})
    def create(self, req, body):
        pass

class Clients:
    @validation.schema(schemas.create, '2.1')
    def create(self, req, body):
        pass
"""


@pytest.mark.parametrize(
    ('version', 'expected'),
    [
        ('', {NULL}),
        (", '2.1', '2.9'", {NULL}),
        (", '2.77'", set()),
        (", min_version='2.77'", set()),
    ],
)
def test_compare_first_schema_of_later_version_is_not_compared(
    compare: Compare, version: str, expected: set[tuple[str, str, str]]
) -> None:
    handlers = VERSIONED.format(version=version)

    change = f"{PROPERTIES}['gift'] = types.name"
    found = compare(
        release(handlers=UNCHECKED), release(change, handlers=handlers)
    )

    assert found == expected


READERS = """
class Orders:
    def create(self, req, body):
        order = body['order']
        {statement}
"""

FIRST = """
create = {{
    'type': 'object',
    'properties': {{
        'order': {{
            'type': 'object',
            'properties': {{'size': {{'type': {kind}}}, {more}}},
            'required': {required},
            'additionalProperties': {additional},
        }},
    }},
    'required': ['order'],
    'additionalProperties': False,
}}
later = {{'type': 'object', 'properties': {{'order': {{
    'type': 'object', 'properties': {{'color': {{}}}}}}}}}}
"""

FIRST_HANDLERS = """
from shop import schemas

class Orders:
    @validation.schema(schemas.create, '2.1', '2.9')
    @validation.schema(schemas.later, '2.10')
    def create(self, req, body):
        pass
"""


@pytest.mark.parametrize(
    ('statement', 'changes', 'found'),
    [
        ("order['gift']", {}, 'gift'),
        ("order.pop('gift')", {}, 'gift'),
        ("'gift' in order", {}, 'gift'),
        ("(order or {})['gift']", {}, 'gift'),
        ("order['gift']", {'additional': 'True'}, ''),
        ("order['gift']", {'more': "'extra': {'type': 'object'}"}, ''),
        ("order['gift']", {'more': "'gift': {'type': 'string'}"}, ''),
        ("order['color']", {}, ''),
        ("req['gift']", {}, ''),
        ("order.get('size', 1)", {'required': "['size']"}, 'size'),
        ("order.get('size')", {'required': "['size']"}, ''),
        ("order['size']", {'required': "['size']"}, ''),
        ("int(order['size'])", {}, 'size'),
        ("size = order['size']; size = int(size)", {}, 'size'),
        ("int(order['size'])", {'kind': "['integer', 'string']"}, ''),
        ("len(order['size'])", {}, ''),
        ("values = body['order']; db.order_create(values)", {}, 'order'),
        (
            "values = body['order']; db.order_create(values)",
            {'additional': 'True'},
            '',
        ),
        ("values = body['order']; check(values)", {}, ''),
        ("v = body['order']; v = db.get(v); db.order_update(v)", {}, ''),
        ("int(req['size'])", {}, ''),
    ],
)
def test_compare_first_schema_with_what_the_older_code_reads(
    compare: Compare, statement: str, changes: dict[str, str], found: str
) -> None:
    schema = {
        'kind': "'integer'",
        'more': '',
        'required': '[]',
        'additional': 'False',
        **changes,
    }
    old = {'orders.py': READERS.format(statement=statement)}
    new = {
        'schemas.py': FIRST.format(**schema),
        'orders.py': FIRST_HANDLERS,
    }

    assert compare(old, new) == (
        {('SCHEMA_FIRST_ACCEPTED', 'orders.create', found)} if found else set()
    )
