# SPDX-License-Identifier: Apache-2.0
"""Report findings as data, and as GitHub annotations."""

from __future__ import annotations

import os
from typing import Any

from vobjects.lock.check import Finding, Result
from vobjects.lock.rules import DIRECTIONS
from vobjects.lock.source_location import SourceLocation
from vobjects.lock.text_report import Locate, summary, title


def as_data(result: Result, locate: Locate) -> dict[str, Any]:
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
                    direction: {'works': direction not in finding.breaks}
                    | (
                        {'why': finding.breaks[direction]}
                        if direction in finding.breaks
                        else {}
                    )
                    for direction in DIRECTIONS
                },
                'covered_by': finding.covered_by or None,
                'accepted': finding.accepted or None,
                'write': list(finding.fix),
                'place': _position(locate(finding)),
            }
            for finding in result.findings
        ],
    }


def _position(location: SourceLocation | None) -> dict[str, Any] | None:
    if location is None:
        return None
    return {
        'file': location.file,
        'line': location.line,
        'column': location.column,
    }


def _message(finding: Finding) -> str:
    lines = [title(finding)]
    lines += [
        f'{name}: {finding.breaks[direction]}'
        for direction, name in DIRECTIONS.items()
        if direction in finding.breaks
    ]
    return '\n'.join([*lines, *finding.fix])


def github(result: Result, locate: Locate) -> str:
    """Return workflow commands, which GitHub shows next to the line.

    Their paths are relative to the root of the repository, which GitHub names
    in an environment variable.
    """
    lines = []
    for finding in result.failing:
        location = locate(finding)
        where = (
            f' file={_property(_in_repository(location.file))},'
            f'line={location.line},'
            f'col={location.column},'
            if location
            else ' '
        )
        lines.append(
            f'::error{where}title={_property(finding.rule.id)}::'
            f'{_data(_message(finding))}'
        )
    return ''.join(f'{line}\n' for line in [*lines, summary(result)])


def _in_repository(file: str) -> str:
    root = os.environ.get('GITHUB_WORKSPACE', os.curdir)
    path = os.path.relpath(file, root)
    return file if path.startswith('..') else path


def _data(text: str) -> str:
    return text.replace('%', '%25').replace('\r', '%0D').replace('\n', '%0A')


def _property(text: str) -> str:
    return _data(text).replace(':', '%3A').replace(',', '%2C')
