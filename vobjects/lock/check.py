# SPDX-License-Identifier: Apache-2.0
"""Apply the rules to two locks, and return findings with suggested fixes.

:func:`check` compares the released versions with the code, and the text of
the lock with both. :func:`diff` compares any two locks.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from vobjects.lock import by_hand, field_code, fixes, losses, parse, rules
from vobjects.lock.changes import SchemaChange, between
from vobjects.lock.model import (
    BY_HAND,
    Acceptance,
    Lock,
    TypeSchema,
)
from vobjects.lock.rules import Direction, Rule
from vobjects.objects import registration
from vobjects.service import Service


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a rule, or a change that a conversion covers.

    :ivar subject: ``Type`` or ``Type.field``
    :ivar versions: the affected versions of the type
    :ivar release: the first release that froze one of them; empty: none
    :ivar description: the change, as a sentence
    :ivar breaks: the directions that break, see :mod:`vobjects.lock.rules`
    :ivar covered_by: the conversion that covers the change; empty: none
    :ivar accepted: why it is accepted; empty: it is not
    :ivar fix: lines of code that fix it
    """

    rule: Rule
    type_name: str
    field: str
    versions: tuple[str, ...]
    release: str
    description: str
    breaks: Mapping[Direction, str]
    covered_by: str = ''
    accepted: str = ''
    fix: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The subject that an acceptance must name."""
        if not self.field:
            return self.type_name
        return f'{self.type_name}.{self.field}'

    @property
    def failing(self) -> bool:
        """Whether the finding needs action."""
        return not self.covered_by and not self.accepted


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """All findings, and the number of types and versions compared.

    :ivar path: the lock file that the code was compared with; None: another
        lock
    :ivar opaque: the changes whose loss is unknown
    """

    findings: tuple[Finding, ...]
    types: int
    versions: int
    path: pathlib.Path | None = None
    opaque: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that need action."""
        return tuple(finding for finding in self.findings if finding.failing)


def check(
    lock: Lock,
    code: Lock,
    today: datetime.date,
    path: pathlib.Path = parse.DEFAULT_PATH,
    services: Iterable[Service] = (),
) -> Result:
    """Compare a lock with the code.

    :param code: a snapshot made with ``known=lock``
    :param today: the date on which acceptances are checked
    :param path: the file of the lock, for the commands that findings suggest
    :param services: the services that have the types; their histories must
        list each microversion that a type maps
    """
    released = lock.released()
    services = list(services)
    findings = _findings(
        itertools.chain(
            between(released, code),
            by_hand.unmapped_children(released, code),
        ),
        [version for service in services for version in service.history],
    )
    return Result(
        (
            *_with_acceptances(findings, lock.accepted, today),
            *_outdated(lock, code, path),
            *_unlisted(services),
        ),
        len(code.types),
        len(code.schemas),
        path,
        tuple(losses.opaque(code)),
    )


def diff(old: Lock, new: Lock) -> Result:
    """Compare two locks."""
    findings = tuple(_findings(between(old, new)))
    return Result(findings, len(new.types), len(new.schemas))


def _findings(
    changes: Iterable[SchemaChange], microversions: Sequence[str] = ()
) -> Iterator[Finding]:
    """Yield a finding for equal changes in all versions of a type.

    :param microversions: of the service
    """
    groups: dict[tuple[Rule, str, str, str], list[SchemaChange]] = {}
    for change in changes:
        rule = rules.BY_CHANGE[change.scope, change.kind]
        key = (
            rule,
            change.old.name,
            _newest_name(change),
            rule.describe(change),
        )
        groups.setdefault(key, []).append(change)
    for (rule, *_, description), group in groups.items():
        last = group[-1]
        breaks = rule.find_breaks(last)
        covered_by = ''
        if rule.scope == 'step':
            covered_by = _covering_conversion(last, breaks)
        fix = () if covered_by else fixes.fix_lines(rule, last, microversions)
        yield Finding(
            rule,
            last.old.name,
            last.field,
            tuple(change.old.version for change in group),
            next((c.old.release for c in group if c.old.release), ''),
            description,
            breaks,
            covered_by=covered_by,
            fix=tuple(fix),
        )


def _newest_name(change: SchemaChange) -> str:
    """Return the newest name of a field, in the code or else in the lock."""
    name = change.field
    for schemas in (change.current, change.released):
        name = field_code.current_name(name, change.old.version, schemas)
    return name


def _covering_conversion(
    change: SchemaChange, breaks: Mapping[Direction, str]
) -> str:
    """Return the conversion that covers a change, or ``''``.

    A conversion by hand only converts down. It is run for new fields; only
    tests check its other effects.
    """
    for conversion in change.conversions:
        if conversion != BY_HAND:
            return str(conversion)
    if BY_HAND not in change.conversions:
        return ''
    if breaks.keys() & {'backward', 'stored'}:
        return ''
    if change.kind == 'added' and by_hand.sends_new_field(change):
        return ''
    return str(BY_HAND)


def _with_acceptances(
    findings: Iterable[Finding],
    acceptances: Iterable[Acceptance],
    today: datetime.date,
) -> Iterator[Finding]:
    """Yield findings, and the acceptances that expired or match none.

    A finding that an acceptance matches has its reason.
    """
    by_subject: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        key = finding.rule.id, finding.subject
        by_subject.setdefault(key, []).append(finding)
    for acceptance in acceptances:
        rule, subject = acceptance.rule, acceptance.subject
        line = f'{rule} {subject}'
        if not by_subject.get((rule, subject)):
            yield _lock_finding(
                'unused',
                subject,
                f'the acceptance "{line}" matches no finding',
                f'delete "{line} ..." from the list "accept"',
            )
        elif today > acceptance.until:
            yield _lock_finding(
                'expired',
                subject,
                f'the acceptance "{line}" expired on {acceptance.until}',
                f'fix the finding of {rule}, or change the date and the reason'
                ' in the list "accept"',
            )
        else:
            accepted = f'{acceptance.reason} (until {acceptance.until})'
            by_subject[rule, subject] = [
                dataclasses.replace(finding, accepted=accepted)
                for finding in by_subject[rule, subject]
            ]
    yield from itertools.chain.from_iterable(by_subject.values())


def _outdated(lock: Lock, code: Lock, path: pathlib.Path) -> Iterator[Finding]:
    """Find the changes that "vobjects lock update" would make."""
    problems: list[tuple[TypeSchema, str]] = []
    for schema in code.schemas:
        known = lock.schema(schema.name, schema.version)
        if known is None or known.until:
            problems.append((schema, ' is not in the lock'))
        elif (
            not known.release
            and known.without_releases() != schema.without_releases()
        ):
            problems.append(
                (schema, ', not released yet, differs from the lock')
            )
    problems += [
        (known, ' is in the lock but not in the code')
        for known in lock.schemas
        if not known.release and not code.schema(known.name, known.version)
    ]
    for schema, problem in problems:
        yield _lock_finding(
            'outdated',
            schema.name,
            f'{schema}{problem}',
            f'run "{parse.command("update", path)}"',
            (schema.version,),
        )


def _unlisted(services: Iterable[Service]) -> Iterator[Finding]:
    """Find the mapped microversions that a service's history lacks."""
    for service in services:
        for cls in service.registered_types():
            for problem in registration.unlisted_microversions(
                cls, service.history
            ):
                yield _lock_finding('unlisted', cls.obj_name(), *problem)


def _lock_finding(
    kind: str,
    subject: str,
    description: str,
    fix: str,
    versions: tuple[str, ...] = (),
) -> Finding:
    type_name, _, field = subject.partition('.')
    rule = rules.BY_CHANGE['lock', kind]
    return Finding(
        rule, type_name, field, versions, '', description, {}, fix=(fix,)
    )
