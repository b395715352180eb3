# SPDX-License-Identifier: Apache-2.0
"""The service in ``doc/source/migrate.rst`` before and after its migration."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import pytest

from tests.programs import run_program

EXAMPLES = pathlib.Path(__file__).parents[2] / 'doc' / 'examples'

#: Sends requests to a service and converts an object for old engines, in a
#: separate process, because both services register the same types.
SCRIPT = """
import importlib, json, sys
import webob

service = importlib.import_module(sys.argv[1])
results = {}
for version in ('', '1.0', '1.1', '1.2', '1.3', 'latest', '1.4', 'x'):
    for body in json.loads(sys.argv[2]):
        headers = {'OpenStack-API-Version': f'notes {version}'}
        request = webob.Request.blank(
            '/v1/notes', method='POST', headers=headers if version else {}
        )
        request.body = json.dumps(body).encode()
        response = request.get_response(service.application)
        results[f'{version} {body}'] = [
            response.status_int,
            response.json if response.status_int == 201 else None,
        ]
primitives = []
for values in ({'text': 't'}, {'text': 't', 'colour': 'white'}):
    note = service.NoteCreateRequest(**values)
    for version in ('1.0', '1.1'):
        primitive = service.to_engine(note, version)
        primitive['versioned_object.changes'].sort()  # from a set
        primitives.append(primitive)
print(json.dumps([results, primitives]))
"""

BODIES = [
    {'text': 't'},
    {'text': 't', 'colour': 'red'},
    {'text': 7},
    {'colour': 'red'},
    {'text': 't', 'size': 1},
    [],
]


def observe(name: str) -> list[Any]:
    """Return responses by request, and primitives for engines."""
    completed = run_program(
        [
            sys.executable,
            '-W',
            'ignore',
            '-c',
            SCRIPT,
            name,
            json.dumps(BODIES),
        ],
        cwd=EXAMPLES,
        check=True,
    )
    observed: list[Any] = json.loads(completed.stdout)
    return observed


@pytest.fixture(scope='module')
def before() -> list[Any]:
    return observe('notes_before')


@pytest.fixture(scope='module')
def after() -> list[Any]:
    return observe('notes_after')


def test_migrated_service_responds_as_before(
    before: list[Any], after: list[Any]
) -> None:
    assert after[0] == before[0]
    assert {status for status, _ in after[0].values()} == {201, 400, 406}


def test_migrated_service_sends_the_same_primitives(
    before: list[Any], after: list[Any]
) -> None:
    assert after[1] == before[1]
