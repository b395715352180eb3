# SPDX-License-Identifier: Apache-2.0
"""Encryption of credentials in the database.

Each text is bound to its row: it cannot be decrypted in another row.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from cryptography import fernet

from vobjects import exceptions


class BadKey(exceptions.VobjectsError):
    """Raised for a missing or invalid encryption key."""


class Unreadable(exceptions.VobjectsError):
    """Raised when no key decrypts a text, or it belongs to another row."""


class Box:
    """Encrypts with the first key, and decrypts with any key.

    :param keys: the value of ``[receivers] encryption_keys``
    :raises BadKey: the message tells how to create a key, and does not contain
        the invalid one
    """

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise BadKey(
                '[receivers] encryption_keys is needed to keep the credentials'
                ' of receivers; make a key with: python3 -c "from'
                ' cryptography.fernet import Fernet;'
                ' print(Fernet.generate_key().decode())"'
            )
        found = []
        for number, key in enumerate(keys, 1):
            try:
                found.append(fernet.Fernet(key))
            except ValueError:
                raise BadKey(
                    f'[receivers] encryption_keys: key {number} is not 32'
                    ' bytes in URL-safe base64'
                ) from None
        self._fernet = fernet.MultiFernet(found)

    def seal(self, place: str, text: str) -> str:
        """Return the encrypted text.

        :param place: identifies the row that stores it
        """
        content = json.dumps([place, text]).encode()
        return self._fernet.encrypt(content).decode()

    def open(self, place: str, sealed: str) -> str:
        """Return the decrypted text.

        :param place: as given to :meth:`seal`
        :raises Unreadable: no key decrypts it, or it belongs to another row
        """
        try:
            found, text = json.loads(self._fernet.decrypt(sealed.encode()))
        except (fernet.InvalidToken, ValueError):
            raise Unreadable('no key of [receivers] opens it') from None
        if found != place:
            raise Unreadable('it belongs to another row')
        return str(text)

    def renew(self, sealed: str) -> str:
        """Return the text encrypted with the first key.

        :raises Unreadable: no key decrypts it
        """
        try:
            return self._fernet.rotate(sealed.encode()).decode()
        except fernet.InvalidToken:
            raise Unreadable('no key of [receivers] opens it') from None
