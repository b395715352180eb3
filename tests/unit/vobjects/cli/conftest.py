# SPDX-License-Identifier: Apache-2.0
"""A service whose only module is ``shop``."""

from __future__ import annotations

import importlib
import pathlib
import sys
from collections.abc import Callable

import pytest
from oslo_versionedobjects import base as ovo_base


@pytest.fixture
def replace_shop(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, registry: None
) -> Callable[[str], None]:
    """Return a function that replaces the module of the service."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, 'dont_write_bytecode', True)

    def replace(code: str) -> None:
        (tmp_path / 'shop.py').write_text(code)
        sys.modules.pop('shop', None)
        importlib.invalidate_caches()
        ovo_base.VersionedObjectRegistry()._obj_classes.clear()

    return replace
