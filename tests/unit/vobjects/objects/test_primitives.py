# SPDX-License-Identifier: Apache-2.0
"""An object as the JSON data of a response: no envelopes at any depth."""

from __future__ import annotations

import json
from typing import Any

from vobjects import fields, objects
from vobjects.objects.history import added

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


def test_plain_has_no_envelopes_at_any_depth() -> None:
    said = objects.to_json(tree(), NEWEST)
    assert said == expected({'name': 'a', 'tag': 't'})
    assert json.loads(json.dumps(said)) == said


def test_plain_shows_what_the_manifest_shows() -> None:
    said = objects.to_json(tree(), {**NEWEST, 'PlainLeaf': '1.0'})
    assert said == expected({'name': 'a'})


def test_plain_leaves_the_object_as_it_is() -> None:
    one = tree()
    objects.to_json(one, NEWEST)['row'].clear()
    assert objects.to_json(one, NEWEST) == expected({'name': 'a', 'tag': 't'})


def test_plain_of_what_is_not_set_or_null_says_so() -> None:
    assert objects.to_json(PlainTree(leaf=None), NEWEST) == {'leaf': None}
