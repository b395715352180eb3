# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.functional.api.served FILE``: the API in granian.

The engine is the one in memory; cluster ``slow`` takes a second to show,
cluster ``large-SIZE`` has metadata of that size, and the build that it reports
is the process that serves.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import vobjects.objects  # noqa: F401 - has oslo.service choose threads
from api import app, asgi, serving, wsgi
from api import conf as api_conf
from tests.unit.api import fake_engine
from vobjects.clustering import resources
from vobjects.clustering.requests import clusters, services

SLOW = 1.0

#: Printed when that begins.
HANDLING = 'handling a slow request'


class Engine(fake_engine.FakeEngine):
    """Shows how long things take and where they happen."""

    def call(self, *arguments: Any) -> Any:
        request = arguments[1]
        if isinstance(request, services.BuildInfoRequest):
            return resources.BuildInfo(
                api=None, engine={'revision': str(os.getpid())}
            )
        if (
            isinstance(request, clusters.ClusterGetRequest)
            and request.identity == 'slow'
        ):
            print(HANDLING, flush=True)  # noqa: T201
            time.sleep(SLOW)
        if isinstance(
            request, clusters.ClusterGetRequest
        ) and request.identity.startswith('large-'):
            created = clusters.ClusterCreateRequest(
                name='large', profile_id='p'
            )
            created.obj_set_defaults()
            cluster = super().call(arguments[0], created).cluster
            size = int(request.identity.removeprefix('large-'))
            cluster.metadata = {'a': 'a' * size}
            return cluster
        return super().call(*arguments)


#: Few, because a busy machine needs milliseconds for each part.
FREE_PARTS = 200


def load() -> Any:
    """Return the application of a worker process."""
    asgi.FREE_PARTS = FREE_PARTS
    serving.install_worker_signals()
    return app.build(wsgi.configuration(), Engine(), fake_engine.FakeFleet())


def main(config_file: str) -> int:
    """Serve until a signal."""
    from tests.functional.api import served

    os.environ[api_conf.CONFIG_FILES] = config_file
    return serving.serve(wsgi.configuration(), served.load)


if __name__ == '__main__':
    raise SystemExit(main(*sys.argv[1:]))
