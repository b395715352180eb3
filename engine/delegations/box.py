# SPDX-License-Identifier: Apache-2.0
"""A box with a lock: what is kept in the database for nobody to read.

Each text is bound to the row it is in: moved to another row, it does not open
there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from cryptography import fernet

from vobjects import exceptions


class BadKey(exceptions.VobjectsError):
    """A key is none, or there is no key."""


class Unreadable(exceptions.VobjectsError):
    """No key opens it, or it belongs elsewhere."""


class Box:
    """Seals with the first key, and opens with each of them.

    :param keys: as ``[receivers] encryption_keys`` has them
    :raises BadKey: saying how to make one; it does not repeat what it got
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
        """Return a text encrypted.

        :param place: names the row that it is for
        """
        content = json.dumps([place, text]).encode()
        return self._fernet.encrypt(content).decode()

    def open(self, place: str, sealed: str) -> str:
        """Return what :meth:`seal` was given.

        :raises Unreadable: with other keys, or for another place
        """
        try:
            found, text = json.loads(self._fernet.decrypt(sealed.encode()))
        except (fernet.InvalidToken, ValueError):
            raise Unreadable('no key of [receivers] opens it') from None
        if found != place:
            raise Unreadable('it belongs to another row')
        return str(text)

    def renew(self, sealed: str) -> str:
        """Return the same, encrypted with the first key.

        :raises Unreadable: no key opens it
        """
        try:
            return self._fernet.rotate(sealed.encode()).decode()
        except fernet.InvalidToken:
            raise Unreadable('no key of [receivers] opens it') from None
