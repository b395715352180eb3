# SPDX-License-Identifier: Apache-2.0
"""The rules for changes, as a table with one row per rule.

A rule has an ID that never changes, the change that it applies to, a sentence
for the documentation, and a function that returns the orders that break.

There are four *orders* in which code may break:

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

#: Order -> its name in reports.
DIRECTIONS: Mapping[Direction, str] = {
    'forward': 'new sender, old receiver',
    'backward': 'old sender, new receiver',
    'stored': 'stored data',
    'rollback': 'rollback',
}

#: Order -> the failure of the reader; orders without an entry work.
Breaks = Mapping[Direction, str]
Judge = Callable[[SchemaChange], Breaks]


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """A row of the table.

    :ivar on: ``Change.what`` of the changes that the rule applies to
    :ivar says: template that describes the change
    :ivar purpose: one sentence for the documentation
    :ivar judge: returns the orders that break
    """

    id: str
    scope: Scope | Literal['lock']
    on: str
    says: str
    purpose: str
    judge: Judge = lambda change: {}


def _old_reads_new(why: str) -> Breaks:
    return {'forward': why, 'rollback': why} if why else {}


def _new_reads_old(why: str) -> Breaks:
    return {'backward': why, 'stored': why} if why else {}


def _unknown(change: SchemaChange, name: str) -> str:
    """Describe how a reader handles a field that its version lacks."""
    if change.old.kind in ('request', 'object'):
        return f'refuses {name!r}, which its version does not have'
    return f'forgets {name!r} without notice'


def _unset(field: FieldSchema) -> str:
    return f'finds {field.name!r} not set, and fails where it reads it'


def _added(change: SchemaChange) -> Breaks:
    return {
        **_old_reads_new(_unknown(change, change.field)),
        **_new_reads_old(_unset(change.after)),
    }


def _added_later(change: SchemaChange) -> Breaks:
    """Judge a field that a newer version adds.

    oslo.versionedobjects sets no default when it reads an older primitive.
    Services therefore check whether such a field is set, or load it lazily.
    A field that is neither nullable nor has a default cannot be left out.
    """
    sent = (
        f'gets {change.field!r} although {change.old.version} has no such'
        ' field, and forgets it without notice'
    )
    if change.after.optional:
        return _old_reads_new(sent)
    return {**_old_reads_new(sent), **_new_reads_old(_unset(change.after))}


def _removed(change: SchemaChange) -> Breaks:
    return {
        **_old_reads_new(_unset(change.before)),
        **_new_reads_old(_unknown(change, change.field)),
    }


def _retyped(change: SchemaChange) -> Breaks:
    old, new = type_text(change.before.kind), type_text(change.after.kind)
    return {
        **_old_reads_new(f'expects {old} and gets {new}'),
        **_new_reads_old(f'expects {new} and gets {old}'),
    }


def _narrowed(change: SchemaChange) -> Breaks:
    return _new_reads_old(f'refuses {change.detail}')


def _widened(change: SchemaChange) -> Breaks:
    return _old_reads_new(f'refuses {change.detail}')


def _limits(change: SchemaChange) -> Breaks:
    old, new = type_text(change.before.kind), type_text(change.after.kind)
    return {
        **_old_reads_new(f'refuses what {old} does not allow'),
        **_new_reads_old(f'refuses what {new} does not allow'),
    }


def _nullable(change: SchemaChange) -> Breaks:
    return _old_reads_new('refuses null')


def _not_nullable(change: SchemaChange) -> Breaks:
    return _new_reads_old('refuses null')


def _default(change: SchemaChange) -> Breaks:
    old = change.before.default or 'nothing'
    new = change.after.default or 'nothing'
    why = 'takes what is left out for {}, where the other means {}'
    return {
        **_old_reads_new(why.format(old, new)),
        **_new_reads_old(why.format(new, old)),
    }


def _microversion(change: SchemaChange) -> Breaks:
    return {
        'forward': 'two API processes give one microversion two meanings',
        'backward': 'two API processes give one microversion two meanings',
    }


def _conversion(change: SchemaChange) -> Breaks:
    older = 'is sent the newer form under the older version'
    if change.detail == str(BY_HAND):
        return _old_reads_new(older)
    return {
        **_old_reads_new(older),
        **_new_reads_old('takes the older form for the newer'),
    }


def _kind(change: SchemaChange) -> Breaks:
    return {
        'forward': 'other losses are refused than before',
        'backward': 'other losses are refused than before',
    }


def _methods(change: SchemaChange) -> Breaks:
    return {
        'forward': 'has the remotable methods with other arguments',
        'backward': 'has the remotable methods with other arguments',
    }


def _namespace(change: SchemaChange) -> Breaks:
    why = 'does not know the namespace'
    return {**_old_reads_new(why), **_new_reads_old(why)}


def _gone(change: SchemaChange) -> Breaks:
    return _new_reads_old(f'does not know {change.old.name}')


def _fell(change: SchemaChange) -> Breaks:
    return _new_reads_old(f'does not understand {change.old}')


def _major(change: SchemaChange) -> Breaks:
    return {
        **_old_reads_new(f'does not understand {change.new}'),
        **_new_reads_old(f'does not understand {change.old}'),
    }


RULES: tuple[Rule, ...] = (
    # Changes of a released version
    Rule(
        'FIELD_NO_ADD',
        'edit',
        'added',
        'a field was added to a version that is released',
        'A released version gets no new field; a new version does.',
        _added,
    ),
    Rule(
        'FIELD_NO_REMOVE',
        'edit',
        'removed',
        'a field was removed from a version that is released',
        'A released version loses no field; a new version may.',
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
        'A field that must not be null does not start to be nullable.',
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
        'What is left out keeps its meaning: the default stays.',
        _default,
    ),
    Rule(
        'ENUM_NO_NARROW',
        'edit',
        'narrowed',
        '{detail} may no longer be said',
        'An enum keeps its words in a released version.',
        _narrowed,
    ),
    Rule(
        'ENUM_NO_WIDEN',
        'edit',
        'widened',
        '{detail} may now be said',
        'An enum gets no new word in a released version.',
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
        'the conversion "{detail}" is no longer there',
        'A conversion stays as long as a peer may need it.',
        _conversion,
    ),
    Rule(
        'MICROVERSION_NO_MOVE',
        'edit',
        'microversion',
        'it was shown from microversion {old_microversion} on, and is now'
        ' from {new_microversion} on',
        'VERSION_MAP keeps showing a released version where it did.',
        _microversion,
    ),
    Rule(
        'KIND_NO_CHANGE',
        'edit',
        'kind',
        'it went from {detail}',
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
        "oslo.versionedobjects' fingerprint changed though no field did:"
        ' a remotable method, child_versions or an annotation in one',
        'Remotable methods keep their signature in a released version.',
        _methods,
    ),
    # Differences of a newer version
    Rule(
        'ADDED_CONVERTED',
        'step',
        'added',
        'the field is new',
        'A new field is kept from peers of older versions, and is optional.',
        _added_later,
    ),
    Rule(
        'REMOVED_CONVERTED',
        'step',
        'removed',
        'the field is gone',
        'A removed field is filled in for older peers, and taken from them.',
        _removed,
    ),
    Rule(
        'RETYPED_CONVERTED',
        'step',
        'retyped',
        'the type was {old}, and is {new}',
        'A field of a new type is converted both ways.',
        _retyped,
    ),
    Rule(
        'NULLABLE_CONVERTED',
        'step',
        'nullable',
        'the field may now be null',
        'Null is kept from a peer that refuses it.',
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
        'What an older peer left out keeps the meaning it had there.',
        _default,
    ),
    Rule(
        'NARROWED_CONVERTED',
        'step',
        'narrowed',
        '{detail} may no longer be said',
        'A word that is gone is converted when an older peer says it.',
        _narrowed,
    ),
    Rule(
        'WIDENED_CONVERTED',
        'step',
        'widened',
        '{detail} may now be said',
        'A new word is kept from a peer that refuses it.',
        _widened,
    ),
    Rule(
        'LIMITS_CONVERTED',
        'step',
        'limits',
        'the limits were {old}, and are {new}',
        "A value outside of the other side's limits is converted.",
        _limits,
    ),
    # Changes of the type
    Rule(
        'TYPE_NO_REMOVE',
        'type',
        'gone',
        'the type is gone',
        'A released type stays as long as a peer may say it.',
        _gone,
    ),
    Rule(
        'VERSION_NO_FALL',
        'type',
        'fell',
        'the newest version fell to {new_version}',
        'The newest version of a type never falls below a released one.',
        _fell,
    ),
    Rule(
        'MAJOR_STAYS',
        'type',
        'major',
        'no class of this major version is left; there is {new_version}',
        'A new major version comes beside the old one, not in its place.',
        _major,
    ),
    # The lock itself
    Rule(
        'LOCK_CURRENT',
        'lock',
        'stale',
        '{detail}',
        'The lock says what the code says.',
    ),
    Rule(
        'ACCEPTANCE_CURRENT',
        'lock',
        'expired',
        '{detail}',
        'An acceptance ends on its day.',
    ),
    Rule(
        'ACCEPTANCE_USED',
        'lock',
        'unused',
        '{detail}',
        'An acceptance that accepts nothing is taken away.',
    ),
)

BY_CHANGE: Mapping[tuple[str, str], Rule] = {
    (rule.scope, rule.on): rule for rule in RULES
}
BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in RULES}


def sentence(rule: Rule, change: SchemaChange) -> str:
    """Return a description of the change."""
    field = bool(change.field)
    return rule.says.format(
        detail=change.detail,
        old=type_text(change.before.kind) if field else '',
        new=type_text(change.after.kind) if field else '',
        old_default=(change.before.default if field else '') or 'none',
        new_default=(change.after.default if field else '') or 'none',
        old_microversion=change.old.microversion or 'none',
        new_microversion=change.new.microversion or 'none',
        new_version=change.new.version,
    )
