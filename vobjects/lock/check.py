# SPDX-License-Identifier: Apache-2.0
"""Apply the rules to two locks, and return findings with suggested fixes.

:func:`check` compares the released versions with the code, and the text of
the lock with both. :func:`diff` compares any two locks.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
from collections.abc import Iterable, Iterator, Mapping

from vobjects.lock import rules, suggestions
from vobjects.lock.changes import SchemaChange, between
from vobjects.lock.model import (
    BY_HAND,
    Acceptance,
    Lock,
    TypeSchema,
)
from vobjects.lock.rules import Direction, Rule


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a rule, or a change that a conversion covers.

    :ivar subject: ``Type`` or ``Type.field``
    :ivar versions: the affected versions of the type
    :ivar release: the first release that froze one of them; empty: none
    :ivar what: what changed
    :ivar breaks: the orders that break, see :mod:`vobjects.lock.rules`
    :ivar covered: the conversion that covers the change; empty: none
    :ivar accepted: why it is accepted; empty: it is not
    :ivar write: lines of code that fix it
    """

    rule: Rule
    type_name: str
    field: str
    versions: tuple[str, ...]
    release: str
    what: str
    breaks: Mapping[Direction, str]
    covered: str = ''
    accepted: str = ''
    write: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The subject that an acceptance must name."""
        return (
            f'{self.type_name}.{self.field}'
            if self.field
            else (self.type_name)
        )

    @property
    def failing(self) -> bool:
        """Whether the finding needs action."""
        return not self.covered and not self.accepted

    @property
    def fingerprint(self) -> str:
        """12 hexadecimal digits that identify a finding across commits."""
        text = '\0'.join((self.rule.id, self.subject, self.what))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """All findings, and the number of types and versions compared."""

    findings: tuple[Finding, ...]
    types: int
    versions: int

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that need action."""
        return tuple(one for one in self.findings if one.failing)


def check(lock: Lock, code: Lock, today: datetime.date) -> Result:
    """Compare a lock with the code.

    :param code: a snapshot made with ``known=lock``
    :param today: the date on which acceptances are checked
    """
    found = list(_findings(between(lock.released(), code)))
    taken = [_accepted(one, lock.accepted, today) for one in found]
    return Result(
        (
            *taken,
            *_stale(lock, code),
            *_acceptances(lock, found, today),
        ),
        len(code.types),
        len(code.schemas),
    )


def diff(old: Lock, new: Lock) -> Result:
    """Compare two locks."""
    found = tuple(_findings(between(old, new)))
    return Result(found, len(new.types), len(new.schemas))


def _findings(changes: Iterable[SchemaChange]) -> Iterator[Finding]:
    """Judge changes; join equal changes in several versions of a type."""
    joined: dict[tuple[str, ...], list[SchemaChange]] = {}
    for change in changes:
        rule = rules.BY_CHANGE[change.scope, change.what]
        key = (
            rule.id,
            change.old.name,
            change.field,
            rules.sentence(rule, change),
        )
        joined.setdefault(key, []).append(change)
    for (rule_id, *_, what), same in joined.items():
        yield _finding(rules.BY_ID[rule_id], what, same)


def _finding(rule: Rule, what: str, same: list[SchemaChange]) -> Finding:
    last = same[-1]
    breaks = rule.judge(last)
    return Finding(
        rule,
        last.old.name,
        last.field,
        tuple(change.old.version for change in same),
        next((c.old.release for c in same if c.old.release), ''),
        what,
        breaks,
        covered=_covered(last, breaks) if rule.scope == 'step' else '',
        write=tuple(suggestions.fix_lines(rule, last)),
    )


def _covered(change: SchemaChange, breaks: Mapping[Direction, str]) -> str:
    """Return the conversion that covers a change, or ``''``.

    A conversion by hand only converts down, and its code is not analysed: the
    tests of :mod:`vobjects.testing` check its effect.
    """
    for conversion in change.conversions:
        if conversion != BY_HAND:
            return str(conversion)
    by_hand = BY_HAND in change.conversions
    if by_hand and not breaks.keys() & {'backward', 'stored'}:
        return str(BY_HAND)
    return ''


def _accepted(
    finding: Finding, accepted: tuple[Acceptance, ...], today: datetime.date
) -> Finding:
    for one in accepted:
        if _is_about(one, finding) and today <= one.until:
            return dataclasses.replace(
                finding, accepted=f'{one.reason} (until {one.until})'
            )
    return finding


def _is_about(acceptance: Acceptance, finding: Finding) -> bool:
    return (acceptance.rule, acceptance.subject) == (
        finding.rule.id,
        finding.subject,
    )


def _acceptances(
    lock: Lock, found: list[Finding], today: datetime.date
) -> Iterator[Finding]:
    for one in lock.accepted:
        what = f'accept {one.rule} {one.subject}'
        if not any(_is_about(one, finding) for finding in found):
            yield _about_lock(
                'unused',
                one.subject,
                f'"{what}" accepts nothing any more',
                f'delete the line "{what} ..." (line {one.line})',
            )
        elif today > one.until:
            yield _about_lock(
                'expired',
                one.subject,
                f'"{what}" ended on {one.until}',
                f'mend what {one.rule} has found, or give line {one.line} a'
                ' later day and a reason for it',
            )


def _stale(lock: Lock, code: Lock) -> Iterator[Finding]:
    """Find the changes that "vobjects lock update" would make."""
    for schema in code.schemas:
        known = lock.schema(schema.name, schema.version)
        if known is None or known.until:
            yield _not_current(schema, f'{schema} is not in the lock')
        elif not known.release and known.said() != schema.said():
            yield _not_current(
                schema,
                f'{schema} is not what the lock says; no release has it',
            )
    for known in lock.schemas:
        there = code.schema(known.name, known.version)
        if not known.release and there is None:
            yield _not_current(
                known, f'{known} is in the lock and not in the code'
            )


def _not_current(schema: TypeSchema, what: str) -> Finding:
    found = _about_lock(
        'stale', schema.name, what, 'run "vobjects lock update"'
    )
    return dataclasses.replace(found, versions=(schema.version,))


def _about_lock(on: str, subject: str, what: str, help_: str) -> Finding:
    type_name, _, field = subject.partition('.')
    rule = rules.BY_CHANGE['lock', on]
    return Finding(rule, type_name, field, (), '', what, {}, write=(help_,))
