# SPDX-License-Identifier: Apache-2.0
"""Compile generated source; the only use of ``exec`` in this package.

As :mod:`dataclasses` and :func:`collections.namedtuple` do, some functions of
this package are generated for a class or a signature, to replace look-ups at
each call. A module that generates source inserts only names that are
identifiers, and values that it has quoted with ``repr``; other values are
passed in the namespace.
"""

from __future__ import annotations

import linecache
from typing import Any


def run(
    source: str, namespace: dict[str, Any], filename: str = ''
) -> dict[str, Any]:
    """Compile source, run it in a namespace and return the namespace.

    :param filename: a unique name, with which tracebacks show the source
    """
    if filename:
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
    code = compile(source, filename or '<vobjects>', 'exec')
    exec(code, namespace)  # noqa: S102 - see the docstring of the module
    return namespace
