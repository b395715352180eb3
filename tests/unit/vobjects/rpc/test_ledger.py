# SPDX-License-Identifier: Apache-2.0
"""The ledger of a process without a database."""

from __future__ import annotations

import dataclasses
from typing import Any

import oslo_messaging
import pytest

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet_types
from vobjects.rpc.fleet import Member, View
from vobjects.rpc.ledger import RemoteLedger

NEW = Manifest({'Thing': '1.1'})


def test_remote_ledger_when_an_engine_hangs_calls_others() -> None:
    calls: list[tuple[str, float]] = []
    hanging = {''}

    class Engines:
        topic = 'workers'

        def call_ledger(
            self, request: Any, timeout: float, server: str = ''
        ) -> Any:
            calls.append((server, timeout))
            if server in hanging:
                raise oslo_messaging.MessagingTimeout('no response')
            up = [
                dataclasses.replace(
                    Member(n, 'w', 'h', 'workers', '1', NEW), state=state
                )
                for n, state in (('a', 'up'), ('b', 'up'), ('c', 'joining'))
            ]
            return fleet_types.to_resource(View(7, tuple(up)))

    remote = RemoteLedger(Engines(), timeout=6)
    with pytest.raises(exceptions.NoLivePeer):
        remote.get()
    assert calls == [('', 6)]

    hanging.clear()
    remote.get()
    hanging |= {'', 'a'}
    calls.clear()
    assert remote.get().generation == 7
    assert calls[0] == ('', 2)
    assert {name for name, _ in calls[1:]} <= {'a', 'b'}
    assert sum(seconds for _, seconds in calls) <= 6

    hanging.add('b')
    with pytest.raises(exceptions.NoLivePeer, match='start one'):
        remote.get()


@pytest.mark.parametrize('supported', [True, False])
def test_report_returns_the_time_if_engines_support_it(
    supported: bool,
) -> None:
    manifest = Manifest({'FleetTime': '1.0'}) if supported else NEW
    requests: list[str] = []

    class Engines:
        topic = 'workers'

        def call_ledger(
            self, request: Any, timeout: float, server: str = ''
        ) -> Any:
            requests.append(request.obj_name())
            if isinstance(request, fleet_types.FleetClock):
                return fleet_types.FleetTime(now=5e9)
            engine = Member('a', 'w', 'h', 'workers', '1', manifest, 'up')
            return fleet_types.to_resource(View(7, (engine,)))

    remote = RemoteLedger(Engines(), timeout=6)
    member = Member('me', 'api', 'h', 'api', '1', NEW)
    views = [remote.report(member) for _ in range(3)]

    assert requests.count('FleetClock') == supported
    assert [view.now is not None for view in views] == [supported] * 3
    assert not supported or all(5e9 <= (view.now or 0) < 6e9 for view in views)
