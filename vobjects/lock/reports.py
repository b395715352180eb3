# SPDX-License-Identifier: Apache-2.0
"""Report findings: as text, as data, and as annotations for GitHub."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from vobjects.lock import losses
from vobjects.lock.check import Finding, Result
from vobjects.lock.rules import DIRECTIONS
from vobjects.lock.source_code import (
    SourceLocation,
    first_match,
    locate,
    relative,
)


def text(result: Result) -> str:
    """Return all findings, in the style of rustc, and a summary."""
    blocks = [
        '\n'.join(_block(finding, _locate(finding, result)))
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
    notes = []
    if covered := sum(bool(f.covered_by) for f in result.findings):
        notes.append(f'{count(covered, "change")} covered by a conversion')
    if accepted := sum(bool(f.accepted) for f in result.findings):
        notes.append(f'{count(accepted, "finding")} accepted')
    if result.failing:
        counts = [count(len(result.failing), 'finding'), *notes]
        return f'{size}: {", ".join(counts)}'
    outcome = f' match {result.path}'
    if result.path is None:
        kind = 'breaking ' if result.findings else ''
        outcome = f': no {kind}changes'
    remark = f' ({", ".join(notes)})' if notes else ''
    return f'OK: {size}{outcome}{remark}'


def covered_lines(result: Result) -> Iterator[str]:
    """Yield a line for each change that a conversion covers."""
    for finding in result.findings:
        if finding.covered_by:
            yield (
                f'  {finding.subject}: {finding.description}, covered by'
                f' {finding.covered_by!r}'
            )


def as_data(result: Result) -> dict[str, Any]:
    """Return findings as JSON data."""
    return {
        'types': result.types,
        'versions': result.versions,
        'failing': len(result.failing),
        'opaque': list(result.opaque),
        'findings': [
            {
                'rule': finding.rule.id,
                'type': finding.type_name,
                'field': finding.field or None,
                'versions': list(finding.versions),
                'release': finding.release or None,
                'what': finding.description,
                'orders': {
                    direction: {'works': False, 'why': why}
                    if (why := finding.breaks.get(direction))
                    else {'works': True}
                    for direction in DIRECTIONS
                },
                'covered_by': finding.covered_by or None,
                'accepted': finding.accepted or None,
                'write': list(finding.fix),
                'place': (location := _locate(finding, result))
                and {
                    'file': location.file,
                    'line': location.line,
                    'column': location.column,
                },
            }
            for finding in result.findings
        ],
    }


def github(result: Result) -> str:
    """Return workflow commands, which GitHub shows next to the line.

    Their paths are relative to the root of the repository, which GitHub names
    in an environment variable.
    """
    root = os.environ.get('GITHUB_WORKSPACE', os.curdir)
    lines = []
    for finding in result.failing:
        place = ' '
        if location := _locate(finding, result):
            file = _escaped(relative(location.file, root), in_property=True)
            place = f' file={file},line={location.line},col={location.column},'
        title = _escaped(finding.rule.id, in_property=True)
        breaks = [
            f'{name}: {finding.breaks[direction]}'
            for direction, name in DIRECTIONS.items()
            if direction in finding.breaks
        ]
        message = '\n'.join([_title(finding), *breaks, *finding.fix])
        lines.append(f'::error{place}title={title}::{_escaped(message)}')
    return ''.join(f'{line}\n' for line in [*lines, summary(result)])


def count(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 type`` or ``2 types``."""
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def _locate(finding: Finding, result: Result) -> SourceLocation | None:
    """Return the location of a finding in the lock or the source."""
    if finding.rule.change_kind in ('expired', 'unused') and result.path:
        acceptance = rf' *"\S+ {finding.subject} until '
        return first_match(result.path, acceptance)
    return locate(finding.type_name, finding.field)


def _title(finding: Finding) -> str:
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
    yield f'{level}[{finding.rule.id}]: {_title(finding)}'
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
    help_ = 'do this'
    if finding.rule.scope != 'lock':
        help_ = 'no conversion covers the change; write'
        for direction, name in DIRECTIONS.items():
            breakage = finding.breaks.get(direction)
            verdict = f'breaks: the reader {breakage}' if breakage else 'works'
            yield f'{margin} = {name + ":":<27}{verdict}'
    if finding.accepted:
        yield f'{margin} = accepted: {finding.accepted}'
    elif finding.fix:
        yield f'{margin} = help: {help_}'
        yield from (f'{margin}     {line}' for line in finding.fix)


def _escaped(text: str, *, in_property: bool = False) -> str:
    """Escape a text for a workflow command of GitHub."""
    special = '%\r\n:,' if in_property else '%\r\n'
    return ''.join(f'%{ord(c):02X}' if c in special else c for c in text)
