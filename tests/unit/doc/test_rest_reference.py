# SPDX-License-Identifier: Apache-2.0
"""The reference of the REST API is complete, and its examples are valid."""

from __future__ import annotations

import dataclasses
import json
import re
import urllib.parse
from typing import Any

import jsonschema_rs
import pytest
import yaml

from api.contract import contract
from tests.unit.doc import extensions
from vobjects.microversions.presets import SENLIN
from vobjects.versions import Version
from vobjects_contract.registry import Contract, Operation, OperationShape
from vobjects_testing.contract_checks import ContractChecker

reference = extensions.load('rest_reference')

CONTRACT = contract()
CHECKER = ContractChecker(CONTRACT)
SAMPLES = yaml.safe_load(reference.SAMPLES.read_text())
OPERATIONS = reference.operations()
TAGS = sorted({operation.tag for operation in OPERATIONS})


def test_each_group_of_operations_has_a_page() -> None:
    pages = {
        path.stem: path.read_text()
        for path in (extensions.DOC / 'source/api').glob('*.rst')
    }
    assert sorted(pages) == TAGS
    for tag, text in pages.items():
        assert f'.. rest-operations:: {tag}\n' in text


def test_operations_are_those_of_the_contract() -> None:
    names = [name for operation in OPERATIONS for name in operation.names]
    assert sorted(names) == sorted(op.name for op in CONTRACT.operations)
    for operation in OPERATIONS:
        assert (operation.since, operation.until) == CONTRACT.since(
            operation.name
        )


@pytest.mark.parametrize('tag', TAGS)
def test_page_has_all_parts_of_each_operation(tag: str) -> None:
    text = reference.page(tag)
    for operation in OPERATIONS:
        if operation.tag == tag:
            assert f'``{operation.method}`` ``{operation.path}``' in text
            for part in operation.parts.values():
                assert f'``{part.name}``' in text


def test_page_shows_type_limits_default_and_microversion() -> None:
    rows = re.findall(
        r'\* - ``(\S+)``(.*)\n +- (.*)\n +- (.*)\n +- (.*)',
        reference.page('clusters'),
    )
    found = {row[0]: row[1:] for row in reversed(rows)}
    assert found['cluster.name'][:3] == ('', 'body', 'string')
    optional, place, type_, facts = found['cluster.min_size']
    assert (optional, place, type_) == (' (optional)', 'body', 'integer')
    assert 'At least 0. Default: ``0``.' in facts
    assert '*New in* 1.7; :ref:`accepted before' in found['cluster.config'][3]
    assert '``CRITICAL``' in found['status'][3]
    assert '``init_at``' in found['sort'][3]


def test_table_of_errors_has_each_status() -> None:
    page = (extensions.DOC / 'source/api-reference.rst').read_text()
    listed = set(map(int, re.findall(r'   \* - ([45]\d\d)\n', page)))
    assert listed == {
        status
        for operation in OPERATIONS
        for status in operation.statuses
        if status >= 400
    }


def test_texts_are_all_used() -> None:
    texts = yaml.safe_load(reference.PARAMETERS.read_text())
    used = {
        next(key for key in reference.keys_of(op.tag, part) if key in texts)
        for op in OPERATIONS
        for part in op.parts.values()
    }
    assert set(texts) - used == set()


def test_text_when_missing_names_the_file_and_the_key() -> None:
    part = next(iter(OPERATIONS[-1].parts.values()))
    with pytest.raises(reference.MissingText, match='has no text about'):
        reference.text_of('clusters', part, {})


# Examples


@pytest.mark.parametrize('name', SAMPLES)
def test_example_conforms_to_the_contract(name: str) -> None:
    sample = SAMPLES[name]
    newest = CONTRACT.versions[-1]
    method = name.partition(' ')[0]
    path, _, query = sample['path'].partition('?')
    shape = CONTRACT.accepted.at(newest)[name]
    if shape.body is not None and (shape.body_required or 'body' in sample):
        jsonschema_rs.validator_for(shape.body).validate(sample['body'])
    names = {key for key, _ in urllib.parse.parse_qsl(query)}
    assert names <= set(shape.query.get('properties', ()))
    CHECKER.check(
        method,
        path,
        str(newest),
        sample['status'],
        sample.get('response'),
        name.partition(' (')[2].rstrip(')'),
    )


def test_examples_contain_no_name_of_the_machine_that_recorded_them() -> None:
    urls = re.findall(r'http://[^/"]+', json.dumps(SAMPLES))
    assert set(urls) == {'http://127.0.0.1:8777'}
    services = SAMPLES['GET /v1/services']['response']['services']
    assert {service['host'] for service in services} == {'engine-1'}


# Microversions


def _object(**properties: Any) -> dict[str, Any]:
    return {
        'type': 'object',
        'properties': properties,
        'additionalProperties': False,
    }


def _shape_at(version: Version) -> OperationShape:
    query = {'limit': {'type': 'integer'}}
    if version >= Version(1, 2):
        query['color'] = {'type': 'string'}
    if version < Version(1, 3):
        query['shade'] = {'type': 'string'}
    return OperationShape({}, _object(**query), None, {204: None})


def _removed_shape_at(version: Version) -> OperationShape | None:
    if version > Version(1, 1):
        return None
    return OperationShape({}, _object(), None, {204: None})


def test_parts_when_added_or_removed_have_their_microversions() -> None:
    operations = {
        operation.path: operation
        for operation in reference.operations_of(
            Contract(
                dataclasses.replace(SENLIN, maximum=Version(1, 4)),
                [
                    Operation('GET', '/a', _shape_at, tag='a'),
                    Operation('GET', '/b', _removed_shape_at, tag='b'),
                ],
            )
        )
    }
    assert operations['/a'].until is None
    parts = operations['/a'].parts
    assert parts['query', 'limit'].since is None
    assert parts['query', 'color'].since == Version(1, 2)
    assert parts['query', 'color'].until is None
    assert parts['query', 'shade'].until == Version(1, 2)
    assert operations['/b'].until == Version(1, 1)
