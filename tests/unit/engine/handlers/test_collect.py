# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.unit.engine import asks, fleet
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters


@pytest.fixture
def engine(world: fleet.World) -> fleet.Engine:
    return world.engine()


def collect(engine: fleet.Engine, path: str) -> list[tuple[str, object]]:
    request = clusters.ClusterCollectRequest(identity='c', path=path)
    return [(one.id, one.value) for one in engine.ask(request)]


def test_collect_finds_an_attribute_of_each_node(engine: fleet.Engine) -> None:
    cluster = asks.cluster(engine, 2)
    first, second = asks.show_cluster(engine, cluster).nodes
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
def test_collect_by_what_is_no_path_is_refused(
    engine: fleet.Engine, path: str
) -> None:
    asks.cluster(engine, 0)
    with pytest.raises(errors.BadRequest, match='path'):
        collect(engine, path)


def test_collect_by_what_leads_out_of_the_node_is_refused(
    engine: fleet.Engine,
) -> None:
    cluster = asks.cluster(engine, 1)
    (node,) = asks.show_cluster(engine, cluster).nodes
    (found,) = collect(engine, 'name.`parent`.id')
    assert found == (node, node)
    with pytest.raises(errors.BadRequest, match='leads out of the node'):
        collect(engine, 'name.`parent`.`parent`')


def test_collect_from_another_project_finds_no_cluster(
    engine: fleet.Engine,
) -> None:
    asks.cluster(engine, 0, context=fleet.caller('theirs'))
    with pytest.raises(errors.ResourceNotFound):
        collect(engine, 'name')
