# SPDX-License-Identifier: Apache-2.0
"""A row that cannot be read harms no other row."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy
from oslo_db import exception as oslo_db_exception

from engine.db import models, types
from tests.unit.engine import (
    in_process_api,
    request_helpers,
)
from tests.unit.engine.conftest import Prepare
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies import policy_helpers
from vobjects.clustering import topics
from vobjects.clustering.requests import clusters, nodes
from vobjects_sql import stored
from vobjects_sql.columns import utcnow

#: An expression of text that is not UTF-8; no parameter has such a value.
INVALID_TEXT = "CAST(x'61ff' AS TEXT)"

#: Texts that are no JSON object.
GARBAGE = ('', '{"a":', '[1]', 'null', '5', '\x01', '[' * 9000, INVALID_TEXT)

#: Values that SQLite stores in a column of any type.
MISPLACED: tuple[Any, ...] = ('abc', '', 2**62, -1.5, None, b'\xff\0')

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

#: They are read with their cluster only.
BINDINGS = {'cluster_policies'}

COLUMNS = [
    (table.name, column.name)
    for table in models.Base.metadata.sorted_tables
    for column in table.columns
    if table.name in LISTS
    and isinstance(column.type, types.JsonObject | stored.LazyStoredObject)
]


def write(harness: Harness, table: str, column: str, text: Any) -> str:
    """Replace a column of the oldest row, and return the row's ID."""
    name = f'"{table}"'
    with harness.database.engine.begin() as connection:
        row = connection.execute(
            sqlalchemy.text(f'SELECT id FROM {name} ORDER BY rowid')
        ).first()
        assert row is not None
        value = INVALID_TEXT if text == INVALID_TEXT else ':text'
        connection.execute(
            sqlalchemy.text(
                f'UPDATE {name} SET "{column}" = {value} WHERE id = :id'
            ),
            {'text': text, 'id': row.id},
        )
    return str(row.id)


def connect(harness: Harness) -> Any:
    engine = harness.engine()
    return in_process_api.connect(in_process_api.EngineClient(engine))


def write_rows(harness: Harness) -> None:
    """Write rows to each table of :data:`LISTS`."""
    engine = harness.engine()
    request_helpers.create_cluster(engine, 2)
    policy_helpers.create_policy(engine, 'deletion', version='1.1')
    assert policy_helpers.attach(engine).status == 'SUCCEEDED'
    request_helpers.create_webhook(engine)


@pytest.fixture
def api(harness: Harness, prepare: Prepare) -> Any:
    prepare(harness, write_rows)
    return connect(harness)


@pytest.mark.parametrize(('table', 'column'), COLUMNS)
def test_list_shows_rows_that_cannot_be_read(
    harness: Harness, api: Any, table: str, column: str
) -> None:
    path = LISTS[table]
    for text in GARBAGE:
        id_ = write(harness, table, column, text)
        # Other lists read some of these rows, too.
        for shown in LISTS.values() if text == GARBAGE[0] else [path]:
            listed = api('GET', shown)
            assert listed.status == 200, (shown, text)
            (rows,) = (v for k, v in listed.json.items() if k != 'links')
            assert rows, shown
        if table != 'cluster_policies':
            assert api('GET', f'{path}/{id_}').status == 200


def listed_ids(api: Any, path: str) -> set[str]:
    listed = api('GET', path)
    assert listed.status == 200, path
    (rows,) = (v for k, v in listed.json.items() if k != 'links')
    return {row['id'] for row in rows}


def check_requests_for_a_row(
    api: Any, caplog: pytest.LogCaptureFixture, table: str, id_: str
) -> None:
    """Check that each request for a row succeeds, or that the log names it."""
    path = f'{LISTS[table]}/{id_}'
    requests = [('GET', path)]
    if table in ('clusters', 'nodes'):
        requests.append(('POST', f'{path}/actions'))
    for method, target in requests:
        response = api(method, target, {'check': {}} if 'P' in method else {})
        if response.status not in (200, 202, 404, 409):
            (error,) = response.json['errors']
            assert error['code'] == 'clustering.unreadable-row', error
            assert error['status'] == response.status == 500
            assert table not in error['detail']
            assert f'in row {id_} of table {table}: ' in caplog.text


@pytest.mark.parametrize('table', sorted(LISTS.keys() - BINDINGS))
def test_log_names_the_row_that_cannot_be_read_and_lists_omit_it(
    harness: Harness,
    api: Any,
    caplog: pytest.LogCaptureFixture,
    table: str,
) -> None:
    path = LISTS[table]
    before = listed_ids(api, path)
    assert len(before) > 1 or table not in ('actions', 'events', 'nodes')
    columns = [
        column.name
        for column in models.Base.metadata.tables[table].columns
        if not column.primary_key and (table, column.name) not in COLUMNS
    ]
    for column in columns:
        with harness.database.engine.begin() as connection:
            values = connection.exec_driver_sql(
                f'SELECT "{column}", rowid FROM "{table}"'
            ).all()
        for value in (*MISPLACED, INVALID_TEXT):
            try:
                id_ = write(harness, table, column, value)
            except oslo_db_exception.DBError:
                continue  # a constraint of the column
            assert before - listed_ids(api, path) <= {id_}, (column, value)
            check_requests_for_a_row(api, caplog, table, id_)
        with harness.database.engine.begin() as connection:
            connection.exec_driver_sql(
                f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?',
                [tuple(row) for row in values],
            )
    assert listed_ids(api, path) == before


@pytest.mark.parametrize('column', models.LEDGER.members.columns.keys())
def test_list_of_services_shows_the_rows_beside_one_that_cannot_be_read(
    harness: Harness, api: Any, column: str
) -> None:
    members = models.LEDGER.members
    values = {
        'binary': 'engine',
        'topic': topics.ENGINE,
        'release': '1.0',
        'manifest_digest': 'a',
        'manifest': {},
        'state': 'up',
        'seen_generation': 0,
        'heartbeat': utcnow(),
    }
    cases = [('?', (value,)) for value in MISPLACED]
    for assigned, parameters in [*cases, (INVALID_TEXT, ())]:
        with harness.database.engine.begin() as connection:
            connection.execute(sqlalchemy.delete(members))
            for id_ in ('good', 'bad'):
                connection.execute(
                    sqlalchemy.insert(members).values(
                        id=id_, host=id_, **values
                    )
                )
            try:
                connection.exec_driver_sql(
                    f'UPDATE {members.name} SET "{column}" = {assigned}'
                    " WHERE id = 'bad'",
                    parameters,
                )
            except oslo_db_exception.DBError:
                continue  # a constraint of the column
        ids = listed_ids(api, '/v1/services')
        assert 'good' in ids, (assigned, parameters)


@pytest.mark.parametrize('descending', [False, True])
@pytest.mark.parametrize('limit', [1, 2, 3, 9])
def test_pages_with_a_status_of_a_newer_release_are_full(
    harness: Harness,
    engine: Engine,
    caplog: pytest.LogCaptureFixture,
    limit: int,
    descending: bool,
) -> None:
    client = in_process_api.connect(in_process_api.EngineClient(engine))
    request_helpers.create_cluster(engine, 6)
    rows = sorted(harness.rows(models.Node), key=lambda row: row.index)
    ids = [row.id for row in rows]
    later = {ids[0], ids[2], ids[3], ids[5]}
    with harness.database.engine.begin() as connection:
        for id_ in later:
            connection.execute(
                sqlalchemy.text(
                    "UPDATE nodes SET status = 'LATER' WHERE id = :id"
                ),
                {'id': id_},
            )
    shown: list[str] = []
    query = f'/v1/nodes?limit={limit}&sort=index:{["asc", "desc"][descending]}'
    path = query
    while True:
        page = [node['id'] for node in client('GET', path).json['nodes']]
        if not page:
            break
        assert len(page) == min(limit, 2 - len(shown))
        shown += page
        path = f'{query}&marker={shown[-1]}'
    expected = [id_ for id_ in ids if id_ not in later]
    assert shown == (expected[::-1] if descending else expected)
    assert 'rows of table nodes from a list; the first is' in caplog.text
    assert 'LATER' in caplog.text
    assert client('GET', f'/v1/nodes/{expected[0]}').status == 200


@pytest.mark.parametrize('text', GARBAGE)
def test_unreadable_metadata_is_named_and_can_be_replaced(
    harness: Harness, api: Any, text: str
) -> None:
    id_ = write(harness, 'nodes', 'metadata', text)
    shown = api('GET', f'/v1/nodes/{id_}').json['node']
    assert shown['metadata'] == types.UNREADABLE
    changed = api('PATCH', f'/v1/nodes/{id_}', {'node': {'metadata': {}}})
    assert changed.status == 202


@pytest.mark.parametrize('text', ['NaN', '-Infinity', '"\\ud800"'])
def test_stored_number_that_json_lacks_is_shown_as_null(
    harness: Harness, api: Any, text: str
) -> None:
    for table, path in LISTS.items():
        if table in ('nodes', 'clusters', 'profiles'):
            id_ = write(harness, table, 'metadata', f'{{"a": {text}}}')
            for shown in (path, f'{path}/{id_}'):
                content = api('GET', shown).content
                json.loads(content, parse_constant=pytest.fail)
                assert (b'"a":null' in content) == ('"' not in text)


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
    harness: Harness,
    engine: Engine,
    caplog: pytest.LogCaptureFixture,
    text: str,
) -> None:
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
    engine.run(clusters.ClusterScaleOutRequest(identity='c', count=1))
    assert harness.statuses('NODE_CHECK') == ['READY']
    assert harness.statuses('CLUSTER_SCALE_OUT') == ['SUCCEEDED']
    assert 'the stored inputs are no request' in caplog.text
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize('column', ['start_time', 'deaths', 'claims'])
@pytest.mark.parametrize('reason', ['overdue', 'orphan', 'repeated orphan'])
def test_action_that_cannot_be_read_is_cleaned_up_alone(
    harness: Harness, engine: Engine, reason: str, column: str
) -> None:
    unreadable, other = (
        engine.call(clusters.ClusterCheckRequest(identity=cluster)).action
        for cluster in [
            request_helpers.create_cluster(engine, 0, name=name)
            for name in ('c', 'd')
        ]
    )
    if reason == 'overdue':
        changed = "deadline = '2020-01-01 00:00:00.000000'"
    else:
        assert engine.scheduler.claim()
        assert engine.scheduler.claim()
        changed = f'deaths = {9 if reason == "repeated orphan" else 0}'
    with harness.database.engine.begin() as connection:
        connection.exec_driver_sql(
            f'UPDATE actions SET {changed} WHERE id IN (?, ?)',
            (unreadable, other),
        )
        connection.exec_driver_sql(
            f"UPDATE actions SET {column} = 'abc' WHERE id = ?", (unreadable,)
        )
    if reason == 'overdue':
        engine.reaper.sweep()
    else:
        harness.detect_death(engine)
    expected = 'READY' if reason == 'orphan' else 'FAILED'
    with harness.database.engine.begin() as connection:
        found = connection.exec_driver_sql(
            'SELECT status FROM actions WHERE id = ?', (other,)
        )
        assert found.scalar_one() == expected


@pytest.mark.parametrize('table', ['actions', 'nodes', 'clusters', 'events'])
def test_rows_with_invalid_text_stop_no_other_work(
    harness: Harness,
    engine: Engine,
    caplog: pytest.LogCaptureFixture,
    table: str,
) -> None:
    for name in ('c', 'd'):
        request_helpers.create_cluster(engine, 1, name=name)
    engine.call(clusters.ClusterCheckRequest(identity='c'))
    model = models.Base.metadata.tables[table]
    texts = [
        f'"{column.name}" = {INVALID_TEXT}'
        for column in model.columns
        if isinstance(column.type, sqlalchemy.String | types.JsonObject)
        and not column.primary_key
        and not column.foreign_keys
        and not (table == 'actions' and column.name in ('status', 'owner'))
    ]
    assert len(texts) > 4
    with harness.database.engine.begin() as connection:
        connection.exec_driver_sql(
            f'UPDATE {table} SET {", ".join(texts)} WHERE rowid = (SELECT'
            f' {"MAX" if table == "actions" else "MIN"}(rowid) FROM {table})'
        )
    engine.run(clusters.ClusterScaleOutRequest(identity='d', count=1))
    assert harness.statuses('CLUSTER_SCALE_OUT') == ['SUCCEEDED']
    observer = harness.detect_death(engine)
    observer.run_actions()
    request_helpers.create_cluster(observer, 1, name='e')
    assert not [record for record in caplog.records if record.exc_info]
