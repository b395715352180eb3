# SPDX-License-Identifier: Apache-2.0
"""The library has the same results without the packages of ``speed``."""

from __future__ import annotations

import sys

from tests.programs import run_program

PROGRAM = """
import datetime
import sys

if sys.argv[1] == 'without':
    sys.modules.update(orjson=None, jsonschema_rs=None)
from vobjects import Request, Version, fields, register, to_json, wire
from vobjects.microversions import errors, validation


@register
class OrderRequest(Request):
    VERSION = '1.0'
    VERSION_MAP = {'1.0': '1.0'}
    fields = {
        'name': fields.NameField(),
        'count': fields.CapacityField(minimum=1, default=1),
        'at': fields.DateTimeField(nullable=True),
    }


at = datetime.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=datetime.UTC)
order = OrderRequest(name='tea', count=2, at=at)
document = to_json(order, {'OrderRequest': '1.0'})
print(wire.loads(wire.dumps(document)))
for body in (
    {'name': 'tea'},
    {'name': 'tea', 'count': '3'},
    {'name': ' tea'},
    {'name': 'tea', 'count': 0},
    {'name': 5},
    {'size': 1},
):
    try:
        validation.validate(
            OrderRequest, Version(1, 0), ('name', 'count', 'at'), body
        )
        print(body, 'is valid')
    except errors.ValidationError as error:
        print(body, error)
print(sorted({'orjson', 'jsonschema_rs'} & {
    name for name, module in sys.modules.items() if module
}), file=sys.stderr)
"""


def run(mode: str) -> tuple[str, str]:
    result = run_program(
        [sys.executable, '-W', 'ignore', '-c', PROGRAM, mode], check=True
    )
    return result.stdout, result.stderr.strip()


def test_results_when_packages_of_speed_are_missing_are_the_same() -> None:
    fast, loaded = run('with')
    assert loaded == "['jsonschema_rs', 'orjson']"
    slow, loaded = run('without')
    assert loaded == '[]'
    assert slow == fast
    assert slow.count('is valid') == 2
