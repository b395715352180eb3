# SPDX-License-Identifier: Apache-2.0
"""Measure read requests from the message bus to the database and to HTTP.

::

    python benchmarks/reads.py [--database sqlite] [--rows 100] [--rounds 30]

In one process and without a bus or HTTP, the script passes the message of a
request to the endpoint of the engine, and the message of the response to the
renderer of the API: as JSON text, and as the primitive that earlier engines
send. Figures are milliseconds of processor time of this
process. They are the minimum of all rounds, to reduce the influence of other
load on the machine.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

# The tests have helpers that create databases.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import service_process
from sqlalchemy import orm

from api import renderers
from engine import service
from engine.db import database, migrations, models
from tests import databases
from tests.unit.engine import conftest, engine_harness, request_helpers
from vobjects.clustering import context, resources
from vobjects.clustering.requests import (
    actions,
    clusters,
    events,
    nodes,
    profiles,
)
from vobjects.microversions.version_policy import Version
from vobjects.objects import manifest
from vobjects.rpc import response_text, serializer, server
from vobjects_sql.stored import StoredText

#: Requests in one round.
NUMBER = 5

#: The inputs of an action.
INPUTS = '{"versioned_object.data": {"name": "c", "config": {}}}'


def main() -> int:
    """Run the benchmark and print the results."""
    options = _options()
    with (
        tempfile.TemporaryDirectory() as state,
        databases.temporary(options.database, pathlib.Path(state)) as url,
    ):
        conf = conftest.configuration(url)
        target = database.Database(conf)
        migrations.expand(target)
        engine = engine_harness.Harness(conf, target).engine()
        _insert_rows(engine, options.rows)
        endpoint = server.Endpoint(
            [handlers(engine.runtime) for handlers in service.HANDLERS],
            manifest=manifest.local(),
            context_from=context.from_dict,
        )
        print(f'{options.database}, {options.rows} rows, {NUMBER} in a round')
        print(f'{"":26} {"JSON text":>19} {"primitive":>19}')
        columns = ' '.join(f'{each:>9}' for each in ('engine', 'api') * 2)
        print(f'{"request":18} {"bytes":>7} {columns}')
        for name, request, render in _cases(options.rows):
            _measure(endpoint, name, request, render, options)
        target.close()
    return 0


def _insert_rows(engine: engine_harness.Engine, rows: int) -> None:
    profile = request_helpers.create_profile(engine)
    common = {'user': 'alice', 'project': 'ours', 'domain': 'd'}
    now = datetime.datetime.now(datetime.UTC)

    def body(session: orm.Session) -> None:
        for number in range(rows):
            cluster = models.Cluster(
                id=models.new_id(),
                name=f'c-{number}',
                profile_id=profile,
                timeout=3600,
                status='ACTIVE',
                status_reason='The cluster is as large as it should be.',
                init_at=now,
                created_at=now,
                **common,
            )
            session.add(cluster)
            session.flush()
            session.add_all(_belonging(cluster, number, now, common))

    engine.runtime.database.write(body)


def _belonging(
    cluster: models.Cluster, number: int, now: datetime.datetime, common: Any
) -> list[Any]:
    return [
        models.Node(
            name=f'n-{number}',
            profile_id=cluster.profile_id,
            cluster_id=cluster.id,
            physical_id=models.new_id(),
            status='ACTIVE',
            status_reason='The node runs.',
            init_at=now,
            created_at=now,
            **common,
        ),
        models.Action(
            name=f'cluster_create_{number}',
            action='CLUSTER_CREATE',
            target=cluster.id,
            cluster_id=cluster.id,
            cause='RPC Request',
            timeout=3600,
            status='SUCCEEDED',
            start_time=time.time(),
            end_time=time.time(),
            inputs=StoredText(INPUTS),
            created_at=now,
            **common,
        ),
        models.Event(
            timestamp=now,
            level=20,
            oid=cluster.id,
            oname=cluster.name,
            otype='CLUSTER',
            cluster_id=cluster.id,
            action='CLUSTER_CREATE',
            status='SUCCEEDED',
            status_reason='Done.',
            meta_data={'action': {'id': cluster.id}, 'phase': 'SUCCEEDED'},
            **common,
        ),
        models.Profile(
            name=f'p-{number}',
            type='os.nova.server-1.0',
            spec=engine_harness.SPEC,
            created_at=now,
            **common,
        ),
    ]


def _cases(rows: int) -> list[tuple[str, Any, renderers.Renderer]]:
    return [
        (
            'GET one cluster',
            clusters.ClusterGetRequest(identity='c-0'),
            renderers.item('cluster', resources.Cluster),
        ),
        (
            'GET clusters',
            clusters.ClusterListRequest(limit=rows),
            renderers.items('clusters', resources.Cluster),
        ),
        (
            'GET nodes',
            nodes.NodeListRequest(limit=rows),
            renderers.items('nodes', resources.Node),
        ),
        (
            'GET actions',
            actions.ActionListRequest(limit=rows),
            renderers.items('actions', resources.Action),
        ),
        (
            'GET events',
            events.EventListRequest(limit=rows),
            renderers.items('events', resources.Event),
        ),
        (
            'GET profiles',
            profiles.ProfileListRequest(limit=rows),
            renderers.items('profiles', resources.Profile),
        ),
    ]


def _measure(
    endpoint: server.Endpoint,
    name: str,
    request: Any,
    renderer: renderers.Renderer,
    options: argparse.Namespace,
) -> None:
    local_manifest = manifest.local()
    message = serializer.to_bytes(request, local_manifest).decode()
    caller = engine_harness.request_context().to_dict()
    assert renderer.cls is not None
    shown = manifest.within(
        renderer.cls,
        manifest.at_microversion(Version.parse(options.version)),
    )
    part = renderer.part

    def perform_text() -> Any:
        reader = {
            'digest': local_manifest.digest,
            'text': {'versions': dict(shown), 'part': part},
        }
        return endpoint.perform(caller, message, reader)

    def perform_primitive() -> Any:
        return endpoint.perform(
            caller, message, {'digest': local_manifest.digest}
        )

    text, primitive = perform_text(), perform_primitive()

    def render_text() -> Any:
        result = response_text.load(text)
        assert result is not None
        return renderer.render(result).body

    def render_primitive() -> Any:
        response = serializer.from_bytes(primitive)
        return renderer.render(response_text.write(response, shown, part)).body

    assert json.loads(render_text()) == json.loads(render_primitive())
    times = [
        _minimum_time(call, options.rounds)
        for call in (
            perform_text,
            render_text,
            perform_primitive,
            render_primitive,
        )
    ]
    figures = ' '.join(f'{each:9.3f}' for each in times)
    print(f'{name:18} {len(text):7} {figures}', flush=True)


def _minimum_time(call: Callable[[], Any], rounds: int) -> float:
    times = []
    for _round in range(rounds):
        gc.collect()
        start_time = time.process_time()
        for _ in range(NUMBER):
            call()
        times.append((time.process_time() - start_time) / NUMBER * 1000)
    return min(times)


def _options() -> argparse.Namespace:
    parser = service_process.parser(__doc__)
    parser.add_argument('--rows', type=int, default=100)
    parser.add_argument('--rounds', type=int, default=30)
    parser.add_argument('--version', default='1.14')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
