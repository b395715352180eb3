# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest

from engine import names


@pytest.mark.parametrize(
    ('name_format', 'pattern'),
    [
        (None, 'node-[a-z0-9]{8}'),
        ('', 'node-[a-z0-9]{8}'),
        ('web-$3I', 'web-007'),
        ('web-$I', 'web-7'),
        ('$2R.$2I', r'[a-z0-9]{2}\.07'),
        ('plain', 'plain'),
        ('$X', r'\$X'),
        ('x' * 300, 'x{255}'),
    ],
)
def test_name_follows_the_format(
    name_format: str | None, pattern: str
) -> None:
    assert re.fullmatch(pattern, names.node_name(name_format, 7))
