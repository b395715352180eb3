# SPDX-License-Identifier: Apache-2.0
"""Public names of a package, each imported at its first use (PEP 562).

The file ``__init__.pyi`` of the package lists them once, for type checkers and
for this module, as lines ``from MODULE import NAME as NAME``. Importing the
package loads none of these modules.
"""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def attributes(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    :param package: ``__name__`` of the package
    :param file: ``__file__`` of the package
    """
    sources: Mapping[str, tuple[str, str]] = {}

    def get_attribute(name: str) -> Any:
        nonlocal sources
        sources = sources or _sources(f'{file}i')
        if name == '__all__':
            value: Any = sorted(sources)
        elif name in sources:
            source, original = sources[name]
            if source == package:
                value = importlib.import_module(f'{package}.{name}')
            else:
                value = getattr(importlib.import_module(source), original)
        else:
            raise AttributeError(
                f'module {package!r} has no attribute {name!r}'
            )
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        names = get_attribute('__all__')
        return sorted({*vars(sys.modules[package]), *names})

    return get_attribute, list_names


def _sources(path: str) -> dict[str, tuple[str, str]]:
    """Return public name -> module and the name there."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    # Not by ast: each process would import it.
    words = text.translate(str.maketrans('(),', '   ')).split()
    sources = {}
    module = ''
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        if word == 'from':
            module = after
        elif word == 'as':
            sources[after] = (module, before)
    return sources
