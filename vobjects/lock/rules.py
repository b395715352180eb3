# SPDX-License-Identifier: Apache-2.0
"""The rules for changes, as a table with one row per rule.

A rule has an ID that never changes, the change that it applies to, a sentence
for the documentation, and a function that returns the directions that break.

There are four *directions* in which a change may break code:

``forward``
    a new sender and an old receiver
``backward``
    an old sender and a new receiver
``stored``
    new code that reads data stored by old code
``rollback``
    old code that reads data stored by new code
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Literal

from vobjects.lock.changes import SchemaChange, Scope
from vobjects.lock.model import BY_HAND, FieldSchema
from vobjects.lock.text import type_text

Direction = Literal['forward', 'backward', 'stored', 'rollback']

#: Direction -> its name in reports.
DIRECTIONS: Mapping[Direction, str] = {
    'forward': 'new sender, old receiver',
    'backward': 'old sender, new receiver',
    'stored': 'stored data',
    'rollback': 'rollback',
}

#: Direction -> the failure of the reader; directions without an entry work.
Breaks = Mapping[Direction, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """A row of the table.

    :ivar change_kind: ``SchemaChange.kind`` of the changes that the rule
        applies to
    :ivar template: describes the change
    :ivar purpose: one sentence for the documentation
    :ivar find_breaks: returns the directions that break
    """

    id: str
    scope: Scope | Literal['lock']
    change_kind: str
    template: str
    purpose: str
    find_breaks: Callable[[SchemaChange], Breaks] = lambda change: {}


def _old_reads_new(breakage: str) -> Breaks:
    return {'forward': breakage, 'rollback': breakage} if breakage else {}


def _new_reads_old(breakage: str) -> Breaks:
    return {'backward': breakage, 'stored': breakage} if breakage else {}


def _unknown(change: SchemaChange, name: str) -> str:
    """Describe how a reader handles a field that its version lacks."""
    if change.old.kind in ('request', 'object'):
        return f'rejects {name!r}, which its version does not have'
    return f'drops {name!r} without an error'


def _unset(field: FieldSchema) -> str:
    return f'finds {field.name!r} unset, and fails when it reads it'


def _added(change: SchemaChange) -> Breaks:
    return {
        **_old_reads_new(_unknown(change, change.field)),
        **_new_reads_old(_unset(change.after)),
    }


def _added_later(change: SchemaChange) -> Breaks:
    """Return the breaks of a field that a newer version adds.

    oslo.versionedobjects sets no default when it reads an older primitive.
    Services therefore check whether such a field is set, or load it lazily.
    A field that is neither nullable nor has a default cannot be left out.
    """
    leaked = (
        f'gets {change.field!r}, which {change.old.version} does not have,'
        ' and drops it without an error'
    )
    if change.after.optional:
        return _old_reads_new(leaked)
    return {**_old_reads_new(leaked), **_new_reads_old(_unset(change.after))}


def _removed(change: SchemaChange) -> Breaks:
    return {
        **_old_reads_new(_unset(change.before)),
        **_new_reads_old(_unknown(change, change.field)),
    }


def _retyped(change: SchemaChange) -> Breaks:
    old, new = type_text(change.before.type), type_text(change.after.type)
    return {
        **_old_reads_new(f'expects {old} and gets {new}'),
        **_new_reads_old(f'expects {new} and gets {old}'),
    }


def _narrowed(change: SchemaChange) -> Breaks:
    return _new_reads_old(f'rejects {change.detail}')


def _widened(change: SchemaChange) -> Breaks:
    return _old_reads_new(f'rejects {change.detail}')


def _limits(change: SchemaChange) -> Breaks:
    old, new = type_text(change.before.type), type_text(change.after.type)
    return {
        **_old_reads_new(f'rejects values outside the limits of {old}'),
        **_new_reads_old(f'rejects values outside the limits of {new}'),
    }


def _nullable(change: SchemaChange) -> Breaks:
    return _old_reads_new('rejects null')


def _not_nullable(change: SchemaChange) -> Breaks:
    return _new_reads_old('rejects null')


def _default(change: SchemaChange) -> Breaks:
    old = change.before.default or 'unset'
    new = change.after.default or 'unset'
    breakage = 'reads an omitted value as {}, but the sender means {}'
    return {
        **_old_reads_new(breakage.format(old, new)),
        **_new_reads_old(breakage.format(new, old)),
    }


def _microversion(change: SchemaChange) -> Breaks:
    breakage = 'finds different content at the same microversion'
    return {'forward': breakage, 'backward': breakage}


def _conversion(change: SchemaChange) -> Breaks:
    older = 'gets the newer form, labelled with the older version'
    if change.detail == str(BY_HAND):
        return _old_reads_new(older)
    return {
        **_old_reads_new(older),
        **_new_reads_old('reads the older form as the newer one'),
    }


def _kind(change: SchemaChange) -> Breaks:
    breakage = 'rejects other lossy conversions than before'
    return {'forward': breakage, 'backward': breakage}


def _methods(change: SchemaChange) -> Breaks:
    breakage = 'has remotable methods with different arguments'
    return {'forward': breakage, 'backward': breakage}


def _namespace(change: SchemaChange) -> Breaks:
    breakage = 'does not know the namespace'
    return {**_old_reads_new(breakage), **_new_reads_old(breakage)}


def _type_removed(change: SchemaChange) -> Breaks:
    return _new_reads_old(f'does not know {change.old.name}')


def _version_lowered(change: SchemaChange) -> Breaks:
    return _new_reads_old(f'does not understand {change.old}')


def _major_removed(change: SchemaChange) -> Breaks:
    return {
        **_old_reads_new(f'does not understand {change.new}'),
        **_new_reads_old(f'does not understand {change.old}'),
    }


def _child(change: SchemaChange) -> Breaks:
    return _old_reads_new('gets a nested object that it does not understand')


RULES: tuple[Rule, ...] = (
    # Changes of a released version
    Rule(
        'FIELD_NO_ADD',
        'edit',
        'added',
        'a field was added to a version that is released',
        'A released version gets no new field; add fields in a new version.',
        _added,
    ),
    Rule(
        'FIELD_NO_REMOVE',
        'edit',
        'removed',
        'a field was removed from a version that is released',
        'A released version loses no field; remove fields in a new version.',
        _removed,
    ),
    Rule(
        'FIELD_SAME_TYPE',
        'edit',
        'retyped',
        'the type was {old}, and is {new}',
        'A field keeps its type in a released version.',
        _retyped,
    ),
    Rule(
        'FIELD_STAYS_NOT_NULL',
        'edit',
        'nullable',
        'the field may now be null',
        'A field that is not nullable stays so in a released version.',
        _nullable,
    ),
    Rule(
        'FIELD_STAYS_NULLABLE',
        'edit',
        'not-nullable',
        'the field may no longer be null',
        'A nullable field stays nullable in a released version.',
        _not_nullable,
    ),
    Rule(
        'FIELD_SAME_DEFAULT',
        'edit',
        'default',
        'the default was {old_default}, and is {new_default}',
        'A field keeps its default in a released version.',
        _default,
    ),
    Rule(
        'ENUM_NO_NARROW',
        'edit',
        'narrowed',
        '{detail} is no longer a valid value',
        'An enum keeps its values in a released version.',
        _narrowed,
    ),
    Rule(
        'ENUM_NO_WIDEN',
        'edit',
        'widened',
        '{detail} is a new valid value',
        'An enum gets no new value in a released version.',
        _widened,
    ),
    Rule(
        'FIELD_SAME_LIMITS',
        'edit',
        'limits',
        'the limits were {old}, and are {new}',
        'The parameters of a field type stay in a released version.',
        _limits,
    ),
    Rule(
        'CONVERSION_NO_REMOVE',
        'edit',
        'conversion',
        'the conversion "{detail}" is missing',
        'A conversion stays as long as a peer may need it.',
        _conversion,
    ),
    Rule(
        'MICROVERSION_NO_MOVE',
        'edit',
        'microversion',
        'the version appeared at microversion {old_microversion}, and now'
        ' appears at {new_microversion}',
        'VERSION_MAP keeps the microversion of a released version.',
        _microversion,
    ),
    Rule(
        'KIND_NO_CHANGE',
        'edit',
        'kind',
        'the kind changed from {detail}',
        'A request stays a request, and a resource a resource.',
        _kind,
    ),
    Rule(
        'NAMESPACE_NO_CHANGE',
        'edit',
        'namespace',
        'the namespace of its primitives changed',
        'Primitives keep their namespace.',
        _namespace,
    ),
    Rule(
        'METHODS_SAME',
        'edit',
        'methods',
        'the fingerprint changed although no field did: a remotable method,'
        ' its annotations or child_versions',
        'Remotable methods keep their signature in a released version.',
        _methods,
    ),
    # Differences of a newer version
    Rule(
        'ADDED_CONVERTED',
        'step',
        'added',
        'the field is new',
        'A new field is optional, and is not sent to peers of older versions.',
        _added_later,
    ),
    Rule(
        'REMOVED_CONVERTED',
        'step',
        'removed',
        'the field was removed',
        'A removed field is sent to older peers, and accepted from them.',
        _removed,
    ),
    Rule(
        'RETYPED_CONVERTED',
        'step',
        'retyped',
        'the type was {old}, and is {new}',
        'A field with a new type is converted in both directions.',
        _retyped,
    ),
    Rule(
        'NULLABLE_CONVERTED',
        'step',
        'nullable',
        'the field may now be null',
        'Null is not sent to a peer that rejects it.',
        _nullable,
    ),
    Rule(
        'NOT_NULLABLE_CONVERTED',
        'step',
        'not-nullable',
        'the field may no longer be null',
        'Null from an older peer is converted.',
        _not_nullable,
    ),
    Rule(
        'DEFAULT_CONVERTED',
        'step',
        'default',
        'the default was {old_default}, and is {new_default}',
        'A value omitted by an older peer keeps the default of its version.',
        _default,
    ),
    Rule(
        'NARROWED_CONVERTED',
        'step',
        'narrowed',
        '{detail} is no longer a valid value',
        'A removed enum value is converted when an older peer sends it.',
        _narrowed,
    ),
    Rule(
        'WIDENED_CONVERTED',
        'step',
        'widened',
        '{detail} is a new valid value',
        'A new enum value is not sent to a peer that rejects it.',
        _widened,
    ),
    Rule(
        'LIMITS_CONVERTED',
        'step',
        'limits',
        'the limits were {old}, and are {new}',
        'A value outside the limits of the peer is converted.',
        _limits,
    ),
    # Changes of the type
    Rule(
        'TYPE_NO_REMOVE',
        'type',
        'removed',
        'the type was removed',
        'A released type stays as long as a peer may send it.',
        _type_removed,
    ),
    Rule(
        'VERSION_NO_FALL',
        'type',
        'version-lowered',
        'the newest version is now {new_version}, which is older',
        'The newest version of a type is never older than a released one.',
        _version_lowered,
    ),
    Rule(
        'MAJOR_STAYS',
        'type',
        'major-removed',
        'no class of this major version remains; the newest is {new_version}',
        'A new major version does not replace the old one; keep both.',
        _major_removed,
    ),
    Rule(
        'CHILD_MAPPED',
        'type',
        'child',
        '{detail}',
        'A type that lists the versions of a nested type lists its newest.',
        _child,
    ),
    # The lock itself
    Rule(
        'LOCK_CURRENT',
        'lock',
        'outdated',
        '{detail}',
        'The lock matches the code.',
    ),
    Rule(
        'ACCEPTANCE_CURRENT',
        'lock',
        'expired',
        '{detail}',
        'An acceptance expires after its last day.',
    ),
    Rule(
        'ACCEPTANCE_USED',
        'lock',
        'unused',
        '{detail}',
        'An acceptance that matches no finding is removed.',
    ),
    # The history of the service
    Rule(
        'MICROVERSION_LISTED',
        'lock',
        'unlisted',
        '{detail}',
        'VERSION_MAP names only microversions of the history of the service.',
    ),
)

BY_CHANGE: Mapping[tuple[str, str], Rule] = {
    (rule.scope, rule.change_kind): rule for rule in RULES
}
BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in RULES}


def describe(rule: Rule, change: SchemaChange) -> str:
    """Return a description of the change."""
    field = bool(change.field)
    return rule.template.format(
        detail=change.detail,
        old=type_text(change.before.type) if field else '',
        new=type_text(change.after.type) if field else '',
        old_default=(change.before.default if field else '') or 'none',
        new_default=(change.after.default if field else '') or 'none',
        old_microversion=change.old.microversion or 'none',
        new_microversion=change.new.microversion or 'none',
        new_version=change.new.version,
    )
