# SPDX-License-Identifier: Apache-2.0
"""Versions that registration refuses, and unlisted microversions."""

from __future__ import annotations

from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base

from vobjects import exceptions, fields, objects
from vobjects.objects import adoption, registration
from vobjects.objects.history import added, removed

pytestmark = pytest.mark.usefixtures('registry')

NEW = added('1.2', fields.StringField(nullable=True))
REASON = {'1.1': 'Engines of 1.1 resolve names.'}


def register_thing(
    version: str, *parents: type[Any], **attributes: Any
) -> type[objects.Object]:
    """Register a type called Thing."""
    body = {
        'VERSION': version,
        'fields': {'a': fields.StringField()},
        **attributes,
    }
    return objects.register(type('Thing', parents or (objects.Object,), body))


def make_compatible(self: Any, primitive: Any, target_version: str) -> None:
    """Convert by hand."""


@pytest.mark.parametrize(
    ('version', 'attributes', 'version_without_change'),
    [
        ('1.1', {}, '1.1'),
        ('1.3', {'fields': {'a': NEW}}, '1.3'),
        (
            '1.2',
            {
                'fields': {'a': NEW},
                'VERSION_MAP': {'1.5': '1.1', '1.6': '1.2'},
            },
            '1.1',
        ),
        (
            '1.2',
            {
                'fields': {'a': NEW},
                'VERSION_MAP': {'1.6': '1.2'},
                'EARLY_VERSION_MAP': {'1.4': '1.1'},
            },
            '1.1',
        ),
    ],
)
def test_version_when_it_changes_no_field_is_rejected(
    version: str, attributes: dict[str, Any], version_without_change: str
) -> None:
    with pytest.raises(exceptions.DeclarationError) as caught:
        register_thing(version, **attributes)
    assert str(caught.value) == (
        f"Thing: no field changes at version '{version_without_change}';"
        ' declare the change, as in'
        f" added('{version_without_change}', ...), or state why the version"
        f" exists: NO_FIELD_CHANGES = {{'{version_without_change}': 'WHY'}}"
    )


@pytest.mark.parametrize(
    ('version', 'attributes'),
    [
        ('1.1', {'NO_FIELD_CHANGES': REASON}),
        ('1.2', {'fields': {'a': NEW}, 'NO_FIELD_CHANGES': REASON}),
        # A gap that nothing maps, as after a merge of versions.
        ('1.2', {'fields': {'a': NEW}}),
        # As in oslo.versionedobjects.
        ('1.7', {'obj_make_compatible': make_compatible}),
        ('1.1', {'child_versions': {'1.0': '1.0', '1.1': '1.4'}}),
        ('1.1', {'obj_relationships': {'a': [('1.1', '1.4')]}}),
    ],
)
def test_version_when_it_is_explained_is_registered(
    version: str, attributes: dict[str, Any]
) -> None:
    assert version == register_thing(version, **attributes).VERSION


@pytest.mark.parametrize('version', ['2.0', '2.1', '10.0'])
@pytest.mark.parametrize(
    'attributes', [{}, {'obj_make_compatible': make_compatible}]
)
@pytest.mark.parametrize(
    'parent', [objects.Object, objects.Request, objects.Resource]
)
def test_version_of_another_major_version_is_rejected(
    parent: type[Any], attributes: dict[str, Any], version: str
) -> None:
    with pytest.raises(
        exceptions.DeclarationError,
        match=rf"Thing.VERSION: '{version}' .* a type with another name",
    ):
        register_thing(
            version, parent, VERSION_MAP={'1.1': version}, **attributes
        )


@pytest.mark.parametrize(
    ('attributes', 'where'),
    [
        ({'VERSION': 1.1}, r'Thing\.VERSION: 1\.1'),
        ({'VERSION_MAP': {1.1: '1.1'}}, r'Thing\.VERSION_MAP: 1\.1'),
        ({'VERSION_MAP': {'1.1': None}}, r'Thing\.VERSION_MAP: None'),
        (
            {'fields': {'a': added(1.1, fields.StringField(nullable=True))}},  # type: ignore[arg-type]
            r'Thing\.a: 1\.1',
        ),
    ],
)
def test_version_that_is_no_text_is_rejected(
    attributes: dict[str, Any], where: str
) -> None:
    version = attributes.pop('VERSION', '1.1')
    with pytest.raises(
        exceptions.DeclarationError, match=f'{where} is not a version; write'
    ):
        register_thing(version, **attributes)


@pytest.mark.parametrize(
    ('attributes', 'problem'),
    [
        ({'ROUTE': 'capably'}, "ROUTE: must be one of .* mean 'capable'"),
        ({'UNKNOWN_FIELDS': 'ignore'}, "UNKNOWN_FIELDS: must be one of 'ref"),
        ({'OLDEST_VERSION': '1.1'}, "OLDEST_VERSION: '1.1' must not be newer"),
        *(
            ({name: ['1.0']}, rf"{name} must be a dictionary, not \['1.0'\]")
            for name in (
                'VERSION_MAP',
                'EARLY_VERSION_MAP',
                'NO_FIELD_CHANGES',
                'BOUNDS',
            )
        ),
    ],
)
def test_attribute_when_its_value_is_invalid_is_rejected(
    attributes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(exceptions.DeclarationError, match=f'Thing.{problem}'):
        register_thing('1.0', **attributes)


@pytest.mark.parametrize('value', [5, type('Thing', (), {}), fields])
def test_value_that_is_no_versioned_type_is_rejected(value: Any) -> None:
    with pytest.raises(
        exceptions.DeclarationError, match=r'derive .* from vobj'
    ):
        objects.register(value)


@pytest.mark.parametrize('kind', [objects.Request, objects.Resource])
@pytest.mark.parametrize('is_base_registered', [True, False])
def test_field_that_a_base_drops_is_not_in_the_newest_version(
    kind: type[Any], is_base_registered: bool
) -> None:
    old = removed('1.1', fields.StringField(nullable=True), dropped='1.1')
    body = {'VERSION': '1.1', 'VERSION_MAP': {'1.1': '1.1'}}
    base = type('Base', (kind,), {**body, 'fields': {'old': old}})
    if is_base_registered:
        objects.register(base)
    cls = register_thing('1.1', base)
    assert cls.fields.keys() == cls.fields_at('1.1').keys() == {'a'}
    assert cls.fields_at('1.0').keys() == {'a', 'old'}
    assert not hasattr(cls, 'old')


def test_version_of_a_subclass_inherits_the_reason() -> None:
    parent = register_thing('1.1', NO_FIELD_CHANGES=REASON)
    assert register_thing('1.1', parent).VERSION == '1.1'
    b = added('1.1', fields.StringField(nullable=True))
    assert register_thing('1.1', parent, fields={'b': b}).VERSION == '1.1'


@pytest.mark.parametrize('version', ['1.9', '2.0'])
def test_version_of_an_adopted_class_is_not_checked(version: str) -> None:
    cls = type(
        'Thing',
        (ovo_base.VersionedObject,),
        {'VERSION': version, 'fields': {}},
    )
    ovo_base.VersionedObjectRegistry.register(cls)
    assert adoption.adopt([cls]) == [cls]


@pytest.mark.parametrize(
    ('reasons', 'problem'),
    [
        ({'1.2': 'Why.'}, "NO_FIELD_CHANGES: '1.2' changes a field; delete"),
        ({'1.3': 'Why.'}, "'1.3' is newer than VERSION = '1.2'; delete"),
        ({'1.1': ' '}, "'1.1' must have a sentence with the reason"),
        ({'1.1': None}, "'1.1' must have a sentence with the reason"),
        ({'x': 'Why.'}, 'Thing.NO_FIELD_CHANGES: '),
    ],
)
def test_reason_when_it_applies_to_no_version_is_rejected(
    reasons: dict[str, Any], problem: str
) -> None:
    with pytest.raises(exceptions.DeclarationError, match=problem):
        register_thing('1.2', fields={'a': NEW}, NO_FIELD_CHANGES=reasons)


def test_microversion_when_the_history_lacks_it_is_unlisted() -> None:
    cls = register_thing(
        '1.2',
        fields={'a': NEW},
        VERSION_MAP={'1.4': '1.2'},
        EARLY_VERSION_MAP={'1.2': '1.2'},
    )

    def problems(*history: str) -> list[str]:
        return [
            problem
            for problem, _fix in registration.unlisted_microversions(
                cls, history
            )
        ]

    assert problems('1.0', '1.2', '1.4', '1.10') == []
    # The history has no longer 1.2, which a type may still map.
    assert problems('1.3', '1.4') == []
    assert problems() == []
    assert problems('1.0', '1.3') == [
        f"Thing.{attribute} maps '{microversion}' to '1.2', but the history"
        f' of the service has no entry for {microversion} (it ends at 1.3)'
        for attribute, microversion in (
            ('VERSION_MAP', '1.4'),
            ('EARLY_VERSION_MAP', '1.2'),
        )
    ]
