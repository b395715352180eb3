# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from engine.providers import base
from engine.providers.simulated import provider
from tests.unit.engine import fleet


def test_provider_is_loaded_by_its_name(world: fleet.World) -> None:
    found = base.load(world.conf, world.database)
    assert isinstance(found, provider.SimulatedProvider)


def test_name_that_nobody_has_is_told_with_those_there_are(
    world: fleet.World,
) -> None:
    world.conf.set_override('provider', 'nonsense', 'engine')
    with pytest.raises(
        base.UnknownProviderError,
        match='there is no nonsense; there are openstack, simulated',
    ):
        base.load(world.conf, world.database)
