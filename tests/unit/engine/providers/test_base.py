# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from engine.providers import base
from tests.unit.engine.engine_harness import Harness
from vobjects import exceptions
from vobjects_simulated import provider


def test_provider_is_loaded_by_its_name(harness: Harness) -> None:
    loaded = base.load(harness.conf, harness.database)
    assert isinstance(loaded, provider.SimulatedProvider)


def test_unknown_provider_is_reported_with_the_known_ones(
    harness: Harness,
) -> None:
    harness.conf.set_override('provider', 'nonsense', 'engine')
    with pytest.raises(
        exceptions.VobjectsError,
        match='there is no nonsense; there are docker, openstack',
    ):
        base.load(harness.conf, harness.database)
