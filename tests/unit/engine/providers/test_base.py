# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.metadata

import pytest
import stevedore.exception

from engine import plugins
from engine.providers import base
from tests.unit.engine.engine_harness import Harness
from vobjects import exceptions
from vobjects_docker import containers
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


def test_provider_that_is_not_installed_is_reported_with_the_command_for_it(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(*arguments: object, **options: object) -> None:
        raise stevedore.exception.NoMatches

    monkeypatch.setattr(plugins.driver, 'DriverManager', find)
    harness.conf.set_override('provider', 'docker', 'engine')
    with pytest.raises(
        exceptions.VobjectsError,
        match=r"docker; run: pip install 'vobjects-clustering\[docker\]'",
    ):
        base.load(harness.conf, harness.database)


def test_containers_are_those_of_the_installed_distribution(
    harness: Harness,
) -> None:
    loaded = base.load_containers(harness.conf)
    assert isinstance(loaded, containers.Containers)


def test_containers_without_their_distribution_name_it(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        importlib.metadata,
        'entry_points',
        lambda **group: importlib.metadata.EntryPoints(),
    )
    loaded = base.load_containers(harness.conf)
    with pytest.raises(
        base.ProviderError, match=r'vobjects-clustering\[docker\]'
    ):
        loaded.find('tcp://192.0.2.1:2375', 'key')
