# SPDX-License-Identifier: Apache-2.0
"""Run tests of a service before and after it is ported."""

from __future__ import annotations

import pathlib
from typing import Protocol

Outcomes = dict[str, str]


class Run(Protocol):
    """Runs the tests; returns the name of each and its outcome."""

    def __call__(self, folder: pathlib.Path, *, edited: bool) -> Outcomes: ...


def outcomes(run: Run, folder: pathlib.Path) -> tuple[Outcomes, Outcomes]:
    """Return the outcomes with the original, and with the port.

    :param folder: has a folder of its own for each
    """
    found = []
    for name, edited in (('original', False), ('port', True)):
        (folder / name).mkdir()
        found.append(run(folder / name, edited=edited))
    original, port = found
    return original, port
