# SPDX-License-Identifier: Apache-2.0
"""Revokes, in the background, what receivers that are gone have left.

A thread of its own: Keystone may take its time. One engine of all does it,
that which the ledger names first; should two, a trust ends once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from engine.db import database
from engine.delegations import base, trusts

LOG = logging.getLogger(__name__)


class Revoker:
    """Looks from time to time, and when it is told that there is something.

    :param interval: seconds
    :param is_first: tells whether it is this engine's turn
    """

    def __init__(
        self,
        delegations: base.Delegations,
        interval: float,
        is_first: Callable[[], bool],
    ) -> None:
        self._delegations = delegations
        self._interval = interval
        self._is_first = is_first
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name='revoker', daemon=True
        )

    def start(self) -> None:
        """Begin, if there is something to do at all."""
        if self._delegations.are_made:
            self._thread.start()

    def stop(self) -> None:
        """Stop after the look under way."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _loop(self) -> None:
        while not self._stopping.wait(self._interval):
            try:
                if self._is_first():
                    self._delegations.revoke_left()
            except trusts.Silent as error:
                LOG.warning('Could not revoke credentials: %s', error)
            except Exception as error:  # noqa: BLE001 - it is told
                database.report(LOG, error, 'Could not revoke credentials')
