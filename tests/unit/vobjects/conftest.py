# SPDX-License-Identifier: Apache-2.0
"""Types that a test registers are forgotten after it."""

from __future__ import annotations

import collections
from collections.abc import Iterator

import pytest
from oslo_versionedobjects import base as ovo_base

from vobjects.objects import manifest


@pytest.fixture
def registry() -> Iterator[None]:
    """Give the test an empty registry."""
    singleton = ovo_base.VersionedObjectRegistry()
    real = dict(singleton._obj_classes)
    singleton._obj_classes.clear()
    manifest.at_microversion.cache_clear()
    yield
    singleton._obj_classes.clear()
    singleton._obj_classes.update(real)
    assert isinstance(singleton._obj_classes, collections.defaultdict)
    manifest.at_microversion.cache_clear()


@pytest.fixture
def service_types() -> Iterator[None]:
    """Give the test a registry without the types of other tests."""
    registry = ovo_base.VersionedObjectRegistry()._obj_classes
    real = {name: list(classes) for name, classes in registry.items()}
    for name, classes in real.items():
        ours = [cls for cls in classes if cls.__module__[:9] == 'vobjects.']
        if ours:
            registry[name] = ours
        else:
            del registry[name]
    manifest.at_microversion.cache_clear()
    yield
    registry.clear()
    registry.update(real)
    manifest.at_microversion.cache_clear()
