# SPDX-License-Identifier: Apache-2.0
"""Classes that pickles in a database name."""

from __future__ import annotations

import pytest

from .conftest import Compare

DATA = """
import enum

class Status(enum.Enum):
    OPEN = 'open'
"""

KEPT = ('STORED_CLASS_KEPT', 'shop', 'status')


@pytest.mark.parametrize(
    ('reader', 'expected'),
    [
        (
            'import pickle\nimport sqlalchemy\npickle.loads(b"")',
            {KEPT},
        ),
        (
            'import sqlalchemy\nsqlalchemy.Column(sqlalchemy.PickleType)',
            {KEPT},
        ),
        ('from sqlalchemy import PickleType as P\nc = f(P())', {KEPT}),
        ('import pickle\npickle.loads(b"")', set()),
        ('import json, sqlalchemy\njson.loads("")', set()),
    ],
)
def test_compare_removed_module_of_data(
    compare: Compare, reader: str, expected: set[tuple[str, str, str]]
) -> None:
    old = {'status.py': DATA, 'db.py': reader}

    assert compare(old, {'db.py': reader}) == expected


def test_compare_removed_package_is_one_finding(compare: Compare) -> None:
    old = {
        'db.py': READER,
        'data/__init__.py': '',
        'data/order.py': DATA,
        'data/parcel.py': DATA,
    }

    assert compare(old, {'db.py': READER}) == {
        ('STORED_CLASS_KEPT', 'shop.data', '')
    }


def test_compare_removed_base_of_enumerations_is_no_finding(
    compare: Compare,
) -> None:
    base = 'import enum\n\nclass Text(str, enum.Enum):\n    pass'
    old = {'text.py': base, 'db.py': READER}

    assert compare(old, {'db.py': READER}) == set()


READER = 'import pickle, sqlalchemy\npickle.loads(b"")'


@pytest.mark.parametrize(
    ('before', 'after'),
    [
        (DATA, {'status.py': ''}),
        (DATA, {'a.py': "import sys\nsys.modules['shop.status'] = sys"}),
        (f'{DATA}\nclass Manager:\n    pass', {}),
    ],
    ids=['stays', 'alias', 'code'],
)
def test_compare_module_that_can_be_imported_or_has_code_is_no_finding(
    compare: Compare, before: str, after: dict[str, str]
) -> None:
    old = {'status.py': before, 'db.py': READER}

    assert compare(old, {'db.py': READER, **after}) == set()
