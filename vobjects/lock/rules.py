# SPDX-License-Identifier: Apache-2.0
"""The rules for changes, as a table with one row per rule.

A rule has an ID that never changes, the change that it applies to, a sentence
for the documentation, and templates of what breaks.

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
from collections.abc import Mapping
from typing import Literal

from vobjects.lock.changes import SchemaChange, Scope
from vobjects.lock.model import BY_HAND
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
    :ivar breaks: key of the breaks; empty: ``change_kind``
    """

    id: str
    scope: Scope | Literal['lock']
    change_kind: str
    template: str
    purpose: str
    breaks: str = ''

    def describe(self, change: SchemaChange) -> str:
        """Return a description of a change."""
        return self.template.format_map(_words(change))

    def find_breaks(self, change: SchemaChange) -> Breaks:
        """Return the directions that break."""
        kind = self.breaks or self.change_kind
        words = _words(change)
        old_reader, new_reader = (
            template.format_map(words) for template in _BREAKS[kind]
        )
        breaks: dict[Direction, str] = {
            'forward': old_reader,
            'backward': new_reader,
        }
        if kind not in _ONLY_CALLS:
            breaks |= {'stored': new_reader, 'rollback': old_reader}
        return {name: text for name, text in breaks.items() if text}


#: What a reader does: an old one that reads new data, and a new one that reads
#: old data; see :func:`_words`. Empty: it works.
_BREAKS: Mapping[str, tuple[str, str]] = {
    'added': ('{unknown}', '{unset}'),
    'added later': ('{leaked}', '{unset_if_required}'),
    'removed': ('{unset}', '{unknown}'),
    'retyped': (
        'expects {old} and gets {new}',
        'expects {new} and gets {old}',
    ),
    'narrowed': ('', 'rejects {detail}'),
    'widened': ('rejects {detail}', ''),
    'limits': (
        'rejects values outside the limits of {old}',
        'rejects values outside the limits of {new}',
    ),
    'nullable': ('rejects null', ''),
    'not-nullable': ('', 'rejects null'),
    'default': (
        'reads an omitted value as {old_value}, but the sender means'
        ' {new_value}',
        'reads an omitted value as {new_value}, but the sender means'
        ' {old_value}',
    ),
    'conversion': (
        'gets the newer form, labelled with the older version',
        '{older_form}',
    ),
    'namespace': ('does not know the namespace',) * 2,
    'type removed': ('', 'does not know {type_name}'),
    'version-lowered': ('', 'does not understand {old_type}'),
    'major-removed': (
        'does not understand {new_type}',
        'does not understand {old_type}',
    ),
    'child': ('gets a nested object that it does not understand', ''),
    'microversion': ('finds different content at the same microversion',) * 2,
    'kind': ('rejects other lossy conversions than before',) * 2,
    'methods': ('may have remotable methods with other arguments',) * 2,
}

#: Changes that do not concern stored data.
_ONLY_CALLS = ('microversion', 'kind', 'methods')


def _words(change: SchemaChange) -> dict[str, str]:
    """Return the words in the templates of descriptions and of breaks."""
    name = repr(change.field)
    unknown = f'drops {name} without an error'
    if change.old.kind in ('request', 'object'):
        unknown = f'rejects {name}, which its version does not have'
    words = {
        'detail': change.detail,
        'type_name': change.old.name,
        'old_type': str(change.old),
        'new_type': str(change.new),
        'old_microversion': change.old.microversion or 'none',
        'new_microversion': change.new.microversion or 'none',
        'new_version': change.new.version,
        'unknown': unknown,
        'leaked': f'gets {name}, which {change.old.version} does not have, and'
        ' drops it without an error',
        # A conversion by hand converts only for older peers.
        'older_form': ''
        if change.detail == str(BY_HAND)
        else 'reads the older form as the newer one',
    }
    if change.field:
        before, after = change.before, change.after
        unset = f'finds {name} unset, and fails when it reads it'
        words |= {
            'old': type_text(before.type),
            'new': type_text(after.type),
            'old_default': before.default or 'none',
            'new_default': after.default or 'none',
            'old_value': before.default or 'unset',
            'new_value': after.default or 'unset',
            'unset': unset,
            # oslo.versionedobjects sets no default when it reads an older
            # primitive, so services check whether such a field is set, or
            # load it. A required field cannot be left out.
            'unset_if_required': '' if after.optional else unset,
        }
    return words


RULES: tuple[Rule, ...] = (
    # Changes of a released version
    Rule(
        'FIELD_NO_ADD',
        'edit',
        'added',
        'a field was added to a version that is released',
        'A released version gets no new field; add fields in a new version.',
    ),
    Rule(
        'FIELD_NO_REMOVE',
        'edit',
        'removed',
        'a field was removed from a version that is released',
        'A released version loses no field; remove fields in a new version.',
    ),
    Rule(
        'FIELD_SAME_TYPE',
        'edit',
        'retyped',
        'the type was {old}, and is {new}',
        'A field keeps its type in a released version.',
    ),
    Rule(
        'FIELD_STAYS_NOT_NULL',
        'edit',
        'nullable',
        'the field may now be null',
        'A field that is not nullable stays so in a released version.',
    ),
    Rule(
        'FIELD_STAYS_NULLABLE',
        'edit',
        'not-nullable',
        'the field may no longer be null',
        'A nullable field stays nullable in a released version.',
    ),
    Rule(
        'FIELD_SAME_DEFAULT',
        'edit',
        'default',
        'the default was {old_default}, and is {new_default}',
        'A field keeps its default in a released version.',
    ),
    Rule(
        'ENUM_NO_NARROW',
        'edit',
        'narrowed',
        '{detail} is no longer a valid value',
        'An enum keeps its values in a released version.',
    ),
    Rule(
        'ENUM_NO_WIDEN',
        'edit',
        'widened',
        '{detail} is a new valid value',
        'An enum gets no new value in a released version.',
    ),
    Rule(
        'FIELD_SAME_LIMITS',
        'edit',
        'limits',
        'the limits were {old}, and are {new}',
        'The parameters of a field type stay in a released version.',
    ),
    Rule(
        'CONVERSION_NO_REMOVE',
        'edit',
        'conversion',
        'the conversion "{detail}" is missing',
        'A conversion stays as long as a peer may need it.',
    ),
    Rule(
        'MICROVERSION_NO_MOVE',
        'edit',
        'microversion',
        'the version appeared at microversion {old_microversion}, and now'
        ' appears at {new_microversion}',
        'VERSION_MAP keeps the microversion of a released version.',
    ),
    Rule(
        'KIND_NO_CHANGE',
        'edit',
        'kind',
        'the kind changed from {detail}',
        'A request stays a request, and a resource a resource.',
    ),
    Rule(
        'NAMESPACE_NO_CHANGE',
        'edit',
        'namespace',
        'the namespace of its primitives changed',
        'Primitives keep their namespace.',
    ),
    Rule(
        'METHODS_SAME',
        'edit',
        'methods',
        'the fingerprint changed although no field did: the order of the'
        ' values of an enum, a remotable method, its annotations or'
        ' child_versions',
        'Remotable methods keep their signature in a released version, and'
        ' enums the order of their values.',
    ),
    # Differences of a newer version
    Rule(
        'ADDED_CONVERTED',
        'step',
        'added',
        'the field is new',
        'A new field is optional, and is not sent to peers of older versions.',
        breaks='added later',
    ),
    Rule(
        'REMOVED_CONVERTED',
        'step',
        'removed',
        'the field was removed',
        'A removed field is sent to older peers, and accepted from them.',
    ),
    Rule(
        'RETYPED_CONVERTED',
        'step',
        'retyped',
        'the type was {old}, and is {new}',
        'A field with a new type is converted in both directions.',
    ),
    Rule(
        'NULLABLE_CONVERTED',
        'step',
        'nullable',
        'the field may now be null',
        'Null is not sent to a peer that rejects it.',
    ),
    Rule(
        'NOT_NULLABLE_CONVERTED',
        'step',
        'not-nullable',
        'the field may no longer be null',
        'Null from an older peer is converted.',
    ),
    Rule(
        'DEFAULT_CONVERTED',
        'step',
        'default',
        'the default was {old_default}, and is {new_default}',
        'A value omitted by an older peer keeps the default of its version.',
    ),
    Rule(
        'NARROWED_CONVERTED',
        'step',
        'narrowed',
        '{detail} is no longer a valid value',
        'A removed enum value is converted when an older peer sends it.',
    ),
    Rule(
        'WIDENED_CONVERTED',
        'step',
        'widened',
        '{detail} is a new valid value',
        'A new enum value is not sent to a peer that rejects it.',
    ),
    Rule(
        'LIMITS_CONVERTED',
        'step',
        'limits',
        'the limits were {old}, and are {new}',
        'A value outside the limits of the peer is converted.',
    ),
    # Changes of the type
    Rule(
        'TYPE_NO_REMOVE',
        'type',
        'removed',
        'the type was removed',
        'A released type stays as long as a peer may send it.',
        breaks='type removed',
    ),
    Rule(
        'VERSION_NO_FALL',
        'type',
        'version-lowered',
        'the newest version is now {new_version}, which is older',
        'The newest version of a type is never older than a released one.',
    ),
    Rule(
        'MAJOR_STAYS',
        'type',
        'major-removed',
        'no class of this major version remains; the newest is {new_version}',
        'A new major version does not replace the old one; keep both.',
    ),
    Rule(
        'CHILD_MAPPED',
        'type',
        'child',
        '{detail}',
        'A type that lists the versions of a nested type lists its newest.',
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
