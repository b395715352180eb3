# SPDX-License-Identifier: Apache-2.0
"""Log lines of actions."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from oslo_config import cfg
from oslo_context import context as oslo_context
from oslo_log import formatters
from oslo_log import log as oslo_log

from engine import log_context
from engine.db import models
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Harness
from vobjects.clustering.requests import actions, clusters


@pytest.fixture
def stream() -> Iterator[logging.StreamHandler[io.StringIO]]:
    """The stream of the engine's log."""
    handler = logging.StreamHandler(io.StringIO())
    logger = logging.getLogger('engine')
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.fixture
def lines(stream: logging.StreamHandler[io.StringIO]) -> io.StringIO:
    """Lines of JSON."""
    stream.setFormatter(formatters.JSONFormatter())
    return stream.stream


def read(lines: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def test_line_of_json_names_request_action_and_cluster(
    harness: Harness, lines: io.StringIO
) -> None:
    engine = harness.engine()
    cluster = request_helpers.create_cluster(engine, 1)
    records = read(lines)
    rows = {row.id: row for row in harness.rows(models.Action)}
    assert {line['context']['action_id'] for line in records} == set(rows)
    for line in records:
        row = rows[line['context']['action_id']]
        assert line['context']['cluster_id'] == cluster
        assert line['context']['target_id'] == row.target
        assert line['context']['action'] == row.action
        assert line['context']['request_id'] == row.request_id
        assert line['context']['project_id'] == 'ours'
    infos = [line for line in records if line['levelname'] == 'INFO']
    assert {info['context']['action'] for info in infos} == {'CLUSTER_CREATE'}
    action = infos[0]['context']['action_id'][:8]
    assert [info['message'] for info in infos] == [
        f'CLUSTER_CREATE {action} on cluster c ({cluster}): {text}'
        for text in ('started', 'SUCCEEDED: Cluster creation succeeded.')
    ]


def test_failed_action_is_a_warning_that_names_the_target_and_the_reason(
    harness: Harness, lines: io.StringIO
) -> None:
    engine = harness.engine()
    cluster = request_helpers.create_cluster(engine, 0, name='web')
    harness.conf.set_override('failure_rate', 1.0, 'simulated')
    engine.run(clusters.ClusterScaleOutRequest(identity='web'))
    (node,) = harness.rows(models.Node)
    of_node, of_cluster = [
        line['message']
        for line in read(lines)
        if line['levelname'] == 'WARNING'
    ]
    assert re.fullmatch(
        rf'NODE_CREATE \w{{8}} on node {node.name} \({node.id}\) of cluster'
        rf' web \({cluster}\): FAILED: .*the simulated cloud failed.*',
        of_node,
    )
    assert re.fullmatch(
        rf'CLUSTER_SCALE_OUT \w{{8}} on cluster web \({cluster}\): FAILED:'
        r' Failed in scaling nodes: .*',
        of_cluster,
    )


def test_action_that_another_process_ends_is_logged_on_one_line(
    harness: Harness, lines: io.StringIO
) -> None:
    engine = harness.engine()
    cluster = request_helpers.create_cluster(engine, 0)
    action = engine.call(clusters.ClusterCheckRequest(identity='c')).action
    harness.change(models.Cluster, cluster, name='two\nlines')
    engine.call(
        actions.ActionUpdateRequest(identity=action, status='CANCELLED')
    )
    record = read(lines)[-1]
    assert record['levelname'] == 'INFO'
    assert record['context']['action_id'] == action
    assert record['message'] == (
        f'CLUSTER_CHECK {action[:8]} on cluster two lines ({cluster}):'
        ' CANCELLED: cancelled by request'
    )


def test_log_line_about_action_of_dead_engine_names_the_action(
    harness: Harness, lines: io.StringIO
) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 0, run=False)
    run = engine.scheduler.claim()
    assert run is not None
    harness.detect_death(engine)
    (record,) = [
        line for line in read(lines) if 'ready again' in line['message']
    ]
    assert record['context']['action_id'] == run.action.id
    assert record['context']['request_id'] == run.action.request_id


def test_line_of_text_names_request_action_and_cluster(
    harness: Harness, stream: logging.StreamHandler[io.StringIO]
) -> None:
    conf = cfg.ConfigOpts()
    oslo_log.register_options(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    conf.set_default('instance_uuid_format', log_context.TEXT_FORMAT)
    stream.setFormatter(formatters.ContextFormatter(config=conf))
    engine = harness.engine()
    cluster = request_helpers.create_cluster(engine, 0)
    engine.run(clusters.ClusterCheckRequest(identity=cluster))
    for row in harness.rows(models.Action):
        started, ended = [
            line
            for line in stream.stream.getvalue().splitlines()
            if f'{row.action} {row.id} cluster {cluster}' in line
            and 'INFO' in line
        ]
        assert row.request_id in started
        assert row.request_id in ended
        assert f'on cluster c ({cluster}): started' in started


@pytest.fixture(autouse=True)
def _context_of_the_thread() -> Iterator[None]:
    """Leave the thread as it was."""
    before = oslo_context.get_current()
    yield
    (before or oslo_context.RequestContext()).update_store()
