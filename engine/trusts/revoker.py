# SPDX-License-Identifier: Apache-2.0
"""Revoke unused credentials in the background.

It runs in a separate thread, because Keystone may be slow. Only the first
engine in the ledger does it. If two engines do it at the same time, no harm is
done.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from engine.db import database
from engine.trusts import keystone, receiver_credentials

LOG = logging.getLogger(__name__)


class Revoker:
    """Periodically revokes unused credentials in a thread.

    :param interval: seconds between two runs
    :param is_first: tells whether this engine does it
    """

    def __init__(
        self,
        trusts: receiver_credentials.TrustManager,
        interval: float,
        is_first: Callable[[], bool],
    ) -> None:
        self._trusts = trusts
        self._interval = interval
        self._is_first = is_first
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name='revoker', daemon=True
        )

    def start(self) -> None:
        """Start the thread, if an account is configured."""
        if self._trusts.is_enabled:
            self._thread.start()

    def stop(self) -> None:
        """Stop after the current run."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _loop(self) -> None:
        while not self._stopping.wait(self._interval):
            try:
                if self._is_first():
                    self._trusts.revoke_unused()
            except keystone.KeystoneUnavailable as error:
                LOG.warning('Could not revoke credentials: %s', error)
            except Exception as error:  # noqa: BLE001 - it is logged
                database.log_failure(
                    LOG, error, 'Could not revoke credentials'
                )
