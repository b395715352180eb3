# SPDX-License-Identifier: Apache-2.0
"""Docker daemons with impossible answers, through the engine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import raw_server
from tests.unit.engine import request_helpers
from tests.unit.engine.conftest import make_conf
from tests.unit.engine.engine_harness import Harness
from tests.unit.vobjects_docker import test_local_container
from vobjects.clustering.requests import nodes
from vobjects_docker import local
from vobjects_simulated import tables

BOX = {
    'Id': 'a' * 64,
    'Name': '/web',
    'State': {'Status': 'running', 'ExitCode': 0},
    'Config': {'Image': 'nginx', 'Labels': {'vobjects.node': 'x'}},
}

HUGE = 10**30


def containers(port: int) -> local.LocalContainers:
    url = f'tcp://127.0.0.1:{port}'
    return local.LocalContainers(make_conf('provider_docker', url=url))


def replies(box: Any, error: Any = None) -> raw_server.Reply:
    """Return a daemon with one container, or one that fails to create it."""

    def reply(connection: Any, head: bytes) -> None:
        path = head.split(b' ')[1].partition(b'?')[0]
        if path == b'/version':
            response, status = {'ApiVersion': '1.44'}, 200
        elif path.endswith(b'/containers/create') and error is not None:
            response, status = error, 500
        elif path.endswith(b'/containers/create'):
            response, status = {'Id': BOX['Id']}, 201
        elif path.endswith(b'/containers/json'):
            response, status = [], 200
        else:
            response, status = box, 200
        raw_server.answering(response, status)(connection, head)

    return reply


def node_of(harness: Harness, reply: raw_server.Reply) -> Any:
    with raw_server.serving(reply) as port:
        harness.conf.set_override('provider', 'docker', 'engine')
        harness.cloud.containers = containers(port)
        engine = harness.engine()
        profile = request_helpers.create_profile(
            engine, 'box', spec=test_local_container.spec()
        )
        node = request_helpers.create_node(
            engine, name='n', profile_id=profile
        )
        request = nodes.NodeGetRequest(identity=node, show_details=True)
        json.dumps(engine.call(request).details, ensure_ascii=False).encode()
        row = request_helpers.get_node(engine, node)
        row.status_reason.encode()
        assert len(row.status_reason) < 1300
        harness.assert_idle()
        return row


@pytest.mark.parametrize(
    'error',
    [
        {'message': 'a\0b\ud800c\x1b[31m' + 'x' * 10**5},
        {'message': HUGE},
        {'message': [HUGE, '\0']},
        {'message': {'\ud800': '\0'}},
        HUGE,
        '\ud800\0',
        None,
    ],
)
def test_error_with_impossible_text_is_the_reason_of_the_status(
    any_harness: Harness, error: Any
) -> None:
    row = node_of(any_harness, replies(BOX, error or {}))
    assert row.status == 'ERROR'
    assert 'could not run the container' in row.status_reason
    assert any_harness.rows(tables.SimulatedContainer) == []


@pytest.mark.parametrize(
    'change',
    [
        {'Name': 'a\0b'},
        {'Created': '\ud800'},
        {'State': {'Status': 'running\0', 'ExitCode': HUGE}},
        {'Id': '\0'},
        {'Config': {'Labels': HUGE}},
        {'Config': {'Labels': {'vobjects.node': HUGE}, 'Image': HUGE}},
    ],
)
def test_impossible_description_is_an_error_of_the_node(
    any_harness: Harness, change: dict[str, Any]
) -> None:
    row = node_of(any_harness, replies({**BOX, **change}))
    assert row.status == 'ERROR'
    assert row.physical_id is None


def test_impossible_command_is_cleaned(any_harness: Harness) -> None:
    config = {**BOX['Config'], 'Cmd': ['\0', '\ud800', 'x' * 10**5]}  # type: ignore[dict-item]
    row = node_of(any_harness, replies({**BOX, 'Config': config}))
    assert (row.status, row.physical_id) == ('ACTIVE', BOX['Id'])
