# SPDX-License-Identifier: Apache-2.0
"""Responses of five services to each kind of request, from their code.

Outcomes: a version, where ``X`` stands for the service's major; ``default``,
``max``; ``malformed``, ``other service``, ``unsupported``, ``last`` (of two
versions); or the status of a method that the version lacks. ``SVC`` stands
for the service type.
"""

from __future__ import annotations

import csv
import pathlib
from typing import NamedTuple

NAMES = ('nova', 'senlin', 'magnum', 'barbican', 'ironic')

#: Kind of request -> header; None: no header.
HEADERS = {
    'no header': None,
    'empty header': '',
    'version': 'SVC X.5',
    'two digits': 'SVC X.10',
    'other': 'object-store 1.0',
    'multi': 'object-store 1.0, SVC X.3',
    'latest': 'SVC latest',
    'LATEST': 'SVC LATEST',
    'other latest': 'object-store latest',
    'pony': 'SVC pony',
    'leading zero': 'SVC X.03',
    'plus sign': 'SVC +X.3',
    'underscore': 'SVC X.1_0',
    'SVC alone': 'SVC',
    'version alone': 'X.5',
    'SVC twice': 'SVC X.5, SVC X.6',
    'too high': 'SVC X.999',
    'major above': 'SVC 9.9',
    'major below': 'SVC 0.9',
    'negative': 'SVC X.-1',
    'method missing': 'SVC X.3',
}


def _row(*outcomes):
    return dict(zip(NAMES, outcomes, strict=True))


def _all(outcome):
    return dict.fromkeys(NAMES, outcome)


#: Kind of request -> service -> outcome; for some services only.
ORIGINAL = {
    'no header': _all('default'),
    'empty header': _row(
        'default', 'default', 'malformed', 'default', 'default'
    ),
    'version': _all('X.5'),
    'two digits': _all('X.10'),
    'other': _row('default', 'default', 'other service', 'default', 'default'),
    'multi': _row('X.3', 'X.3', 'malformed', 'X.3', 'X.3'),
    'latest': _all('max'),
    'LATEST': _row('malformed', 'max', 'max', 'malformed', 'max'),
    'other latest': _row('default', 'default', 'max', 'default', 'default'),
    'pony': _all('malformed'),
    'leading zero': _row('malformed', 'malformed', 'X.3', 'X.3', 'X.3'),
    'plus sign': _row('malformed', 'malformed', 'X.3', 'X.3', 'X.3'),
    'underscore': _row('malformed', 'malformed', 'X.10', 'X.10', 'X.10'),
    'SVC alone': _row('default', 'default', 'malformed', 'default', 'default'),
    'version alone': _row(
        'default', 'default', 'malformed', 'default', 'default'
    ),
    'SVC twice': _row('last', 'last', 'malformed', 'last', 'last'),
    'too high': _all('unsupported'),
    'major above': _all('unsupported'),
    'method missing': _row('404', '400', '406', '404', '404'),
    'negative': dict.fromkeys(('magnum', 'barbican', 'ironic'), 'unsupported'),
    'major below': dict.fromkeys(
        ('magnum', 'barbican', 'ironic'), 'unsupported'
    ),
    'enormous': {
        'nova': '500',
        'senlin': '500',
        'magnum': 'malformed',
        'barbican': 'malformed',
        'ironic': 'malformed',
    },
    'early field': {'senlin': 'dropped'},
}

#: Service -> outcome -> status.
STATUSES = {
    'nova': {'malformed': 400, 'unsupported': 406},
    'senlin': {'malformed': 400, 'unsupported': 406},
    'magnum': {'malformed': 406, 'unsupported': 406, 'other service': 406},
    'barbican': {'malformed': 400, 'unsupported': 406},
    'ironic': {'malformed': 406, 'unsupported': 406},
}


class Difference(NamedTuple):
    """A row of the table in the documentation."""

    preset: str
    request: str
    original: str
    here: str
    reason: str


def differences():
    """Return the rows of doc/source/preset_differences.csv."""
    root = pathlib.Path(__file__).parents[4]
    path = root / 'doc' / 'source' / 'preset_differences.csv'
    with path.open(newline='', encoding='utf-8') as file:
        return [Difference(**row) for row in csv.DictReader(file)]
