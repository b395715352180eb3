# SPDX-License-Identifier: Apache-2.0
"""Report findings as text, in the style of rustc."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vobjects.lock.check import Finding, Result
from vobjects.lock.rules import DIRECTIONS
from vobjects.lock.source_location import SourceLocation


def text(
    result: Result, placed: Callable[[Finding], SourceLocation | None]
) -> str:
    """Return all findings, and a summary."""
    blocks = [
        '\n'.join(_block(one, placed(one)))
        for one in sorted(result.findings, key=_weight)
        if not one.covered
    ]
    return '\n\n'.join([*blocks, summary(result)]) + '\n'


def summary(result: Result) -> str:
    """Return the numbers of types, versions and findings."""
    counts = [
        _count(len(result.failing), 'finding'),
        _count(sum(bool(o.covered) for o in result.findings), 'change')
        + ' covered by a conversion',
    ]
    accepted = sum(bool(one.accepted) for one in result.findings)
    if accepted:
        counts.append(f'{accepted} accepted')
    return (
        f'{result.types} types, {result.versions} versions:'
        f' {", ".join(counts)}'
    )


def covered(result: Result) -> Iterator[str]:
    """Yield a line for each change that a conversion covers."""
    for one in result.findings:
        if one.covered:
            yield (f'  {one.subject}: {one.what}, covered by {one.covered!r}')


def title(finding: Finding) -> str:
    """Return a finding as one line."""
    if finding.rule.scope == 'lock':
        return finding.what
    versions = ' and '.join(finding.versions)
    released = f' ({finding.release})' if finding.release else ''
    field = f', {finding.field!r}' if finding.field else ''
    return f'{finding.type_name} {versions}{released}{field}: {finding.what}'


def _block(finding: Finding, place: SourceLocation | None) -> Iterator[str]:
    level = 'accepted' if finding.accepted else 'error'
    yield f'{level}[{finding.rule.id}]: {title(finding)}'
    margin = ' ' * (len(str(place.line)) if place else 1)
    if place is not None:
        yield f'{margin}--> {place.file}:{place.line}:{place.column}'
        yield f'{margin} |'
        yield f'{place.line} | {place.text}'
        pointed = len(place.text.rstrip()) - place.column + 1
        if finding.field and place.text.count(finding.field):
            pointed = len(finding.field) + 2
        yield f'{margin} | {" " * (place.column - 1)}{"^" * max(pointed, 1)}'
    if finding.rule.scope != 'lock':
        for order, name in DIRECTIONS.items():
            why = finding.breaks.get(order)
            verdict = f'breaks: the reader {why}' if why else 'works'
            yield f'{margin} = {name + ":":<27}{verdict}'
    if finding.accepted:
        yield f'{margin} = accepted: {finding.accepted}'
    elif finding.write:
        yield f'{margin} = help: {_help(finding)}'
        yield from (f'{margin}     {line}' for line in finding.write)


def _help(finding: Finding) -> str:
    if finding.rule.scope == 'lock':
        return 'do this'
    return 'no conversion covers it; write'


def _weight(finding: Finding) -> tuple[bool, str, str]:
    return bool(finding.accepted), finding.subject, finding.rule.id


def _count(number: int, noun: str) -> str:
    return f'{number} {noun}' if number == 1 else f'{number or "no"} {noun}s'
