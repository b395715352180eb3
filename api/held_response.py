# SPDX-License-Identifier: Apache-2.0
"""Body of a response that reserves memory until the server has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vobjects.rpc.byte_budget import Reservation


class HeldResponse:
    """A WSGI body; ``close()`` releases its reserved bytes.

    :param parts: the body
    :param reservation: the bytes that the body occupies
    """

    def __init__(
        self, parts: Iterable[bytes], reservation: Reservation
    ) -> None:
        self._parts = parts
        self._reservation = reservation

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)

    def close(self) -> None:
        """Release the bytes; the server calls this when it has the body."""
        self._reservation.release()
