# SPDX-License-Identifier: Apache-2.0
"""Answers held against a contract."""

import pytest

from tests.unit.vobjects_contract import samples
from vobjects_contract import standard_schemas
from vobjects_testing.contract_checks import ContractChecker

UUID = '6f3b3bd6-d1ef-4b6b-9d4b-7b1f0e0f4c8e'
THING = {'thing': {'id': UUID, 'note': None}}
ERROR = {
    'errors': [
        {
            'code': 'sample.x',
            'status': 404,
            'title': 't',
            'detail': 'd',
            'links': [{'rel': 'help', 'href': 'https://example.org'}],
        }
    ]
}
VERSION = {
    'version': {
        'id': 'v1',
        'status': 'CURRENT',
        'min_version': '1.0',
        'max_version': '1.5',
        'links': [{'rel': 'self', 'href': 'https://example.org/v1/'}],
    }
}
NAMED = {'type': 'object', 'title': 'Named'}


@pytest.fixture
def checker(monkeypatch):
    samples.register_types(monkeypatch)
    return ContractChecker(
        samples.contract(
            samples.CREATE,
            samples.SHOW,
            samples.fixed('GET /v1/things/named', v1_0=NAMED),
            *standard_schemas.discovery_operations(samples.POLICY),
        )
    )


@pytest.mark.parametrize(
    'response',
    [
        ('POST', '/v1/things', '1.1', 201, THING),
        ('POST', '/v1/things', '1.1', 400, ERROR),
        ('GET', '/v1/things/x', '1.2', 404, ERROR),
        ('GET', '/v1/things/named', '1.4', 200, {}),
        ('HEAD', '/v1/things/x', '1.3', 200, None),
        ('GET', '/v1/nothing', '1.3', 404, ERROR),
        ('PUT', '/v1/things/x', '1.3', 405, ERROR),
        ('GET', '/v1/things/x', '1.9', 406, ERROR),
        ('GET', '/v1/', '1.0', 200, VERSION),
        ('GET', '/v1', '1.5', 200, VERSION),
        ('GET', '//', '1.5', 404, ERROR),
        ('GET', '/v1//', '1.5', 404, ERROR),
    ],
)
def test_response_when_declared_passes(checker, response):
    checker.check(*response)


@pytest.mark.parametrize(
    ('response', 'problem'),
    [
        (('POST', '/v1/things', '1.1', 409, ERROR), r'not one of \[201'),
        (('POST', '/v1/things', '1.2', 201, THING), '"size" is a required'),
        (('POST', '/v1/things', '1.1', 201, {}), '"thing" is a required'),
        (('POST', '/v1/things', '1.1', 201, None), 'null is not of type'),
        (('POST', '/v1/things', '1.1', 400, {}), '"errors" is a required'),
        (('GET', '/v1/things/x', '1.2', 200, THING), 'does not exist at 1.2'),
        (('GET', '/v1/things/named', '1.3', 404, ERROR), 'is not one of'),
        (('GET', '/v1/things/x', '1.9', 200, THING), 'unsupported version'),
        (('GET', '/', '1.0', 404, ERROR), r'not one of \[200'),
        (('GET', '/v1/', '1.0', 200, {}), '"version" is a required'),
        (
            ('POST', '/v1/things', '1.1', 201,
             {'thing': {'id': 'x', 'note': None}}),
            'x',
        ),
    ],
)  # fmt: skip
def test_response_when_not_declared_is_reported(checker, response, problem):
    with pytest.raises(AssertionError, match=problem):
        checker.check(*response)
