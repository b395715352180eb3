# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine import spec_schema
from engine.profiles import base, nova_server
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects_simulated import tables

REGISTRY = base.Registry({'os.nova.server-1.0': nova_server.NovaServer()})


def spec(**changes: Any) -> dict[str, Any]:
    return {**engine_harness.SPEC, **changes}


def with_properties(**properties: Any) -> dict[str, Any]:
    return spec(properties={**engine_harness.SPEC['properties'], **properties})


@pytest.mark.parametrize(
    'good',
    [
        spec(),
        spec(version=1.0),
        spec(version=1),
        with_properties(networks=[{'network': 'a', 'security_groups': ['x']}]),
        with_properties(image=None, metadata={'any': {'thing': 1}}),
        with_properties(
            block_device_mapping_v2=[
                {
                    'source_type': 'image',
                    'destination_type': 'volume',
                    'volume_size': 1,
                }
            ]
        ),
    ],
)
def test_valid_spec_is_accepted(good: dict[str, Any]) -> None:
    assert REGISTRY.check_spec(good).name == 'os.nova.server'


@pytest.mark.parametrize(
    ('bad', 'message'),
    [
        ({}, r'spec\.type is required'),
        ({'type': 'os.nova.server'}, r'spec\.version is required'),
        (spec(type=['x']), r'spec\.type: must be a string'),
        (spec(version=True), 'must be a version such as'),
        (spec(version={}), 'must be a version such as'),
        (spec(extra=1), r'spec\.extra: unknown; known here: .*type'),
        (spec(description='x'), 'spec.description: unknown'),
        (spec(propertys={}), "unknown; did you mean 'properties'?"),
        (spec(properties=[]), r'spec\.properties: must be a map, not \[\]'),
        (spec(properties=None), 'must be a map, not None'),
        (spec(properties={}), r'properties\.flavor is required'),
        (
            with_properties(flavour='x'),
            r"spec\.properties\.flavour: unknown; did you mean 'flavor'\?",
        ),
        (
            with_properties(flavor={}),
            r'^spec\.properties\.flavor: must be a string or a number',
        ),
        (with_properties(config_drive='maybe'), 'must be true or false'),
        (with_properties(networks={}), 'networks: must be a list, not {}'),
        (
            with_properties(networks=[{}, {'netwrk': 'a'}]),
            r"networks\[1\]\.netwrk: unknown; did you mean 'network'\?",
        ),
        (
            with_properties(security_groups=['a', ['b']]),
            r"security_groups\[1\]: must be a string or a number, not \['b'",
        ),
        (
            with_properties(admin_pass=['b']),
            r"admin_pass: must be a string or a number, not '\*\*\*'$",
        ),
        (
            with_properties(block_device_mapping_v2=[{}]),
            r'block_device_mapping_v2\[0\]\.source_type is required',
        ),
        (
            with_properties(
                block_device_mapping_v2=[
                    {
                        'source_type': 'tape',
                        'destination_type': 'local',
                        'volume_size': True,
                    }
                ]
            ),
            "'image', 'snapshot', 'volume', 'blank', not 'tape'",
        ),
        (
            with_properties(name='x' * 256),
            r'properties\.name: must have at most 255 characters, not 256',
        ),
        (with_properties(networks=[{}]), r"\[0\]: needs 'port' or 'network'"),
        (
            with_properties(networks=[{'port': 'p', 'fixed_ip': '192.0.2.1'}]),
            "'port' and 'fixed_ip' exclude one another",
        ),
        (
            with_properties(networks=[{'port': 'p', 'vnic_type': 'fast'}]),
            r"vnic_type: must be one of 'normal', 'direct', 'macvtap', not",
        ),
    ],
)
def test_invalid_spec_is_rejected_with_its_location(
    bad: dict[str, Any], message: str
) -> None:
    with pytest.raises(errors.InvalidSpec, match=message):
        REGISTRY.check_spec(bad)


@pytest.mark.parametrize(
    ('bad', 'type_name'),
    [
        (spec(version='9.9'), 'os.nova.server-9.9'),
        (spec(type='os.other'), 'os.other-1.0'),
    ],
)
def test_spec_of_unknown_type_names_the_available_types(
    bad: dict[str, Any], type_name: str
) -> None:
    with pytest.raises(
        errors.ResourceNotFound,
        match=r'Available types: os\.nova\.server-1\.0',
    ) as caught:
        REGISTRY.check_spec(bad)
    assert caught.value.compat_message == (
        f"The profile_type '{type_name}' could not be found."
    )


@pytest.mark.parametrize(
    ('bad', 'compat_message'),
    [
        ({}, "The 'type' key is missing from the provided spec map."),
        (spec(extra=1), "Unrecognizable spec item 'extra'"),
        (with_properties(bogus=1), "Unrecognizable spec item 'bogus'"),
        (spec(properties={}), "Required spec item 'flavor' not provided"),
        (with_properties(name={}), "The value '{}' is not a valid string."),
        (with_properties(networks={}), "'{}' is not a List"),
    ],
)
def test_invalid_spec_has_the_message_of_senlin(
    bad: dict[str, Any], compat_message: str
) -> None:
    with pytest.raises(errors.InvalidSpec) as caught:
        REGISTRY.check_spec(bad)
    assert caught.value.compat_message == compat_message


def test_invalid_parameters_have_no_message_of_senlin() -> None:
    parameters: Any = ['x']
    with pytest.raises(
        errors.InvalidSpec, match='params: must be a map'
    ) as caught:
        REGISTRY.check_operation(
            'os.nova.server-1.0', 'change_password', parameters
        )
    assert caught.value.compat_message == ''


def test_schema_is_rendered_in_senlins_format() -> None:
    schema = spec_schema.render(nova_server.SCHEMA.properties)
    assert schema['flavor'] == {
        'type': 'String',
        'required': True,
        'updatable': True,
        'description': 'Name or ID of the flavor.',
    }
    assert schema['auto_disk_config']['default'] is True
    device = schema['block_device_mapping_v2']['schema']['*']
    assert device['type'] == 'Map'
    assert device['schema']['source_type']['constraints'] == [
        {
            'type': 'AllowedValues',
            'constraint': ['image', 'snapshot', 'volume', 'blank'],
        }
    ]


def test_type_is_registered_by_its_entry_point() -> None:
    assert base.Registry.load().get('os.nova.server-1.0').version == '1.0'


def test_unknown_type_is_not_found() -> None:
    with pytest.raises(errors.ResourceNotFound, match='profile_type'):
        REGISTRY.get('os.nova.server')


def test_changes_that_are_not_updatable_are_named() -> None:
    names = spec_schema.not_updatable(
        nova_server.SCHEMA.properties,
        {'flavor': 'a', 'key_name': 'x'},
        {'flavor': 'b', 'key_name': 'y', 'user_data': 'z'},
    )
    assert names == ['key_name', 'user_data']


def test_server_has_metadata_of_its_node_and_cluster(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    (node,) = request_helpers.get_cluster(engine, cluster).nodes
    (row,) = harness.rows(tables.SimulatedServer)
    metadata = {
        'cluster_node_id': node,
        'cluster_id': cluster,
        'cluster_node_index': '1',
    }
    assert row.properties['metadata'] == metadata
    shown = nova_server.NovaServer().adopt(
        harness.cloud, row.id, snapshot=False
    )
    assert 'metadata' not in shown
