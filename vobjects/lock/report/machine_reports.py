# SPDX-License-Identifier: Apache-2.0
"""Report findings as JSON, SARIF 2.1.0, JUnit and GitHub annotations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from xml.sax import saxutils

from vobjects.lock.check import Finding, Result
from vobjects.lock.report import text_report
from vobjects.lock.rules import DIRECTIONS, RULES
from vobjects.lock.source_location import SourceLocation

_SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'

Placed = Callable[[Finding], SourceLocation | None]


def as_json(result: Result, placed: Placed) -> str:
    """Return findings as a JSON document."""
    document = {
        'types': result.types,
        'versions': result.versions,
        'failing': len(result.failing),
        'findings': [
            {
                'rule': one.rule.id,
                'type': one.type_name,
                'field': one.field or None,
                'versions': list(one.versions),
                'release': one.release or None,
                'what': one.what,
                'orders': {
                    order: {'works': order not in one.breaks}
                    | (
                        {'why': one.breaks[order]}
                        if order in one.breaks
                        else {}
                    )
                    for order in DIRECTIONS
                },
                'covered_by': one.covered or None,
                'accepted': one.accepted or None,
                'write': list(one.write),
                'fingerprint': one.fingerprint,
                'place': _place(placed(one)),
            }
            for one in result.findings
        ],
    }
    return json.dumps(document, indent=2) + '\n'


def _place(place: SourceLocation | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {'file': place.file, 'line': place.line, 'column': place.column}


def sarif(result: Result, placed: Placed) -> str:
    """Return a SARIF log, in which accepted findings are suppressed."""
    run = {
        'tool': {
            'driver': {
                'name': 'vobjects lock check',
                'rules': [
                    {
                        'id': rule.id,
                        'shortDescription': {'text': rule.purpose},
                    }
                    for rule in RULES
                ],
            }
        },
        'results': [
            _sarif(one, placed(one))
            for one in result.findings
            if not one.covered
        ],
    }
    log = {'$schema': _SCHEMA, 'version': '2.1.0', 'runs': [run]}
    return json.dumps(log, indent=2) + '\n'


def _sarif(one: Finding, place: SourceLocation | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        'ruleId': one.rule.id,
        'level': 'error',
        'message': {'text': _message(one)},
        'partialFingerprints': {'vobjects/v1': one.fingerprint},
    }
    if place is not None:
        found['locations'] = [
            {
                'physicalLocation': {
                    'artifactLocation': {'uri': place.file},
                    'region': {
                        'startLine': place.line,
                        'startColumn': place.column,
                    },
                }
            }
        ]
    if one.accepted:
        found['suppressions'] = [
            {'kind': 'inSource', 'justification': one.accepted}
        ]
    return found


def _message(one: Finding) -> str:
    lines = [text_report.title(one)]
    lines += [
        f'{name}: {one.breaks[order]}'
        for order, name in DIRECTIONS.items()
        if order in one.breaks
    ]
    return '\n'.join([*lines, *one.write])


def github(result: Result, placed: Placed) -> str:
    """Return workflow commands, which GitHub shows next to the line."""
    lines = []
    for one in result.failing:
        place = placed(one)
        where = (
            f' file={_property(place.file)},line={place.line},'
            f'col={place.column},'
            if place
            else ' '
        )
        lines.append(
            f'::error{where}title={_property(one.rule.id)}::'
            f'{_data(_message(one))}'
        )
    return ''.join(
        f'{line}\n' for line in [*lines, text_report.summary(result)]
    )


def _data(text: str) -> str:
    return text.replace('%', '%25').replace('\r', '%0D').replace('\n', '%0A')


def _property(text: str) -> str:
    return _data(text).replace(':', '%3A').replace(',', '%2C')


def junit(result: Result, placed: Placed) -> str:
    """Return a JUnit test suite with a test case for each rule."""
    cases = []
    for rule in RULES:
        failed = [one for one in result.failing if one.rule is rule]
        name = saxutils.quoteattr(rule.id)
        inner = ''.join(
            f'<failure message={saxutils.quoteattr(text_report.title(one))}>'
            f'{saxutils.escape(_message(one))}</failure>'
            for one in failed
        )
        cases.append(
            f'    <testcase classname="vobjects.lock" name={name}>'
            f'{inner}</testcase>'
        )
    failures = len({one.rule.id for one in result.failing})
    return '\n'.join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            '<testsuites>',
            f'  <testsuite name="vobjects lock check" tests="{len(RULES)}"'
            f' failures="{failures}">',
            *cases,
            '  </testsuite>',
            '</testsuites>',
            '',
        ]
    )
