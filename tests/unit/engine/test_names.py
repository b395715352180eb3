# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import pytest

from engine import names
from vobjects.clustering import errors


@pytest.mark.parametrize(
    ('name_format', 'pattern'),
    [
        (None, 'node-[a-z0-9]{8}'),
        (0, 'node-[a-z0-9]{8}'),
        ('', 'node-[a-z0-9]{8}'),
        ('web-$3I', 'web-007'),
        ('web-$I', 'web-7'),
        ('$2R.$2I', r'[a-z0-9]{2}\.07'),
        ('plain', 'plain'),
        ('节点-$I', '节点-7'),
        ('x' * 300, 'x{255}'),
    ],
)
def test_name_follows_the_format(name_format: Any, pattern: str) -> None:
    assert re.fullmatch(
        pattern, names.member_name({names.CONFIG: name_format}, 7)
    )


@pytest.mark.parametrize(
    'name_format', ['$X', 'a b', '%s', '💥-$I', 5, 1.5, True, ['x'], {'a': 1}]
)
def test_format_that_makes_no_names_is_refused(name_format: Any) -> None:
    with pytest.raises(errors.BadRequest, match=r'config: node\.name\.format'):
        names.member_name({names.CONFIG: name_format}, 7)
