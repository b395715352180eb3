# SPDX-License-Identifier: Apache-2.0
"""Sphinx extensions of the documentation, as modules."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from types import ModuleType

DOC = pathlib.Path(__file__).parents[3] / 'doc'


def load(name: str) -> ModuleType:
    """Return a module of ``doc/extensions``."""
    path = DOC / 'extensions' / f'{name}.py'
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module
