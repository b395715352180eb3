# SPDX-License-Identifier: Apache-2.0
"""The API in front of an engine of :mod:`tests.unit.engine.engine_harness`."""

from __future__ import annotations

import functools
from typing import Any

from oslo_config import cfg

from api import app
from tests.unit.api import client, conftest, fake_engine
from tests.unit.engine import engine_harness
from vobjects.clustering import context as contexts
from vobjects.rpc import response_text


class EngineClient:
    """Calls an engine as the RPC client does.

    :ivar is_old: whether the engine does not know the context's new keys
    """

    def __init__(self, engine: engine_harness.Engine) -> None:
        self._engine = engine
        self.is_old = False

    def call(self, context: Any, request: Any, manifest: Any = None) -> Any:
        values = context.to_dict()
        if self.is_old:
            values = {
                key: value
                for key, value in values.items()
                if key not in ('asks_owner', 'denied_actions')
            }
        return self._engine.call(request, contexts.from_dict(values))

    def call_for_text(
        self, *arguments: Any, shown: Any, part: str
    ) -> response_text.ResponseText:
        return response_text.write(self.call(*arguments), shown, part)


def make_conf(**options: Any) -> cfg.ConfigOpts:
    """Return a configuration with the user and project of the harness."""
    return conftest.make_conf(
        default_user='alice', default_project='ours', **options
    )


@functools.cache
def _shared() -> tuple[conftest.Backend, client.ApiClient]:
    backend: Any = conftest.Backend()
    return backend, client.ApiClient(app.build(make_conf(), backend, backend))


def connect(
    target: EngineClient, conf: cfg.ConfigOpts | None = None
) -> client.ApiClient:
    """Return a client of an API in front of an engine.

    Without a configuration, the API is that of earlier calls, because building
    it takes longer than most tests. It calls the engine of the last one.
    """
    fleet: Any = fake_engine.FakeFleet()
    engine: Any = target
    if conf is not None:
        return client.ApiClient(app.build(conf, engine, fleet))
    backend, shared = _shared()
    backend.engine, backend.fleet = engine, fleet
    return shared
