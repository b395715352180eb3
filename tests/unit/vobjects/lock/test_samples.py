# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.vobjects.lock.factories import ovo_class
from vobjects import fields
from vobjects.lock import registries, samples

pytestmark = pytest.mark.usefixtures('registry')


def test_fill_when_optional_fields_would_be_loaded_sets_them() -> None:
    def changed(self: Any) -> set[str]:
        if not self.obj_attr_is_set('b'):
            raise RuntimeError('no database')
        return {'b'}

    loading = ovo_class(
        body={'obj_what_changed': changed},
        a=fields.StringField(),
        b=fields.StringField(nullable=True),
    )
    obj = samples.fill(loading, 'required', registries.newest)
    assert obj.obj_attr_is_set('b')
    assert len(list(samples.primitives(loading, registries.newest))) == 1


def test_fill_when_the_constructor_fails_fills_the_fields() -> None:
    def connect(self: Any) -> None:
        raise AssertionError('no message bus')

    connected = ovo_class(body={'__init__': connect}, a=fields.StringField())
    obj: Any = samples.fill(connected, 'full', registries.newest)
    assert obj.a == 'text'


def test_with_sorted_changes_when_keys_are_numbers_keeps_them() -> None:
    value = {1: ['b', 'a'], 'x.changes': ['b', 'a']}
    assert samples.with_sorted_changes(value) == {
        1: ['b', 'a'],
        'x.changes': ['a', 'b'],
    }
