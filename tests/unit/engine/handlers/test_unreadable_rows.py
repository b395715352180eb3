# SPDX-License-Identifier: Apache-2.0
"""A row whose JSON cannot be read harms no other row."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy

from engine.db import models, types
from tests.unit.engine import (
    engine_harness,
    in_process_api,
    request_helpers,
)
from vobjects.clustering.requests import clusters, nodes

#: Texts that are no JSON object.
GARBAGE = ('', '{"a":', '[1]', 'null', '5', '\x01', '[' * 9000)

#: Table -> path of the list that shows it.
LISTS = {
    'actions': '/v1/actions',
    'cluster_policies': '/v1/clusters/c/policies',
    'clusters': '/v1/clusters',
    'events': '/v1/events',
    'nodes': '/v1/nodes',
    'policies': '/v1/policies',
    'profiles': '/v1/profiles',
    'receivers': '/v1/receivers',
}

COLUMNS = [
    (table.name, column.name)
    for table in models.Base.metadata.sorted_tables
    for column in table.columns
    if table.name in LISTS and isinstance(column.type, types.JsonObject)
]


def write(
    harness: engine_harness.Harness, table: str, column: str, text: str
) -> str:
    """Replace a column of the oldest row, and return the row's ID."""
    name = f'"{table}"'
    with harness.database.engine.begin() as connection:
        row = connection.execute(
            sqlalchemy.text(f'SELECT id FROM {name} ORDER BY rowid')
        ).first()
        assert row is not None
        connection.execute(
            sqlalchemy.text(
                f'UPDATE {name} SET "{column}" = :text WHERE id = :id'
            ),
            {'text': text, 'id': row.id},
        )
    return str(row.id)


@pytest.fixture
def api(harness: engine_harness.Harness) -> Any:
    engine = harness.engine()
    client = in_process_api.connect(in_process_api.EngineClient(engine))
    request_helpers.create_cluster(engine, 2)
    spec = {
        'type': 'senlin.policy.deletion',
        'version': '1.1',
        'properties': {'criteria': 'RANDOM'},
    }
    for path, body in (
        ('/v1/policies', {'policy': {'name': 'p', 'spec': spec}}),
        ('/v1/clusters/c/actions', {'policy_attach': {'policy_id': 'p'}}),
        (
            '/v1/receivers',
            {
                'receiver': {
                    'name': 'r',
                    'type': 'webhook',
                    'cluster_id': 'c',
                    'action': 'CLUSTER_SCALE_OUT',
                }
            },
        ),
    ):
        assert client('POST', path, body).status in (201, 202)
        engine.run_actions()
    return client


@pytest.mark.parametrize(('table', 'column'), COLUMNS)
def test_list_shows_rows_that_cannot_be_read(
    harness: engine_harness.Harness, api: Any, table: str, column: str
) -> None:
    path = LISTS[table]
    for text in GARBAGE:
        id_ = write(harness, table, column, text)
        for shown in LISTS.values():
            listed = api('GET', shown)
            assert listed.status == 200, (shown, text)
            (rows,) = (v for k, v in listed.json.items() if k != 'links')
            assert rows, shown
        if table != 'cluster_policies':
            assert api('GET', f'{path}/{id_}').status == 200


@pytest.mark.parametrize('text', GARBAGE)
def test_unreadable_metadata_is_named_and_can_be_replaced(
    harness: engine_harness.Harness, api: Any, text: str
) -> None:
    id_ = write(harness, 'nodes', 'metadata', text)
    shown = api('GET', f'/v1/nodes/{id_}').json['node']
    assert shown['metadata'] == types.UNREADABLE
    changed = api('PATCH', f'/v1/nodes/{id_}', {'node': {'metadata': {}}})
    assert changed.status == 202


@pytest.mark.parametrize(
    'text',
    [
        *GARBAGE,
        '{"a": 1}',
        '{"versioned_object.name": "NodeCheckRequest"}',
        '{"versioned_object.name": 5}',
    ],
)
def test_action_whose_inputs_cannot_be_read_waits_alone(
    harness: engine_harness.Harness,
    caplog: pytest.LogCaptureFixture,
    text: str,
) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 1)
    caplog.set_level('INFO')
    (node,) = harness.rows(models.Node)
    engine.call(nodes.NodeCheckRequest(identity=node.id))
    with harness.database.engine.begin() as connection:
        connection.execute(
            sqlalchemy.text(
                "UPDATE actions SET inputs = :text WHERE status = 'READY'"
            ),
            {'text': text},
        )
    engine.call(clusters.ClusterScaleOutRequest(identity='c', count=1))
    engine.run_actions()
    assert harness.statuses('NODE_CHECK') == ['READY']
    assert harness.statuses('CLUSTER_SCALE_OUT') == ['SUCCEEDED']
    assert 'the stored inputs are no request' in caplog.text
    assert not [record for record in caplog.records if record.exc_info]
