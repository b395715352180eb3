# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters


def collect(engine: Engine, path: str) -> list[tuple[str, object]]:
    request = clusters.ClusterCollectRequest(identity='c', path=path)
    return [(row.id, row.value) for row in engine.call(request)]


def test_collect_finds_an_attribute_of_each_node(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 2)
    first, second = request_helpers.get_cluster(engine, cluster).nodes
    assert collect(engine, 'index') == [(first, 1), (second, 2)]
    assert collect(engine, '$.details.flavor') == [
        (first, 'm1.small'),
        (second, 'm1.small'),
    ]
    assert collect(engine, 'details.no.such[0]') == []


@pytest.mark.parametrize(
    'path',
    [
        '[',
        ' ',
        'None',
        'a|b',
        'a.' * 200 + 'a',
        'a[?(@.b)]',
        'x.`sub(/a/,b)`',
        'a&b',
    ],
)
def test_collect_with_invalid_path_is_rejected(
    engine: Engine, path: str
) -> None:
    request_helpers.create_cluster(engine, 0)
    with pytest.raises(errors.BadRequest, match='path'):
        collect(engine, path)


def test_collect_with_path_outside_of_node_is_rejected(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    (node,) = request_helpers.get_cluster(engine, cluster).nodes
    (value,) = collect(engine, 'name.`parent`.id')
    assert value == (node, node)
    with pytest.raises(errors.BadRequest, match='leads out of the node'):
        collect(engine, 'name.`parent`.`parent`')


def test_collect_from_another_project_finds_no_cluster(engine: Engine) -> None:
    request_helpers.create_cluster(
        engine, 0, context=engine_harness.request_context('theirs')
    )
    with pytest.raises(errors.ResourceNotFound):
        collect(engine, 'name')
