# SPDX-License-Identifier: Apache-2.0
"""A slow cloud must not delay other requests."""

from __future__ import annotations

import concurrent.futures
import pathlib
from collections.abc import Iterator

import pytest
import requests

from tests.functional.deployments import PLATFORMS, Deployment, deployed

#: Latency of the cloud in seconds, and number of clients.
LATENCY = 20
CLIENTS = 4


@pytest.fixture(params=PLATFORMS[:1])
def service(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[Deployment]:
    """A service that handles one request at a time."""
    settings = {
        'fleet': {'calls_at_once': 1},
        'simulated': {'latency': LATENCY},
    }
    with deployed(request.param, tmp_path, settings) as deployment:
        deployment.start_engines(1)
        deployment.start_api()
        yield deployment


def preview(service: Deployment, server: str) -> requests.Response:
    """Request a snapshot, which is slow in the cloud."""
    body = {
        'identity': server,
        'type': 'os.nova.server-1.0',
        'snapshot': True,
    }
    with service.rest() as rest:
        return rest.request('POST', '/v1/nodes/adopt-preview', body)


def test_reads_do_not_wait_for_the_cloud(service: Deployment) -> None:
    servers = [service.create_unmanaged_server() for _ in range(CLIENTS)]
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        waiting = [pool.submit(preview, service, server) for server in servers]
        with service.rest() as rest:
            for _ in range(CLIENTS):
                assert rest.get('/v1/clusters') == []
        assert not any(future.done() for future in waiting)
        # They run concurrently: in sequence, some would time out.
        assert {future.result().status_code for future in waiting} == {200}
