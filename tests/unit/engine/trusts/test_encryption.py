# SPDX-License-Identifier: Apache-2.0
"""Encryption of credentials, and rotation of keys."""

from __future__ import annotations

import pytest
from cryptography.fernet import Fernet

from engine.trusts import encryption

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


def test_decrypt_needs_a_key_and_the_same_row() -> None:
    encryptor = encryption.Encryptor([OLD])
    sealed = encryptor.encrypt('row', 'secret')
    assert 'secret' not in sealed
    assert sealed != encryptor.encrypt('row', 'secret')
    assert encryptor.decrypt('row', sealed) == 'secret'
    with pytest.raises(encryption.DecryptionError, match='another row'):
        encryptor.decrypt('other', sealed)
    with pytest.raises(encryption.DecryptionError, match='no key'):
        encryption.Encryptor([NEW]).decrypt('row', sealed)
    with pytest.raises(encryption.DecryptionError):
        encryptor.decrypt('row', sealed[:-8])


def test_keys_are_rotated() -> None:
    before, both, after = (
        encryption.Encryptor([OLD]),
        encryption.Encryptor([NEW, OLD]),
        encryption.Encryptor([NEW]),
    )
    sealed = before.encrypt('row', 'secret')
    assert both.decrypt('row', sealed) == 'secret'
    renewed = both.rotate(sealed)
    assert after.decrypt('row', renewed) == 'secret'
    with pytest.raises(encryption.DecryptionError):
        before.decrypt('row', renewed)
    with pytest.raises(encryption.DecryptionError):
        after.rotate(sealed)


@pytest.mark.parametrize(
    ('keys', 'message'),
    [
        ([], 'Fernet.generate_key'),
        ([OLD, 'no-key'], 'key 2'),
        (['x' * 44], 'key 1'),
    ],
)
def test_invalid_keys_are_rejected_without_showing_them(
    keys: list[str], message: str
) -> None:
    with pytest.raises(encryption.InvalidKey, match=message) as caught:
        encryption.Encryptor(keys)
    assert not any(key in str(caught.value) for key in keys)
