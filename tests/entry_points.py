# SPDX-License-Identifier: Apache-2.0
"""Read the metadata of installed packages once, not in each command."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Any
from unittest import mock

#: Name of a distribution -> its entry points.
Entries = Mapping[str, metadata.EntryPoints]


def read_once() -> Any:
    """Return a patch of ``importlib.metadata.entry_points``.

    A process that runs commands reads them several times for each, and tests
    run commands in folders of their own, which are in ``sys.path``.
    """
    read = metadata.entry_points

    # Without parameters, the result has a type of its own in Python 3.11.
    @functools.cache
    def read_all(path: tuple[str, ...]) -> Any:
        return read()

    def entry_points(**parameters: str) -> Any:
        if not parameters:
            return read_all(tuple(sys.path))
        found: Entries = {}
        for folder in sys.path:
            is_installed = folder.startswith(sys.prefix)
            entries = (_installed if is_installed else _entries)(folder)
            # The first distribution of a name is the one that counts.
            found = {**entries, **found}
        points = metadata.EntryPoints(itertools.chain(*found.values()))
        return points.select(**parameters)

    return mock.patch.object(metadata, 'entry_points', entry_points)


@functools.cache
def _installed(folder: str) -> Entries:
    return _entries(folder)


def _entries(folder: str) -> Entries:
    """Return the entry points of each distribution in a folder."""
    return {
        distribution.metadata['Name']: distribution.entry_points
        for distribution in metadata.distributions(path=[folder])
    }
