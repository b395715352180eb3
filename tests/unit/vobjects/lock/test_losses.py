# SPDX-License-Identifier: Apache-2.0
"""Descriptions of declared changes, and of what they lose."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.vobjects.lock.factories import TODAY, vobjects_type
from vobjects import conversions, fields
from vobjects.lock import (
    check,
    losses,
    parse,
    reports,
    snapshot,
    text,
)
from vobjects.objects.field_changes import changed

pytestmark = pytest.mark.usefixtures('registry')

OLD = fields.EnumField(valid_values=['disc', 'tape'])
NEW = fields.EnumField(valid_values=['disk', 'tape', 'tray'])
INTEGER, TEXT = fields.IntegerField(), fields.StringField()
SMALL, LARGE = (fields.NameField(maximum=n) for n in (8, 16))
TEXTS = fields.ListOfStringsField()

CASES: list[tuple[Any, Any, dict[str, Any], str]] = [
    (SMALL, LARGE, {}, 'same values; down refuses values outside the limits'),
    (LARGE, SMALL, {}, 'same values; up refuses values outside the limits'),
    (
        fields.StringField(nullable=True),
        TEXT,
        {'missing': ''},
        'same values',
    ),
    (
        TEXT,
        fields.StringField(nullable=True),
        {},
        'same values; down refuses null',
    ),
    (
        OLD,
        NEW,
        {},
        'same values; up refuses "disc"; down refuses "disk", "tray"',
    ),
    (
        OLD,
        NEW,
        {'by': conversions.translate({'disc': 'disk'})},
        "translate({'disc': 'disk'}); down refuses \"tray\"",
    ),
    (
        OLD,
        NEW,
        {'up': lambda word: 'tape', 'down': lambda word: 'tape'},
        'functions',
    ),
    (
        fields.ListOfEnumField(valid_values=['a']),
        fields.ListOfEnumField(valid_values=['a', 'b']),
        {},
        'same values; down refuses ["b"]',
    ),
    (
        INTEGER,
        INTEGER,
        {'by': conversions.unit(1024)},
        'unit(1024); down refuses numbers that are no multiple of 1024',
    ),
    (
        TEXTS,
        TEXT,
        {'by': conversions.join(',')},
        "inverse of split(','); up refuses lists with ',' in an item, or of"
        ' one empty text',
    ),
    (
        SMALL,
        TEXTS,
        {'by': conversions.wrap()},
        'wrap(); down refuses lists of no or several items, results outside'
        ' the limits',
    ),
    (INTEGER, TEXT, {'up': str, 'down': int}, 'functions; loss unknown'),
]


@pytest.mark.parametrize(('old', 'new', 'options', 'description'), CASES)
def test_lock_describes_each_change_and_its_loss(
    old: Any, new: Any, options: dict[str, Any], description: str
) -> None:
    lock = snapshot.of_classes(
        [vobjects_type('1.1', x=changed('1.1', old, new, **options))]
    )

    (conversion,) = lock.schemas[-1].conversions
    assert str(conversion) == f'changed x by {description}'
    (parsed,) = parse.parse(text.dump(lock)).schemas[-1].conversions
    assert parsed.by == description
    opaque = ['Thing.x 1.1'] if 'unknown' in description else []
    assert [*losses.opaque(lock)] == opaque
    result = check.check(lock, lock, TODAY)
    report = reports.text(result)
    assert ('unknown: Thing.x 1.1\n' in report) == bool(opaque)
