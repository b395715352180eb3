# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base

from tests.unit.vobjects.lock.factories import vobjects_type
from vobjects import fields, objects
from vobjects.lock import registries, samples
from vobjects.objects.history import (
    added,
    changed,
    changes_of,
    removed,
    renamed,
)
from vobjects_testing import golden_checks

pytestmark = pytest.mark.usefixtures('registry')


def test_check_when_primitive_changes_fails() -> None:
    cls = vobjects_type(a=fields.StringField())
    primitive = cls(a='x').obj_to_primitive()
    golden_checks.check(primitive, {'Thing': '1.0'})

    class UpperCase(fields.String):
        def coerce(self, obj: Any, attr: str, value: Any) -> str:
            return str(value).upper()

    ovo_base.VersionedObjectRegistry()._obj_classes.clear()
    vobjects_type(a=fields.Field(UpperCase()))
    with pytest.raises(AssertionError, match="'a' was 'x' and became 'X'"):
        golden_checks.check(primitive, {'Thing': '1.0'})
    golden_checks.check(primitive, {'Thing': '1.0'}, [('Thing', 'a')])


@pytest.mark.parametrize('is_nested', [False, True])
def test_check_when_a_type_has_given_up_a_value_checks_the_others(
    is_nested: bool,
) -> None:
    options = {'default': ''}
    things = {'things': fields.ListOfObjectsField('Thing')}
    outer = type('Outer', (objects.Request,), {'fields': things})

    def declare(**declared: fields.Field[Any]) -> None:
        ovo_base.VersionedObjectRegistry()._obj_classes.clear()
        vobjects_type(
            version='1.1',
            parent=objects.Request,
            version_map={'1.1': '1.1'},
            **declared,
        )
        objects.register(outer)

    vobjects_type(
        parent=objects.Request,
        a=fields.StringField(),
        gift=fields.StringField(**options),
    )
    objects.register(outer)
    cls = objects.registered_type('Thing')
    obj = cls(a='x', gift='y')
    sent = outer(things=[obj, obj]) if is_nested else obj
    primitive = sent.obj_to_primitive()
    manifest = {'Thing': '1.0', 'Outer': '1.0'}

    declare(
        a=fields.StringField(),
        gift=removed('1.1', fields.StringField(**options), dropped='1.1'),
    )
    golden_checks.check(primitive, manifest)

    class UpperCase(fields.String):
        def coerce(self, obj: Any, attr: str, value: Any) -> str:
            return str(value).upper()

    declare(
        a=fields.Field(UpperCase()),
        gift=removed('1.1', fields.StringField(**options), dropped='1.1'),
    )
    with pytest.raises(AssertionError, match="'x' and became 'X'"):
        golden_checks.check(primitive, manifest)


@pytest.mark.parametrize('parent', [objects.Request, objects.Resource])
@pytest.mark.parametrize(
    ('released', 'declared'),
    [
        (
            fields.StringField(default='ctr'),
            lambda old: removed('1.1', old),
        ),
        (
            fields.StringField(default='ctr'),
            lambda old: removed('1.1', old, dropped='1.2'),
        ),
        (
            fields.StringField(default='ctr'),
            lambda old: removed('1.1', old, dropped='1.2', on_drop='ignore'),
        ),
        (
            fields.StringField(nullable=True),
            lambda old: removed('1.1', old, dropped='1.2'),
        ),
        (
            fields.StringField(default='ctr'),
            lambda old: renamed('1.1', 'a', old),
        ),
        (
            fields.StringField(default='ctr'),
            lambda old: changed(
                '1.1', old, fields.StringField(default='x'), up=str, down=str
            ),
        ),
        (
            fields.StringField(nullable=True),
            lambda old: changed('1.1', old, fields.StringField(), missing='x'),
        ),
        (
            fields.StringField(),
            lambda old: removed(
                '1.2',
                changed(
                    '1.1',
                    old,
                    fields.StringField(default='x'),
                    up=str,
                    down=str,
                ),
            ),
        ),
    ],
)
@pytest.mark.parametrize('is_nested', [False, True])
def test_check_when_a_later_version_changes_a_field_passes(
    parent: Any, released: Any, declared: Any, is_nested: bool
) -> None:
    things = {'things': fields.ListOfObjectsField('Thing')}
    outer = type('Outer', (parent,), {'fields': things})
    vobjects_type(parent=parent, a=released, b=fields.StringField())
    objects.register(outer)
    cls = objects.registered_type('Outer' if is_nested else 'Thing')
    primitives = list(samples.primitives(cls, registries.newest))
    ovo_base.VersionedObjectRegistry()._obj_classes.clear()
    field = declared(released)
    is_renamed = changes_of(field)[-1].kind == 'renamed'
    vobjects_type(
        version='1.2',
        parent=parent,
        version_map={'1.1': '1.1', '1.2': '1.2'},
        b=fields.StringField(),
        c=added('1.1', fields.StringField(nullable=True)),
        d=added('1.2', fields.StringField(nullable=True)),
        **{'renamed_a' if is_renamed else 'a': field},
    )
    objects.register(outer)
    for primitive in primitives:
        golden_checks.check(primitive, {'Thing': '1.0', 'Outer': '1.0'})
