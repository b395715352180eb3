# SPDX-License-Identifier: Apache-2.0
"""Report findings as text, in the style of rustc."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vobjects.lock import losses
from vobjects.lock.check import Finding, Result
from vobjects.lock.rules import DIRECTIONS
from vobjects.lock.source_location import SourceLocation

#: Returns the location of a finding in the source; None: unknown.
Locate = Callable[[Finding], SourceLocation | None]


def text(result: Result, locate: Locate) -> str:
    """Return all findings, and a summary."""
    blocks = [
        '\n'.join(_block(finding, locate(finding)))
        for finding in sorted(
            result.findings,
            key=lambda f: (bool(f.accepted), f.subject, f.rule.id),
        )
        if not finding.covered_by
    ]
    if opaque := losses.opaque_text(result.opaque):
        blocks.append(opaque)
    return '\n\n'.join([*blocks, summary(result)]) + '\n'


def summary(result: Result) -> str:
    """Return the numbers of types, versions and findings."""
    types, versions = result.types, result.versions
    size = f'{count(types, "type")}, {count(versions, "version")}'
    notes = [
        f'{count(number, noun)} {what}'
        for number, noun, what in (
            (
                sum(bool(f.covered_by) for f in result.findings),
                'change',
                'covered by a conversion',
            ),
            (
                sum(bool(f.accepted) for f in result.findings),
                'finding',
                'accepted',
            ),
        )
        if number
    ]
    if result.failing:
        counts = [count(len(result.failing), 'finding'), *notes]
        return f'{size}: {", ".join(counts)}'
    outcome = f' match {result.path}'
    if result.path is None:
        kind = 'breaking ' if result.findings else ''
        outcome = f': no {kind}changes'
    remark = f' ({", ".join(notes)})' if notes else ''
    return f'OK: {size}{outcome}{remark}'


def covered(result: Result) -> Iterator[str]:
    """Yield a line for each change that a conversion covers."""
    for finding in result.findings:
        if finding.covered_by:
            yield (
                f'  {finding.subject}: {finding.description}, covered by'
                f' {finding.covered_by!r}'
            )


def title(finding: Finding) -> str:
    """Return a finding as one line."""
    if finding.rule.scope == 'lock':
        return finding.description
    versions = ' and '.join(finding.versions)
    released = f' ({finding.release})' if finding.release else ''
    field = f', {finding.field!r}' if finding.field else ''
    return (
        f'{finding.type_name} {versions}{released}{field}:'
        f' {finding.description}'
    )


def _block(finding: Finding, location: SourceLocation | None) -> Iterator[str]:
    level = 'accepted' if finding.accepted else 'error'
    yield f'{level}[{finding.rule.id}]: {title(finding)}'
    margin = ' ' * (len(str(location.line)) if location else 1)
    if location is not None:
        yield f'{margin}--> {location.file}:{location.line}:{location.column}'
        yield f'{margin} |'
        yield f'{location.line} | {location.text}'
        width = len(location.text.rstrip()) - location.column + 1
        if finding.field and finding.field in location.text:
            is_quoted = location.text[location.column - 1] in '\'"'
            width = len(finding.field) + 2 * is_quoted
        yield f'{margin} | {" " * (location.column - 1)}{"^" * max(width, 1)}'
    if finding.rule.scope != 'lock':
        for direction, name in DIRECTIONS.items():
            breakage = finding.breaks.get(direction)
            verdict = f'breaks: the reader {breakage}' if breakage else 'works'
            yield f'{margin} = {name + ":":<27}{verdict}'
    if finding.accepted:
        yield f'{margin} = accepted: {finding.accepted}'
    elif finding.fix:
        yield f'{margin} = help: {_help(finding)}'
        yield from (f'{margin}     {line}' for line in finding.fix)


def _help(finding: Finding) -> str:
    if finding.rule.scope == 'lock':
        return 'do this'
    return 'no conversion covers the change; write'


def count(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 type`` or ``2 types``."""
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'
