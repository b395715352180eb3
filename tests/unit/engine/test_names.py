# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
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
        ('$9R$00I', '[a-z0-9]{9}7'),
        ('$003I-$100r', '007-[a-z0-9]{100}'),
        ('$99999999R', '[a-z0-9]{255}'),
        ('$99999999I', '0{254}7'),
        ('x' * 300, 'x{255}'),
        ('..', r'\.\.'),
        # As older releases accepted them.
        ('$99R' * 250_000, '[a-z0-9]{255}'),
        ('$00000001I' * 250_000, '7{255}'),
        ('x$' + 'R' * 1_000_000, 'x[a-z0-9]{8}R{246}'),
    ],
)
def test_name_follows_the_format(name_format: Any, pattern: str) -> None:
    assert re.fullmatch(
        pattern, names.member_name({names.FORMAT_KEY: name_format}, 7)
    )


@pytest.mark.parametrize(
    'name_format',
    [
        '$X',
        '$999999999I',
        'a b',
        '%s',
        '💥-$I',
        5,
        1.5,
        True,
        ['x'],
        {'a': 1},
    ],
)
def test_invalid_format_is_rejected(name_format: Any) -> None:
    with pytest.raises(errors.BadRequest, match=r'config: node\.name\.format'):
        names.member_name({names.FORMAT_KEY: name_format}, 7)


@pytest.mark.parametrize(
    ('name_format', 'message'),
    [
        *((name_format, '') for name_format in (None, '', 'web-$3I')),
        ('x' * 255, ''),
        ('x' * 256, 'at most 255 characters, not'),
        # These would change a path.
        ('.', 'other than'),
        ('..', 'other than'),
    ],
)
def test_format_of_a_config_is_checked(name_format: Any, message: str) -> None:
    config = {names.FORMAT_KEY: name_format}
    if not message:
        names.check_config(config)
        return
    with pytest.raises(errors.BadRequest, match=message):
        names.check_config(config)


def test_node_name_draws_a_bounded_number_of_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = 0

    def choices(letters: str, *, k: int) -> list[str]:
        nonlocal drawn
        drawn += k
        return ['x'] * k

    monkeypatch.setattr(random, 'choices', choices)
    assert names.node_name('$99R' * 250_000, 1) == 'x' * 255
    assert drawn <= 2 * 255
