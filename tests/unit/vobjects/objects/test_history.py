# SPDX-License-Identifier: Apache-2.0
"""Histories of fields, their plans, and invalid declarations."""

from __future__ import annotations

import itertools

import pytest

from vobjects import exceptions, fields, objects
from vobjects.objects import history
from vobjects.objects.history import added, changed, removed, renamed
from vobjects.versions import Version


def timeline(version: str, **declared: fields.Field) -> history.History:
    return history.History('Thing', Version.parse(version), declared)


def names_at(line: history.History, version: str) -> set[str]:
    return set(line.fields_at(Version.parse(version)))


def test_fields_at_follows_every_kind_of_change() -> None:
    line = timeline(
        '1.10',
        name=fields.StringField(),
        force=added('1.9', fields.BooleanField(default=False)),
        colour=renamed(
            '1.10', 'color', added('1.2', fields.StringField(nullable=True))
        ),
        legacy=removed('1.3', fields.StringField(nullable=True)),
    )
    assert names_at(line, '1.0') == {'name', 'legacy'}
    assert names_at(line, '1.2') == {'name', 'legacy', 'color'}
    assert names_at(line, '1.3') == {'name', 'color'}
    assert names_at(line, '1.9') == {'name', 'color', 'force'}
    assert names_at(line, '1.10') == {'name', 'colour', 'force'}


def test_declaration_changes_neither_repr_nor_argument() -> None:
    plain = fields.StringField(nullable=True)
    declared = added('1.1', plain)
    assert repr(declared) == repr(plain)
    assert history.changes_of(plain) == ()
    assert [c.kind for c in history.changes_of(declared)] == ['added']


def test_plan_equals_chain_of_single_steps() -> None:
    line = timeline(
        '1.4',
        size=changed(
            '1.4',
            renamed(
                '1.3',
                'length',
                changed(
                    '1.2',
                    fields.StringField(nullable=True),
                    fields.IntegerField(nullable=True),
                    up=int,
                    down=str,
                ),
            ),
            fields.FloatField(nullable=True),
            up=float,
            down=int,
        ),
    )
    steps = [Version(1, minor) for minor in (4, 3, 2, 1, 0)]
    jumped, chained = {'size': 7.0}, {'size': 7.0}
    line.plan(steps[0], steps[-1]).apply(jumped, refuse_loss=True)
    for here, there in itertools.pairwise(steps):
        line.plan(here, there).apply(chained, refuse_loss=True)
    assert jumped == chained == {'length': '7'}
    line.plan(steps[-1], steps[0]).apply(jumped, refuse_loss=True)
    assert jumped == {'size': 7.0}


def test_plan_when_two_fields_swap_names_keeps_values() -> None:
    line = timeline(
        '1.1',
        left=renamed('1.1', 'right', fields.StringField(nullable=True)),
        right=renamed('1.1', 'left', fields.StringField(nullable=True)),
    )
    data = {'left': 'L', 'right': 'R'}
    line.plan(Version(1, 1), Version(1, 0)).apply(data, refuse_loss=True)
    assert data == {'right': 'L', 'left': 'R'}


def test_plan_when_old_type_cannot_hold_value_raises() -> None:
    def down(value: float) -> int:
        if value != int(value):
            raise ValueError('fraction')
        return int(value)

    line = timeline(
        '1.1',
        size=changed(
            '1.1',
            fields.IntegerField(nullable=True),
            fields.FloatField(nullable=True),
            up=float,
            down=down,
        ),
    )
    plan = line.plan(Version(1, 1), Version(1, 0))
    with pytest.raises(exceptions.LossyDowngrade) as caught:
        plan.apply({'size': 1.5}, refuse_loss=True)
    assert (caught.value.field, caught.value.value) == ('size', '1.5')
    assert (caught.value.from_version, caught.value.to_version) == (
        '1.1',
        '1.0',
    )


def test_removed_field_has_default_in_old_version() -> None:
    line = timeline(
        '1.1',
        mode=removed('1.1', fields.StringField(default='fast')),
        note=removed('1.1', fields.StringField(nullable=True)),
    )
    data: dict[str, object] = {}
    line.plan(Version(1, 1), Version(1, 0)).apply(data, refuse_loss=True)
    assert data == {'mode': 'fast', 'note': None}


def test_removed_field_of_old_sender_when_set_raises() -> None:
    line = timeline(
        '1.1',
        mode=removed('1.1', fields.StringField(default='fast')),
        hint=removed(
            '1.1', fields.StringField(nullable=True), on_drop='ignore'
        ),
    )
    plan = line.plan(Version(1, 0), Version(1, 1))
    data = {'mode': 'fast', 'hint': 'anything'}
    plan.apply(data, refuse_loss=True)
    assert data == {}
    with pytest.raises(exceptions.LossyDowngrade, match='mode'):
        plan.apply({'mode': 'slow'}, refuse_loss=True)


def test_equal_primitives_distinguishes_false_from_zero() -> None:
    assert history.equal_primitives(False, False)
    assert not history.equal_primitives(False, 0)
    assert not history.equal_primitives(1, True)
    assert not history.equal_primitives(1, 1.0)


@pytest.mark.parametrize(
    ('field', 'problem'),
    [
        (added('1.3', fields.StringField(nullable=True)), 'raise VERSION'),
        (added('1.0', fields.StringField(nullable=True)), 'after 1.0'),
        (added('1.01', fields.StringField(nullable=True)), 'not a version'),
        (added('1.1', fields.StringField()), 'nullable=True'),
        (removed('1.1', fields.StringField()), 'nullable=True'),
        (
            renamed('1.1', 'old', added('1.2', fields.StringField())),
            'innermost',
        ),
        (
            added('1.2', renamed('1.1', 'old', fields.StringField())),
            'added() must be the innermost',
        ),
        (
            renamed('1.2', 'old', removed('1.1', fields.StringField())),
            'removed() must be the outermost',
        ),
        (renamed('1.1', 'other', fields.StringField()), 'two fields'),
        ('not a field', 'is not a field'),
    ],
)
def test_register_when_history_is_contradictory_raises(
    registry: None, field: fields.Field, problem: str
) -> None:
    with pytest.raises(exceptions.DeclarationError) as caught:

        @objects.register
        class Thing(objects.Object):
            VERSION = '1.2'
            fields = {'it': field, 'other': fields.StringField()}

    message = str(caught.value)
    assert message.startswith('Thing.')
    assert problem in message


def test_changed_without_both_directions_raises() -> None:
    with pytest.raises(exceptions.DeclarationError, match='both up= and down'):
        changed(
            '1.1',
            fields.StringField(),
            fields.IntegerField(),
            up=int,
            down=None,
        )


@pytest.mark.parametrize(
    ('version', 'version_map', 'problem'),
    [
        ('1.2', {'1.10': '1.2', '1.9': '1.1'}, 'both columns'),
        ('1.2', {'1.9': '1.1', '1.10': '1.1'}, 'both columns'),
        ('1.2', {'1.9': '1.1'}, "ends at '1.1' but VERSION is '1.2'"),
        ('1.1', {}, "ends at '1.0' but VERSION is '1.1'"),
        ('1.1', {'1.9': '1.01'}, 'not a version'),
        ('1.1', {'one': '1.1'}, 'not a version'),
        ('1', {}, 'not a version'),
    ],
)
def test_register_when_version_map_is_wrong_states_fix(
    registry: None, version: str, version_map: dict[str, str], problem: str
) -> None:
    with pytest.raises(exceptions.DeclarationError) as caught:

        @objects.register
        class Thing(objects.Request):
            VERSION = version
            VERSION_MAP = version_map

    assert problem in str(caught.value)


def test_version_map_is_compared_as_numbers(registry: None) -> None:
    @objects.register
    class Thing(objects.Request):
        VERSION = '1.2'
        VERSION_MAP = {'1.9': '1.1', '1.10': '1.2'}
        fields = {
            'force': added('1.1', fields.BooleanField(default=False)),
            'colour': renamed(
                '1.2', 'color', fields.StringField(nullable=True)
            ),
        }

    shown = {
        text: Thing.version_at(Version.parse(text))
        for text in ('1.0', '1.8', '1.9', '1.10', '1.14')
    }
    assert shown == {
        '1.0': '1.0',
        '1.8': '1.0',
        '1.9': '1.1',
        '1.10': '1.2',
        '1.14': '1.2',
    }
    assert Thing.introduced() is None
    assert Thing.first_microversion_of('force') == Version(1, 9)
    assert Thing.first_microversion_of('colour') == Version(1, 10)
    with pytest.raises(KeyError):
        Thing.first_microversion_of('color')


def test_early_map_applies_where_it_is_newer(
    registry: None,
) -> None:
    @objects.register
    class Thing(objects.Request):
        VERSION = '1.2'
        VERSION_MAP = {'1.3': '1.0', '1.9': '1.1', '1.10': '1.2'}
        EARLY_VERSION_MAP = {'1.1': '1.0', '1.5': '1.1'}
        fields = {
            'name': fields.StringField(),
            'force': added('1.1', fields.BooleanField(default=False)),
            'deep': added('1.2', fields.BooleanField(default=False)),
        }

    def shown(early: bool) -> list[str | None]:
        versions = (Version(1, n) for n in (0, 1, 3, 5, 9, 10, 11))
        return [Thing.version_at(version, early=early) for version in versions]

    assert shown(early=False) == [
        *(None, None, '1.0', '1.0', '1.1', '1.2', '1.2')
    ]
    assert shown(early=True) == [
        *(None, '1.0', '1.0', '1.1', '1.1', '1.2', '1.2')
    ]
    assert Thing.introduced() == Version(1, 3)


@pytest.mark.parametrize(
    ('early', 'says'),
    [
        ({'1.9': '1.1'}, 'must be earlier than in VERSION_MAP'),
        ({'1.0': '1.3'}, 'must be earlier than in VERSION_MAP'),
        ({'1.0': '1.2'}, "would take 'color' from earlier clients"),
        ({'1.0': '1.1', '1.1': '1.1'}, 'in both columns'),
        ({'1': '1.1'}, 'EARLY_VERSION_MAP'),
    ],
)
def test_early_map_when_invalid_raises(
    registry: None, early: dict[str, str], says: str
) -> None:
    with pytest.raises(exceptions.DeclarationError, match=says):

        @objects.register
        class Thing(objects.Request):
            VERSION = '1.2'
            VERSION_MAP = {'1.9': '1.1', '1.10': '1.2'}
            EARLY_VERSION_MAP = early
            fields = {
                'force': added('1.1', fields.BooleanField(default=False)),
                'colour': renamed(
                    '1.2', 'color', fields.StringField(nullable=True)
                ),
            }


def test_map_starting_at_1_0_gives_microversion_of_type(
    registry: None,
) -> None:
    @objects.register
    class Thing(objects.Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.7': '1.0', '1.9': '1.1'}
        fields = {
            'name': fields.StringField(),
            'force': added('1.1', fields.BooleanField(default=False)),
        }

    assert Thing.introduced() == Version(1, 7)
    assert Thing.version_at(Version(1, 6)) is None
    assert Thing.version_at(Version(1, 8)) == '1.0'
    assert Thing.first_microversion_of('name') == Version(1, 7)
    assert Thing.first_microversion_of('force') == Version(1, 9)
