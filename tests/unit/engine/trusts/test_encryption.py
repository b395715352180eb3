# SPDX-License-Identifier: Apache-2.0
"""What is encrypted, and who can read it."""

from __future__ import annotations

import pytest
from cryptography.fernet import Fernet

from engine.trusts import encryption

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


def test_box_opens_what_it_has_sealed_in_its_place_only() -> None:
    one = encryption.Box([OLD])
    sealed = one.seal('row', 'secret')
    assert 'secret' not in sealed
    assert sealed != one.seal('row', 'secret')
    assert one.open('row', sealed) == 'secret'
    with pytest.raises(encryption.Unreadable, match='another row'):
        one.open('other', sealed)
    with pytest.raises(encryption.Unreadable, match='no key'):
        encryption.Box([NEW]).open('row', sealed)
    with pytest.raises(encryption.Unreadable):
        one.open('row', sealed[:-8])


def test_keys_are_rotated() -> None:
    before, both, after = (
        encryption.Box([OLD]),
        encryption.Box([NEW, OLD]),
        encryption.Box([NEW]),
    )
    sealed = before.seal('row', 'secret')
    assert both.open('row', sealed) == 'secret'
    renewed = both.renew(sealed)
    assert after.open('row', renewed) == 'secret'
    with pytest.raises(encryption.Unreadable):
        before.open('row', renewed)
    with pytest.raises(encryption.Unreadable):
        after.renew(sealed)


@pytest.mark.parametrize(
    ('keys', 'says'),
    [
        ([], 'Fernet.generate_key'),
        ([OLD, 'no-key'], 'key 2'),
        (['x' * 44], 'key 1'),
    ],
)
def test_bad_keys_are_refused_and_not_repeated(
    keys: list[str], says: str
) -> None:
    with pytest.raises(encryption.BadKey, match=says) as caught:
        encryption.Box(keys)
    assert not any(key in str(caught.value) for key in keys)
