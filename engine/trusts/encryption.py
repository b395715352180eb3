# SPDX-License-Identifier: Apache-2.0
"""Encryption of credentials in the database.

Each text is bound to its row: it cannot be decrypted in another row.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from cryptography import fernet

from vobjects import exceptions


class InvalidKey(exceptions.VobjectsError):
    """Raised for a missing or invalid encryption key."""


class DecryptionError(exceptions.VobjectsError):
    """Raised when no key decrypts a text, or it belongs to another row."""


class Encryptor:
    """Encrypts with the first key, and decrypts with any key.

    :param keys: the value of ``[receivers] encryption_keys``
    :raises InvalidKey: the message tells how to create a key, and does not
        contain the invalid one
    """

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise InvalidKey(
                '[receivers] encryption_keys is needed to keep the credentials'
                ' of receivers; make a key with: python3 -c "from'
                ' cryptography.fernet import Fernet;'
                ' print(Fernet.generate_key().decode())"'
            )
        fernets = []
        for number, key in enumerate(keys, 1):
            try:
                fernets.append(fernet.Fernet(key))
            except ValueError:
                raise InvalidKey(
                    f'[receivers] encryption_keys: key {number} is not 32'
                    ' bytes in URL-safe base64'
                ) from None
        self._fernet = fernet.MultiFernet(fernets)

    def encrypt(self, row_id: str, text: str) -> str:
        """Return the encrypted text.

        :param row_id: identifies the row that stores it
        """
        content = json.dumps([row_id, text]).encode()
        return self._fernet.encrypt(content).decode()

    def decrypt(self, row_id: str, ciphertext: str) -> str:
        """Return the decrypted text.

        :param row_id: as given to :meth:`encrypt`
        :raises DecryptionError: no key decrypts it, or it belongs to another
            row
        """
        try:
            stored_id, text = json.loads(
                self._fernet.decrypt(ciphertext.encode())
            )
        except (fernet.InvalidToken, ValueError):
            raise DecryptionError(
                'no key of [receivers] encryption_keys decrypts it'
            ) from None
        if stored_id != row_id:
            raise DecryptionError('it belongs to another row')
        return str(text)

    def rotate(self, ciphertext: str) -> str:
        """Return the text encrypted with the first key.

        :raises DecryptionError: no key decrypts it
        """
        try:
            return self._fernet.rotate(ciphertext.encode()).decode()
        except fernet.InvalidToken:
            raise DecryptionError(
                'no key of [receivers] encryption_keys decrypts it'
            ) from None
