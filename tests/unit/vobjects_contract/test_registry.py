# SPDX-License-Identifier: Apache-2.0
"""The contract registry."""

import pytest

from tests.unit.vobjects_contract import samples
from vobjects import exceptions
from vobjects.versions import Version
from vobjects_contract.registry import UNDECLARED, Operation


def test_contract_has_each_operation_at_its_versions():
    contract = samples.contract()

    assert [str(v) for v in contract.versions] == [
        '1.0', '1.1', '1.2', '1.3', '1.4', '1.5',
    ]  # fmt: skip
    assert list(contract.at(Version(1, 2))) == ['POST /v1/things']
    assert list(contract.at(Version(1, 3))) == [
        'POST /v1/things',
        'GET /v1/things/{identity}',
    ]
    assert contract.since('GET /v1/things/{identity}') == ((1, 3), None)


def test_removed_operation_has_a_last_version():
    schema = {'type': 'object'}
    contract = samples.contract(samples.fixed(v1_1=schema, v1_4=None))

    assert contract.since('GET /v1/x') == ((1, 1), (1, 3))


def test_operation_of_an_action_is_named_by_its_key():
    operation = Operation(
        'POST', '/v1/x/{id}/actions', lambda version: None, key='scale_in'
    )

    assert operation.name == 'POST /v1/x/{id}/actions (scale_in)'


@pytest.mark.parametrize('version', [Version(1, 6), Version(2, 0), Version()])
def test_unknown_microversion_is_rejected(version):
    with pytest.raises(exceptions.VobjectsError, match=r'1\.0 to 1\.5'):
        samples.contract().at(version)


def test_operation_when_declared_twice_is_rejected():
    with pytest.raises(exceptions.DeclarationError, match='POST /v1/things'):
        samples.contract(samples.CREATE, samples.CREATE)


def test_undeclared_names_parts_without_a_schema():
    partial = {
        'type': 'object',
        'properties': {'a': {'items': UNDECLARED}, 'b': {'type': 'object'}},
        'additionalProperties': {},
        'patternProperties': {'^x': {'oneOf': [{'type': 'null'}, {}]}},
        'allOf': [{'properties': {'c': True, 'd': {'prefixItems': [{}]}}}],
    }
    contract = samples.contract(
        samples.CREATE, samples.fixed(v1_4=partial, v1_5=UNDECLARED)
    )

    assert list(contract.undeclared()) == [
        'GET /v1/x at 1.4: response 200.a[] has no schema',
        'GET /v1/x at 1.4: response 200.* has no schema',
        'GET /v1/x at 1.4: response 200.<^x> has no schema',
        'GET /v1/x at 1.4: response 200.d[0] has no schema',
        'GET /v1/x at 1.5: response 200 has no schema',
    ]
