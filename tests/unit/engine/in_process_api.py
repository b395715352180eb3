# SPDX-License-Identifier: Apache-2.0
"""The API in front of an engine of :mod:`tests.unit.engine.engine_harness`."""

from __future__ import annotations

import functools
from typing import Any

from oslo_config import cfg

from api import app
from tests.unit.api import conftest
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeFleet
from tests.unit.engine.engine_harness import Engine
from vobjects.clustering import context as contexts
from vobjects.rpc import response_text


class EngineClient:
    """Calls an engine as the RPC client does.

    :ivar is_old: whether the engine does not know the context's new keys
    """

    def __init__(self, engine: Engine) -> None:
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
def _shared() -> tuple[conftest.Backend, ApiClient]:
    backend: Any = conftest.Backend()
    return backend, ApiClient(app.build(make_conf(), backend, backend))


def connect(
    target: EngineClient, conf: cfg.ConfigOpts | None = None
) -> ApiClient:
    """Return a client of an API in front of an engine.

    Without a configuration, the API is that of earlier calls, because building
    it takes longer than most tests. It calls the engine of the last one.
    """
    fleet: Any = FakeFleet()
    engine: Any = target
    if conf is not None:
        return ApiClient(app.build(conf, engine, fleet))
    backend, shared = _shared()
    backend.engine, backend.fleet = engine, fleet
    return shared
