# SPDX-License-Identifier: Apache-2.0
"""JSON data of objects has no envelopes at any depth."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vobjects import fields, objects
from vobjects.objects.history import added


@pytest.fixture(autouse=True)
def partial_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send resources without their required fields, too."""
    monkeypatch.setattr(objects.Resource, 'check_complete', lambda self: None)


NEWEST = {'PlainLeaf': '1.1', 'PlainTree': '1.0'}


@objects.register
class PlainLeaf(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}
    fields = {
        'name': fields.StringField(),
        'tag': added('1.1', fields.StringField(nullable=True)),
    }


@objects.register
class PlainTree(objects.Resource):
    fields = {
        'leaf': fields.ObjectField('PlainLeaf', nullable=True),
        'row': fields.ListOfObjectsField('PlainLeaf'),
        'map': fields.Field(fields.Dict(fields.Object('PlainLeaf'))),
        'set': fields.SetOfStringsField(),
        'lists': fields.ListOfListsOfStringsField(),
        'json': fields.JsonField(),
    }


def tree() -> PlainTree:
    leaf = PlainLeaf(name='a', tag='t')
    return PlainTree(
        leaf=leaf,
        row=[leaf, leaf],
        map={'k': leaf},
        set={'s'},
        lists=[['x'], []],
        # Looks like an envelope, and is the user's own.
        json={'versioned_object.name': 'PlainLeaf'},
    )


def expected(leaf: dict[str, Any]) -> dict[str, Any]:
    return {
        'leaf': leaf,
        'row': [leaf, leaf],
        'map': {'k': leaf},
        'set': ['s'],
        'lists': [['x'], []],
        'json': {'versioned_object.name': 'PlainLeaf'},
    }


def test_to_json_has_no_envelopes_at_any_depth() -> None:
    json_value = objects.to_json(tree(), NEWEST)
    assert json_value == expected({'name': 'a', 'tag': 't'})
    assert json.loads(json.dumps(json_value)) == json_value


def test_to_json_uses_versions_of_manifest() -> None:
    json_value = objects.to_json(tree(), {**NEWEST, 'PlainLeaf': '1.0'})
    assert json_value == expected({'name': 'a'})


def test_to_json_does_not_change_the_object() -> None:
    original = tree()
    objects.to_json(original, NEWEST)['row'].clear()
    assert objects.to_json(original, NEWEST) == expected(
        {'name': 'a', 'tag': 't'}
    )


def test_to_json_omits_unset_and_keeps_null() -> None:
    assert objects.to_json(PlainTree(leaf=None), NEWEST) == {'leaf': None}
