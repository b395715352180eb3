# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base

from tests.unit.vobjects.lock.factories import (
    TODAY,
    accept,
    check_code,
    ironic_class,
    ovo_class,
    released_lock,
    vobjects_type,
)
from vobjects import fields, objects
from vobjects.lock import check, edit, parse, rules, snapshot, text
from vobjects.lock.model import Acceptance, Lock
from vobjects.objects.history import added, changed, removed, renamed

pytestmark = pytest.mark.usefixtures('registry')

ENUM = ('BLUE', 'RED')


@dataclasses.dataclass(frozen=True)
class Edit:
    """A change of a type, and the expected finding.

    :ivar breaks: the directions that break
    :ivar fix: part of the suggested fix
    """

    before: Callable[[], Any]
    after: Callable[[], Any] | None
    breaks: str
    fix: str
    subject: str = 'Thing.x'


FORWARD, BACKWARD, BOTH = (
    'forward rollback',
    'backward stored',
    'backward forward rollback stored',
)


def with_remote(self: Any, context: Any, depth: int) -> None:
    """A remotable method with a new argument."""


def without_remote(self: Any, context: Any) -> None:
    """The same method before."""


def by_hand(self: Any, primitive: dict[str, Any], target: str) -> None:
    """A manual conversion."""
    if target == '1.0':
        primitive.pop('x', None)


#: Attributes of a class with a version that changes no field.
UNCHANGED = {'NO_FIELD_CHANGES': {'1.1': 'Reads more.'}}


def new_type(**arguments: Any) -> Callable[[], Any]:
    return lambda: vobjects_type(**arguments)


def new_ovo_type(**arguments: Any) -> Callable[[], Any]:
    return lambda: ovo_class(**arguments)


def family(
    parent: str = '1.0', child: str = '1.0', known: str = '1.0'
) -> list[Any]:
    """Return a parent that lists the versions of its child, and the child."""

    @ovo_base.VersionedObjectRegistry.register
    class Child(ovo_base.VersionedObject):
        VERSION = child
        fields = {'a': fields.StringField()}

    return [
        ovo_class(
            version=parent,
            x=fields.ObjectField('Child'),
            body={'obj_relationships': {'x': [(parent, known)]}},
        ),
        Child,
    ]


EDITS: dict[str, Edit] = {
    'FIELD_NO_ADD': Edit(
        new_type(parent=objects.Request, y=fields.StringField()),
        new_type(
            parent=objects.Request,
            y=fields.StringField(),
            x=fields.BooleanField(default=False),
        ),
        BOTH,
        "'x': added('1.1', fields.BooleanField(default=False)),",
    ),
    'FIELD_NO_REMOVE': Edit(
        new_type(x=fields.StringField(nullable=True)),
        new_type(),
        BOTH,
        "'x': removed('1.1', fields.StringField(nullable=True)),",
    ),
    'FIELD_SAME_TYPE': Edit(
        new_type(x=fields.StringField()),
        new_type(x=fields.ListOfStringsField()),
        BOTH,
        "'x': changed('1.1', fields.StringField(),"
        ' fields.ListOfStringsField(), up=x_to_1_1, down=x_from_1_1),',
    ),
    'FIELD_STAYS_NOT_NULL': Edit(
        new_type(x=fields.StringField()),
        new_type(x=fields.StringField(nullable=True)),
        FORWARD,
        "changed('1.1', fields.StringField(),",
    ),
    'FIELD_STAYS_NULLABLE': Edit(
        new_type(x=fields.StringField(nullable=True)),
        new_type(x=fields.StringField()),
        BACKWARD,
        "'x': fields.StringField(nullable=True),  # keep it nullable",
    ),
    'FIELD_SAME_DEFAULT': Edit(
        new_type(x=fields.IntegerField(default=1)),
        new_type(x=fields.IntegerField(default=2)),
        BOTH,
        "changed('1.1', fields.IntegerField(default=1),",
    ),
    'ENUM_NO_NARROW': Edit(
        new_type(x=fields.EnumField(valid_values=ENUM)),
        new_type(x=fields.EnumField(valid_values=ENUM[:1])),
        BACKWARD,
        "fields.EnumField(valid_values=['BLUE', 'RED'])",
    ),
    'ENUM_NO_WIDEN': Edit(
        new_type(x=fields.ListOfEnumField(valid_values=['RED', 'BLUE'])),
        new_type(x=fields.ListOfEnumField(valid_values=['RED', 'BLUE', 'A'])),
        FORWARD,
        "changed('1.1', fields.ListOfEnumField(valid_values=['RED', 'BLUE'])",
    ),
    'FIELD_SAME_LIMITS': Edit(
        new_type(x=fields.NameField(maximum=255)),
        new_type(x=fields.NameField(maximum=64)),
        BOTH,
        'fields.NameField(maximum=64, minimum=1)',
    ),
    'CONVERSION_NO_REMOVE': Edit(
        new_type(version='1.1', body={'obj_make_compatible': by_hand}),
        new_type(version='1.1', body=UNCHANGED),
        FORWARD,
        'restore obj_make_compatible',
        'Thing',
    ),
    'MICROVERSION_NO_MOVE': Edit(
        new_type(
            version='1.1',
            parent=objects.Request,
            version_map={'1.8': '1.1'},
            body=UNCHANGED,
        ),
        new_type(
            version='1.1',
            parent=objects.Request,
            version_map={'1.9': '1.1'},
            body=UNCHANGED,
        ),
        'backward forward',
        "VERSION_MAP = {'1.8': '1.1'}",
        'Thing',
    ),
    'KIND_NO_CHANGE': Edit(
        new_type(parent=objects.Request),
        new_type(parent=objects.Resource),
        'backward forward',
        'restore the kind of Thing 1.0',
        'Thing',
    ),
    'NAMESPACE_NO_CHANGE': Edit(
        new_type(),
        new_type(body={'OBJ_PROJECT_NAMESPACE': 'elsewhere'}),
        BOTH,
        "OBJ_PROJECT_NAMESPACE = 'versionedobjects'",
        'Thing',
    ),
    'METHODS_SAME': Edit(
        new_ovo_type(body={'go': ovo_base.remotable(without_remote)}),
        new_ovo_type(body={'go': ovo_base.remotable(with_remote)}),
        'backward forward',
        "VERSION = '1.1'",
        'Thing',
    ),
    'ADDED_CONVERTED': Edit(
        new_ovo_type(),
        new_ovo_type(version='1.1', x=fields.StringField()),
        BOTH,
        "primitive.pop('x', None)",
    ),
    'REMOVED_CONVERTED': Edit(
        new_ovo_type(x=fields.StringField()),
        new_ovo_type(version='1.1'),
        BOTH,
        'only a major version can remove a field',
    ),
    'RETYPED_CONVERTED': Edit(
        new_ovo_type(x=fields.StringField()),
        new_ovo_type(version='1.1', x=fields.IntegerField()),
        BOTH,
        '"RETYPED_CONVERTED Thing.x until DATE: WHY"',
    ),
    'NULLABLE_CONVERTED': Edit(
        new_ovo_type(x=fields.StringField()),
        new_ovo_type(version='1.1', x=fields.StringField(nullable=True)),
        FORWARD,
        '< (1, 1):',
    ),
    'NOT_NULLABLE_CONVERTED': Edit(
        new_ovo_type(x=fields.StringField(nullable=True)),
        new_ovo_type(version='1.1', x=fields.StringField()),
        BACKWARD,
        '"NOT_NULLABLE_CONVERTED Thing.x until DATE: WHY"',
    ),
    'DEFAULT_CONVERTED': Edit(
        new_ovo_type(x=fields.StringField(default='a')),
        new_ovo_type(version='1.1', x=fields.StringField(default='b')),
        BOTH,
        '"DEFAULT_CONVERTED Thing.x until DATE: WHY"',
    ),
    'NARROWED_CONVERTED': Edit(
        new_ovo_type(x=fields.EnumField(valid_values=ENUM)),
        new_ovo_type(version='1.1', x=fields.EnumField(valid_values=ENUM[:1])),
        BACKWARD,
        '"NARROWED_CONVERTED Thing.x until DATE: WHY"',
    ),
    'WIDENED_CONVERTED': Edit(
        new_ovo_type(x=fields.EnumField(valid_values=ENUM[:1])),
        new_ovo_type(version='1.1', x=fields.EnumField(valid_values=ENUM)),
        FORWARD,
        '< (1, 1):',
    ),
    'LIMITS_CONVERTED': Edit(
        new_ovo_type(x=fields.NameField(maximum=64)),
        new_ovo_type(version='1.1', x=fields.NameField(maximum=255)),
        BOTH,
        '"LIMITS_CONVERTED Thing.x until DATE: WHY"',
    ),
    'TYPE_NO_REMOVE': Edit(
        new_type(), None, BACKWARD, 'keep the class of Thing 1.0', 'Thing'
    ),
    'VERSION_NO_FALL': Edit(
        new_type(version='1.1', body=UNCHANGED),
        new_type(),
        BACKWARD,
        "VERSION = '1.1'",
        'Thing',
    ),
    'CHILD_MAPPED': Edit(
        lambda: family(),
        lambda: family(child='1.1'),
        FORWARD,
        "VERSION = '1.1'\n"
        "obj_relationships = {'x': [('1.0', '1.0'), ('1.1', '1.1')]}",
    ),
    'MAJOR_STAYS': Edit(
        new_ovo_type(version='1.7'),
        new_ovo_type(version='2.0'),
        BOTH,
        'keep a class Thing',
        'Thing',
    ),
}


def classes(factory: Callable[[], Any] | None) -> list[Any]:
    """Register only the class of a factory, and return it in a list."""
    ovo_base.VersionedObjectRegistry()._obj_classes.clear()
    registered = factory() if factory else []
    return registered if isinstance(registered, list) else [registered]


def checked(before: Callable[[], Any], after: Callable[[], Any]) -> Any:
    """Return the result of the check of an edit of released classes."""
    return check_code(released_lock(*classes(before)), *classes(after))


def test_every_rule_has_an_example() -> None:
    about_code = {rule.id for rule in rules.RULES if rule.scope != 'lock'}
    assert set(EDITS) == about_code
    names = {rule.id for rule in rules.RULES}
    assert len(rules.BY_CHANGE) == len(names) == len(rules.RULES)


@pytest.mark.parametrize('rule_id', EDITS)
def test_check_when_edited_reports_breaks_and_fix(rule_id: str) -> None:
    example = EDITS[rule_id]
    lock = released_lock(*classes(example.before))
    result = check_code(lock, *classes(example.after))

    (finding,) = [f for f in result.failing if f.rule.scope != 'lock']
    assert finding.rule.id == rule_id
    assert finding.subject == example.subject
    assert finding.release == '1'
    assert sorted(finding.breaks) == example.breaks.split()
    assert example.fix in '\n'.join(finding.fix)
    # Unchanged code has no findings.
    assert check_code(lock, *classes(example.before)).failing == ()


@pytest.mark.parametrize('rule_id', EDITS)
def test_check_when_edit_is_accepted_passes_until_the_date(
    rule_id: str,
) -> None:
    example = EDITS[rule_id]
    lock = released_lock(*classes(example.before))
    lock_with_acceptance = dataclasses.replace(
        lock,
        accepted=(Acceptance(rule_id, example.subject, TODAY, 'because'),),
    )
    code = snapshot.of_classes(classes(example.after), known=lock)

    result = check.check(lock_with_acceptance, code, TODAY)
    assert [finding.rule.scope for finding in result.failing] in ([], ['lock'])
    assert any('because' in finding.accepted for finding in result.findings)

    expired = check.check(
        lock_with_acceptance, code, TODAY + datetime.timedelta(days=1)
    )
    assert {finding.rule.id for finding in expired.failing} >= {
        rule_id,
        'ACCEPTANCE_CURRENT',
    }


def test_check_when_acceptance_is_unused_reports_it() -> None:
    lock = dataclasses.replace(
        released_lock(*classes(new_type())),
        accepted=(Acceptance('FIELD_NO_ADD', 'Thing.x', TODAY, 'because'),),
    )
    (finding,) = check_code(lock, *classes(new_type())).failing
    assert finding.rule.id == 'ACCEPTANCE_USED'


@pytest.mark.parametrize(
    ('before', 'after', 'covered'),
    [
        (
            new_type(),
            new_type(
                version='1.1', x=added('1.1', fields.StringField(default=''))
            ),
            'added x',
        ),
        (
            new_type(x=fields.StringField(nullable=True)),
            new_type(
                version='1.1',
                x=removed('1.1', fields.StringField(nullable=True)),
            ),
            'removed x',
        ),
        (
            new_type(x=fields.StringField()),
            new_type(
                version='1.1', y=renamed('1.1', 'x', fields.StringField())
            ),
            'renamed x to y',
        ),
        (
            new_type(x=fields.EnumField(valid_values=ENUM[:1])),
            new_type(
                version='1.1',
                x=changed(
                    '1.1',
                    fields.EnumField(valid_values=ENUM[:1]),
                    fields.EnumField(valid_values=ENUM),
                ),
            ),
            'changed x by same values; down refuses "RED"',
        ),
        (
            new_ovo_type(),
            new_ovo_type(
                version='1.1',
                x=fields.StringField(nullable=True),
                body={'obj_make_compatible': by_hand},
            ),
            'by-hand',
        ),
    ],
)
def test_check_when_change_is_declared_names_the_conversion(
    before: Callable[[], Any], after: Callable[[], Any], covered: str
) -> None:
    result = checked(before, after)
    assert {
        finding.covered_by
        for finding in result.findings
        if not finding.failing
    } == {covered}
    # The new version is not in the lock yet.
    assert [finding.rule.id for finding in result.failing] == ['LOCK_CURRENT']


def test_conversion_by_hand_does_not_cover_old_senders() -> None:
    result = checked(
        new_ovo_type(x=fields.StringField(nullable=True)),
        new_ovo_type(
            version='1.1',
            x=fields.StringField(),
            body={'obj_make_compatible': by_hand},
        ),
    )
    assert 'NOT_NULLABLE_CONVERTED' in {
        finding.rule.id for finding in result.failing
    }


def drops_x(self: Any, target: str) -> None:
    """A conversion in the style of Ironic."""
    delattr(self, 'x')


@pytest.mark.parametrize(
    ('method', 'covered'),
    [('_convert_to_version', 'by-hand'), ('obj_make_compatible', '')],
)
def test_conversion_that_ironic_does_not_call_does_not_cover(
    method: str, covered: str
) -> None:
    result = checked(
        ironic_class,
        lambda: ironic_class(
            version='1.1',
            x=fields.StringField(nullable=True),
            body={method: drops_x},
        ),
    )
    (finding,) = (f for f in result.findings if f.rule.id == 'ADDED_CONVERTED')
    assert finding.covered_by == covered
    advice = '\n'.join(finding.fix)
    for line in ('def _convert_to_version(self', "delattr(self, 'x')"):
        assert (line in advice) == (not covered)


def test_check_when_several_versions_change_reports_one_finding() -> None:
    before, after = (
        new_type(
            version='1.2',
            x=x,
            y=added('1.2', fields.StringField(nullable=True)),
        )
        for x in (fields.IntegerField(), fields.StringField())
    )
    (finding,) = checked(before, after).failing
    assert finding.versions == ('1.0', '1.2')


def test_check_when_declaration_is_removed_reports_it() -> None:
    """Without `added`, the old version seems to have the field."""
    text_field = fields.StringField(default='')
    result = checked(
        new_type(version='1.1', x=added('1.1', text_field)),
        new_type(version='1.1', body=UNCHANGED, x=text_field),
    )
    assert {finding.rule.id for finding in result.failing} == {
        'FIELD_NO_ADD',
        'CONVERSION_NO_REMOVE',
    }


def test_check_when_version_is_not_locked_reports_it() -> None:
    newer = new_type(
        version='1.1', x=added('1.1', fields.StringField(default=''))
    )
    (finding,) = checked(new_type(), newer).failing
    assert finding.rule.id == 'LOCK_CURRENT'
    assert finding.description == 'Thing 1.1 is not in the lock'


def keeps_x(self: Any, primitive: dict[str, Any], target: str) -> None:
    """A manual conversion of another field."""


def failing(lock: Lock, factory: Callable[[], Any]) -> list[str]:
    """Return the rules that code violates, apart from an outdated lock."""
    return [
        finding.rule.id
        for finding in check_code(lock, *classes(factory)).failing
        if finding.rule.id != 'LOCK_CURRENT'
    ]


def test_check_when_conversion_by_hand_forgets_a_new_field_reports_it() -> (
    None
):
    lock = released_lock(
        *classes(new_ovo_type(body={'obj_make_compatible': keeps_x}))
    )

    def extended(convert: Any) -> Callable[[], Any]:
        return new_ovo_type(
            version='1.1',
            x=fields.StringField(nullable=True),
            body={'obj_make_compatible': convert},
        )

    assert failing(lock, extended(keeps_x)) == ['ADDED_CONVERTED']
    (finding,) = (
        finding
        for finding in check_code(lock, *classes(extended(keeps_x))).failing
        if finding.rule.id == 'ADDED_CONVERTED'
    )
    assert finding.fix == (
        'from oslo_utils import versionutils',
        '# at the end of obj_make_compatible, which the class already has:',
        '    if versionutils.convert_version_to_tuple(target) < (1, 1):',
        "        primitive.pop('x', None)",
    )
    # The advice applied.
    assert failing(lock, extended(by_hand)) == []


def test_check_when_the_conversion_by_hand_fails_on_samples_accepts_it() -> (
    None
):
    def needs_a_database(self: Any, primitive: Any, target: str) -> None:
        raise RuntimeError

    lock = released_lock(*classes(new_ovo_type()))
    assert (
        failing(
            lock,
            new_ovo_type(
                version='1.1',
                x=fields.StringField(nullable=True),
                body={'obj_make_compatible': needs_a_database},
            ),
        )
        == []
    )


def test_check_when_a_child_is_bumped_and_mapped_passes() -> None:
    lock = released_lock(*classes(family))

    assert failing(lock, lambda: family('1.0', '1.1')) == ['CHILD_MAPPED']
    assert failing(lock, lambda: family('1.1', '1.1')) == ['CHILD_MAPPED']
    # The advice applied.
    assert failing(lock, lambda: family('1.1', '1.1', '1.1')) == []


def test_check_when_a_child_is_bumped_in_a_service_with_manifests_passes() -> (
    None
):
    def with_manifest(child: str) -> list[Any]:
        parent, inner = family(child=child)
        parent.obj_relationships = {}
        return [parent, inner]

    lock = released_lock(*classes(lambda: with_manifest('1.0')))
    assert failing(lock, lambda: with_manifest('1.1')) == []


@pytest.mark.parametrize('version', ['1.0', '1.1'])
@pytest.mark.parametrize(
    ('before', 'after'),
    [
        (
            fields.EnumField(valid_values=list(ENUM)),
            fields.EnumField(valid_values=['BLUE']),
        ),
        (fields.StringField(nullable=True), fields.StringField()),
        (fields.StringField(default='a'), fields.StringField(default='b')),
    ],
    ids=['narrowed', 'not-nullable', 'default'],
)
def test_advice_about_old_values_when_applied_satisfies_the_check(
    before: Any, after: Any, version: str
) -> None:
    lock = released_lock(*classes(new_ovo_type(x=before)))
    edited = new_ovo_type(version=version, x=after)
    (finding,) = (
        finding
        for finding in check_code(lock, *classes(edited)).failing
        if finding.rule.scope != 'lock'
    )

    (line,) = (line for line in finding.fix if line.startswith("'x':"))
    suggested = eval(
        line.partition(': ')[2].partition('  #')[0].rstrip(','),
        {'fields': fields},
    )
    assert failing(lock, new_ovo_type(version=version, x=suggested)) == []

    line = finding.fix[-1].removeprefix('# "').removesuffix('",')
    accepting = parse.parse(
        accept(text.dump(lock), line.replace('DATE', str(TODAY)))
    )
    assert failing(accepting, edited) == []
    code = snapshot.of_classes(classes(edited), known=accepting)
    assert edit.update(accepting, code, TODAY).schema('Thing', version)


def test_advice_when_a_field_has_another_name_renames_it() -> None:
    lock = released_lock(vobjects_type(x=fields.StringField()))
    ovo_base.VersionedObjectRegistry()._obj_classes.clear()
    result = check_code(lock, vobjects_type(y=fields.StringField()))
    findings = [f for f in result.failing if f.rule.scope != 'lock']
    assert [f.fix for f in findings] == 2 * [
        (
            'from vobjects import fields, renamed',
            "VERSION = '1.1'",
            "'y': renamed('1.1', 'x', fields.StringField()),",
        )
    ]
