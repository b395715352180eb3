# SPDX-License-Identifier: Apache-2.0
"""A message bus in one directory."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from tests import message_bus


class Bus(message_bus.Bus):
    """A bus of the embedded driver, with its sockets."""

    def __init__(self, root: pathlib.Path) -> None:
        super().__init__(f'embedded://{root}')
        self.root = root

    def sockets(self) -> list[pathlib.Path]:
        return sorted(path for path in self.root.glob('*/*'))


@pytest.fixture
def bus(tmp_path: pathlib.Path) -> Iterator[Bus]:
    bus = Bus(tmp_path / 'bus')
    yield bus
    bus.close()
