# SPDX-License-Identifier: Apache-2.0
"""Histories of fields, their plans, and invalid declarations."""

from __future__ import annotations

import contextlib
import copy
import enum
import itertools
import json
from typing import Any

import netaddr
import pytest

from vobjects import exceptions, fields, objects
from vobjects.objects import history
from vobjects.objects.history import added, changed, removed, renamed
from vobjects.versions import Version

pytestmark = pytest.mark.usefixtures('registry')


def timeline(version: str, **declared: fields.Field) -> history.History:
    return history.History('Thing', Version.parse(version), declared)


def annotated(annotation: Any) -> fields.Field:
    """Return the field of an annotation."""

    class Sample(objects.Object):
        __annotations__ = {'it': annotation}

    return Sample.fields['it']


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
    for from_version, to_version in itertools.pairwise(steps):
        line.plan(from_version, to_version).apply(chained, refuse_loss=True)
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


def test_plan_when_value_for_older_readers_fits_no_oldest_type() -> None:
    def down(texts: list[str]) -> str:
        if len(texts) != 1:
            raise ValueError('exactly one text')
        return texts[0]

    line = timeline(
        '1.2',
        names=changed(
            '1.2',
            changed(
                '1.1',
                fields.StringField(),
                fields.ListOfStringsField(),
                up=lambda text: [text],
                down=down,
            ),
            fields.ListOfStringsField(nullable=True),
            instead=[],
        ),
    )
    for names, expected in ({'names': ['a']}, {'names': 'a'}), ({}, {}):
        line.plan(Version(1, 2), Version(1, 0)).apply(names, refuse_loss=True)
        assert names == expected


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


@pytest.mark.parametrize(
    ('value', 'other', 'expected'),
    [
        (False, False, True),
        (False, 0, False),
        (1, True, False),
        (1, 1.0, False),
        ([1], (1,), True),
        ([1], [True], False),
        ({'a': 1, 'b': [2]}, {'b': (2,), 'a': 1}, True),
        ({'a': [0]}, {'a': [False]}, False),
        ([], {}, False),
    ],
)
def test_equal_primitives_distinguishes_true_from_one(
    value: Any, other: Any, expected: bool
) -> None:
    assert history.equal_primitives(value, other) is expected
    field = fields.Field(fields.JsonValue(), default=other)
    plan = timeline('1.1', it=added('1.1', field)).plan(
        Version(1, 1), Version(1, 0)
    )
    raises = pytest.raises(exceptions.LossyDowngrade)
    with contextlib.nullcontext() if expected else raises:
        plan.apply({'it': value}, refuse_loss=True)


def test_set_refuses_values_that_python_would_merge() -> None:
    field = fields.Field(fields.Set(fields.JsonValue()))
    assert field.from_primitive(None, 'it', [1, 1, 'a']) == {1, 'a'}
    for values in ([True, 1], [0, False], [1, 1.0]):
        with pytest.raises(ValueError, match='equal in a set'):
            field.from_primitive(None, 'it', values)


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
            added('1.2', removed('1.1', fields.StringField(nullable=True))),
            'no removed field can return; use another name',
        ),
        (
            renamed('1.1', 'b', renamed('1.1', 'a', fields.StringField())),
            'each change of a field in its own version',
        ),
        (
            renamed('1.2', 'old', removed('1.1', fields.StringField())),
            'removed() must be the outermost',
        ),
        (renamed('1.1', 'other', fields.StringField()), 'two fields'),
        (
            changed('1.1', fields.IntegerField(), fields.StringField()),
            'write by=, or up= and down=',
        ),
        (
            changed('1.1', fields.ObjectField('A'), fields.ObjectField('B')),
            'write by=, or up= and down=',
        ),
        ('not a field', 'is not a field'),
    ],
)
def test_register_when_history_is_contradictory_raises(
    field: fields.Field, problem: str
) -> None:
    with pytest.raises(exceptions.DeclarationError) as caught:

        @objects.register
        class Thing(objects.Object):
            VERSION = '1.2'
            fields = {'it': field, 'other': fields.StringField()}

    message = str(caught.value)
    assert message.startswith('Thing.')
    assert problem in message


@pytest.mark.parametrize(
    ('declare', 'problem'),
    [
        (lambda: changed('1.1', str, up=int, down=None), 'both up= and down'),
        (lambda: added('1.1', on_drop='drop'), 'on_drop must be one of'),  # type: ignore[call-overload]
    ],
)
def test_change_with_invalid_arguments_raises(
    declare: Any, problem: str
) -> None:
    with pytest.raises(exceptions.DeclarationError, match=problem):
        declare()


WORDS = ['key', 'opaque']


@pytest.mark.parametrize(
    ('old', 'new', 'kept', 'lost'),
    [
        (
            fields.EnumField(valid_values=WORDS),
            fields.EnumField(valid_values=[*WORDS, 'certificate']),
            'key',
            'certificate',
        ),
        (
            fields.ListOfEnumField(valid_values=WORDS),
            fields.ListOfEnumField(valid_values=[*WORDS, 'certificate']),
            ['key'],
            ['key', 'certificate'],
        ),
        (
            fields.NameField(maximum=8),
            fields.NameField(maximum=16),
            'n' * 8,
            'n' * 9,
        ),
        (
            fields.CapacityField(minimum=5),
            fields.CapacityField(minimum=1),
            5,
            1,
        ),
        (
            fields.StringField(),
            fields.StringField(nullable=True),
            'text',
            None,
        ),
    ],
)
def test_changed_when_only_limits_differ_needs_no_converters(
    old: Any, new: Any, kept: Any, lost: Any
) -> None:
    @objects.register
    class Thing(objects.Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.2': '1.1'}
        fields = {'it': changed('1.1', old, new)}

    older = Thing(it=kept).obj_to_primitive('1.0')
    assert older['versioned_object.data'] == {'it': kept}
    assert Thing.obj_from_primitive(older).it == kept
    with pytest.raises(exceptions.LossyDowngrade):
        Thing(it=lost).obj_to_primitive('1.0')


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
    version: str, version_map: dict[str, str], problem: str
) -> None:
    with pytest.raises(exceptions.DeclarationError) as caught:

        @objects.register
        class Thing(objects.Request):
            VERSION = version
            VERSION_MAP = version_map

    assert problem in str(caught.value)


def test_version_map_is_compared_as_numbers() -> None:
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


def test_early_map_applies_where_it_is_newer() -> None:
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
    ('early', 'message'),
    [
        ({'1.9': '1.1'}, 'must be earlier than in VERSION_MAP'),
        ({'1.0': '1.3'}, 'must be earlier than in VERSION_MAP'),
        ({'1.0': '1.2'}, "would take 'color' from earlier clients"),
        ({'1.0': '1.1', '1.1': '1.1'}, 'in both columns'),
        ({'1': '1.1'}, 'EARLY_VERSION_MAP'),
    ],
)
def test_early_map_when_invalid_raises(
    early: dict[str, str], message: str
) -> None:
    with pytest.raises(exceptions.DeclarationError, match=message):

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


@pytest.mark.parametrize(
    ('ignored', 'is_valid'),
    [('force', True), ('deep', False), ('name', False), ('forse', False)],
)
def test_early_ignored_fields_must_be_accepted_early(
    ignored: str, is_valid: bool
) -> None:
    def declare() -> None:
        @objects.register
        class Thing(objects.Request):
            VERSION = '1.2'
            VERSION_MAP = {'1.9': '1.1', '1.10': '1.2'}
            EARLY_VERSION_MAP = {'1.0': '1.1'}
            EARLY_IGNORED = (ignored,)
            fields = {
                'name': fields.StringField(),
                'force': added('1.1', fields.BooleanField(default=False)),
                'deep': added('1.2', fields.BooleanField(default=False)),
            }

    if is_valid:
        declare()
        return
    with pytest.raises(exceptions.DeclarationError, match=f"'{ignored}'"):
        declare()


def test_map_starting_at_1_0_gives_microversion_of_type() -> None:
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


def secret_request(**declared: fields.Field) -> type[objects.Request]:
    @objects.register
    class Secret(objects.Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.3': '1.1'}
        fields = declared

    return Secret


def test_removed_field_of_request_stays_for_older_clients() -> None:
    cls = secret_request(mode=removed('1.1', fields.StringField(default='a')))

    assert set(cls.fields_at('1.0')) == {'mode'}
    assert set(cls.fields_at('1.1')) == set()
    for version in ('1.0', '1.1'):
        sent = cls(mode='b').obj_to_primitive(version)
        assert cls.obj_from_primitive(sent).mode == 'b'


def test_removed_field_of_resource_is_shown_to_older_readers_only() -> None:
    @objects.register
    class Secret(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.3': '1.1'}
        fields = {'mode': removed('1.1', fields.StringField(default='a'))}

    secret = Secret(mode='b')
    for version, shown in {'1.0': {'mode': 'b'}, '1.1': {}}.items():
        manifest = {'Secret': version}
        assert objects.to_json(secret, manifest) == shown
        assert objects.to_json_list([secret], manifest) == [shown]


def test_removed_field_of_resource_when_required_is_in_every_message() -> None:
    @objects.register
    class Secret(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.3': '1.1'}
        fields = {'mode': removed('1.1', fields.StringField())}

    for version, shown in {'1.0': {'mode': 'b'}, '1.1': {}}.items():
        sent = Secret(mode='b').obj_to_primitive(version)
        assert Secret.obj_from_primitive(sent).mode == 'b'
        manifest = {'Secret': version}
        assert objects.to_json(Secret(mode='b'), manifest) == shown


def test_removed_field_of_request_when_required_needs_a_default_first() -> (
    None
):
    required, optional = fields.StringField(), fields.StringField(default='a')
    with pytest.raises(exceptions.DeclarationError) as caught:
        secret_request(mode=removed('1.1', required))
    assert "removed('1.1', field, dropped='1.1', instead=...)" in str(
        caught.value
    )

    @objects.register
    class Secret(objects.Request):
        VERSION = '1.2'
        VERSION_MAP = {'1.3': '1.2'}
        fields = {
            'mode': removed(
                '1.2', changed('1.1', required, optional, up=str, down=str)
            )
        }

    shown = [sorted(Secret.fields_at(at)) for at in ('1.1', '1.2')]
    assert shown == [['mode'], []]
    request = Secret()
    request.obj_set_defaults()
    sent = request.obj_to_primitive('1.0')
    assert sent['versioned_object.data'] == {'mode': 'a'}


@pytest.mark.parametrize(
    ('parent', 'options', 'problem'),
    [
        (objects.Request, {'dropped': '1.2', 'instead': 'a'}, "='1.1'"),
        (objects.Request, {'instead': 'a'}, 'needs dropped='),
        (objects.Resource, {'instead': 'a'}, 'needs dropped='),
        (objects.Resource, {'dropped': '1.2', 'instead': None}, 'rejects'),
        (objects.Resource, {'dropped': '1.2', 'instead': []}, 'rejects'),
        (objects.Resource, {'dropped': '1.2'}, 'needs nullable=True'),
    ],
)
def test_removed_field_with_invalid_substitute_is_rejected(
    parent: Any, options: dict[str, Any], problem: str
) -> None:
    body = {
        'VERSION': '1.2',
        'VERSION_MAP': {'1.1': '1.1', '1.2': '1.2'},
        'NO_FIELD_CHANGES': {} if 'dropped' in options else {'1.2': 'Why.'},
        'fields': {'mode': removed('1.1', fields.StringField(), **options)},
    }
    with pytest.raises(exceptions.DeclarationError, match=problem):
        objects.register(type('Secret', (parent,), body))


def test_dropped_field_when_older_client_sets_it_raises() -> None:
    cls = secret_request(
        mode=removed('1.1', fields.StringField(default='a'), dropped='1.1'),
        hint=removed(
            '1.1',
            fields.StringField(default='a'),
            dropped='1.1',
            on_drop='ignore',
        ),
    )

    def read(**data: str) -> objects.Request:
        primitive = cls().obj_to_primitive('1.0')
        primitive['versioned_object.data'] = data
        return cls.obj_from_primitive(primitive)

    assert read(mode='a', hint='b').as_dict() == {}
    with pytest.raises(exceptions.LossyDowngrade, match=r"mode='b' of Secret"):
        read(mode='b')


def test_changed_value_that_cannot_be_shown_has_documented_form() -> None:
    old = fields.EnumField(['a', 'b'])
    new = fields.EnumField(['a', 'b', 'c'])

    @objects.register
    class Secret(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.3': '1.1'}
        fields = {
            'left_out': changed('1.1', old, new, up=str, down=str),
            'instead': changed('1.1', old, new, up=str, down=str, instead='b'),
        }

    secrets = [Secret(left_out=v, instead=v) for v in ('a', 'c')]
    assert objects.to_json_list(secrets, {'Secret': '1.0'}) == [
        {'left_out': 'a', 'instead': 'a'},
        {'instead': 'b'},
    ]


class Old(enum.Enum):
    A = 'a'


AT = '2026-07-01T10:00:00+02:00'


@pytest.mark.parametrize(
    ('old', 'value', 'primitive'),
    [
        (fields.EnumField(['a']), 'a', 'a'),
        (annotated(Old), Old.A, 'a'),
        (annotated(list[Old]), [Old.A, 'a'], ['a', 'a']),
        (annotated(set[Old]), {Old.A}, ['a']),
        (fields.DateTimeField(), AT, '2026-07-01T08:00:00Z'),
        (fields.IntegerField(), '5', 5),
        (fields.SetOfIntegersField(), {9, 10}, [9, 10]),
        (fields.IPAddressField(), netaddr.IPAddress('::1'), '::1'),
        (fields.FloatField(), 1, 1.0),
    ],
)
def test_value_for_older_readers_is_the_primitive_of_its_field(
    registry: None, old: Any, value: Any, primitive: Any
) -> None:
    def refuse(_: Any) -> Any:
        raise ValueError

    new = fields.JsonField()
    converters = {'up': refuse, 'down': refuse}

    @objects.register
    class Secret(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.3': '1.1'}
        fields = {
            'it': changed('1.1', old, new, **converters, instead=value),
            'gone': removed('1.1', old, dropped='1.1', instead=value),
        }

    @objects.register
    class SecretRequest(objects.Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.3': '1.1'}
        nullable = copy.copy(old)
        nullable._nullable = True
        fields = {'it': changed('1.1', nullable, old, missing=value)}

    shown = objects.to_json(Secret(it={}), {'Secret': '1.0'})
    assert json.dumps(shown, sort_keys=True) == json.dumps(
        {'gone': primitive, 'it': primitive}
    )
    sent = SecretRequest.obj_from_primitive(
        {
            'versioned_object.name': 'SecretRequest',
            'versioned_object.namespace': 'versionedobjects',
            'versioned_object.version': '1.0',
            'versioned_object.data': {},
        }
    ).obj_to_primitive()
    assert json.loads(json.dumps(sent['versioned_object.data'])) == {
        'it': primitive
    }


@pytest.mark.parametrize(
    ('field', 'problem'),
    [
        (
            changed(
                '1.1',
                fields.StringField(nullable=True),
                fields.StringField(),
                up=str,
                down=str,
            ),
            'makes the field required',
        ),
        (
            changed(
                '1.1',
                fields.StringField(default='a'),
                fields.IntegerField(default=1),
                up=int,
                down=str,
            ),
            'must convert the old default',
        ),
        (
            changed(
                '1.1',
                fields.IntegerField(),
                fields.StringField(),
                up=str,
                down=int,
                instead='x',
            ),
            'the field rejects instead=',
        ),
        (
            changed(
                '1.1',
                fields.JsonField(),
                fields.StringField(),
                up=str,
                down=str,
                instead={'a': object()},
            ),
            'the field rejects instead=.*not JSON serializable',
        ),
        (
            removed('1.1', fields.StringField(default=''), dropped='1.2'),
            'must be between',
        ),
    ],
)
def test_register_when_older_clients_would_break_raises(
    field: fields.Field, problem: str
) -> None:
    with pytest.raises(exceptions.DeclarationError, match=problem):
        secret_request(it=field)


def test_register_when_a_later_type_cannot_hold_a_default_raises() -> None:
    """A client of 1.0 that omits the field means 'a', which is no number."""
    text = changed(
        '1.1',
        fields.EnumField(['a', 'b'], default='a'),
        fields.StringField(nullable=True),
        up=str,
        down=str,
    )
    number = fields.IntegerField(nullable=True)

    class Thing(objects.Request):
        VERSION = '1.2'
        VERSION_MAP = {'1.1': '1.1', '1.2': '1.2'}
        fields = {'it': changed('1.2', text, number, up=int, down=str)}

    with pytest.raises(
        exceptions.DeclarationError,
        match=r"changed\('1.2'\) must convert the old default 'a'",
    ):
        objects.register(Thing)


def test_lost_value_is_unset_and_not_an_older_default() -> None:
    line = timeline(
        '1.2',
        mode=changed(
            '1.2',
            changed(
                '1.1',
                fields.EnumField(['a', 'b'], default='a'),
                fields.EnumField(['a'], nullable=True),
                up=str,
                down=str,
                on_drop='ignore',
                instead='a',
            ),
            fields.EnumField(['a', 'c'], default='c'),
            up=str,
            down=str,
        ),
    )
    first, second, third = map(Version.parse, ('1.0', '1.1', '1.2'))
    results = []
    for path in [(first, second), (first, second, third), (first, third)]:
        data = {'mode': 'b'}
        for source, target in itertools.pairwise(path):
            line.plan(source, target).apply(data, refuse_loss=True)
        results.append(data)
    assert results == [{}, {'mode': 'c'}, {'mode': 'c'}]


def test_default_when_the_oldest_type_cannot_hold_it_is_unset() -> None:
    """A client of 1.0 that omits the field gets the default 7 at 1.2."""
    text = changed(
        '1.1',
        fields.EnumField(['a', 'b'], nullable=True),
        fields.StringField(nullable=True),
        up=str,
        down=str,
    )
    number = fields.IntegerField(default=7)
    line = timeline('1.2', it=changed('1.2', text, number, up=int, down=str))
    first, last = Version.parse('1.0'), Version.parse('1.2')

    data: dict[str, object] = {}
    line.plan(first, last).apply(data, refuse_loss=True)
    assert data == {'it': 7}
    line.plan(last, first).apply(data, refuse_loss=True)
    assert data == {}
    with pytest.raises(exceptions.LossyDowngrade):
        line.plan(last, first).apply({'it': 8}, refuse_loss=True)


def test_value_of_a_required_field_raises_instead_of_being_ignored() -> None:
    line = timeline(
        '1.1',
        it=changed(
            '1.1',
            fields.EnumField(['a', 'b']),
            fields.EnumField(['a']),
            up=str,
            down=str,
            on_drop='ignore',
            instead='a',
        ),
    )
    plan = line.plan(Version.parse('1.0'), Version.parse('1.1'))
    with pytest.raises(exceptions.LossyDowngrade):
        plan.apply({'it': 'b'}, refuse_loss=True)
