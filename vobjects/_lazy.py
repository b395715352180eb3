# SPDX-License-Identifier: Apache-2.0
"""Attributes of a package that are imported at their first use (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def attributes(
    package: str, modules: Mapping[str, Iterable[str]]
) -> Callable[[str], Any]:
    """Return a ``__getattr__`` function for a package.

    :param package: the name of the package
    :param modules: module -> the names that the package takes from it
    :returns: a function that raises AttributeError for other names
    """
    module_of = {
        name: module for module, names in modules.items() for name in names
    }

    def get_attribute(name: str) -> Any:
        try:
            module = module_of[name]
        except KeyError:
            raise AttributeError(
                f'module {package!r} has no attribute {name!r}'
            ) from None
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return get_attribute
