# SPDX-License-Identifier: Apache-2.0
"""Delete old actions and events regularly, if configured.

Every engine has a purger, but only the engine that the ledger lists first
deletes. If two engines both consider themselves first for a while, each
deletes a part.
"""

from __future__ import annotations

import datetime
import logging
import threading
from collections.abc import Callable, Iterator

from oslo_config import cfg

from engine.db import database, purge

LOG = logging.getLogger(__name__)

DAY = 86400.0


class Purger:
    """Delete actions and events past their retention time.

    :param is_first: returns whether this engine is the one to delete
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        target: database.Database,
        is_first: Callable[[], bool],
    ) -> None:
        self._conf = conf.engine
        self._database = target
        self._is_first = is_first
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name='purger', daemon=True
        )

    def start(self) -> None:
        """Start the thread, if a retention time is set."""
        if self._conf.action_retention or self._conf.event_retention:
            self._thread.start()

    def stop(self) -> None:
        """Stop after the current batch."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def purge(self) -> tuple[int, int]:
        """Delete expired actions and events once.

        :returns: the numbers of deleted actions and events
        """
        return (
            self._purge(purge.delete_actions, self._conf.action_retention),
            self._purge(purge.delete_events, self._conf.event_retention),
        )

    def _purge(
        self,
        delete_batches: Callable[
            [database.Database, datetime.datetime], Iterator[int]
        ],
        days: float,
    ) -> int:
        if not days:
            return 0
        cutoff = purge.cutoff_time(self._database, days * DAY)
        deleted = 0
        for number in delete_batches(self._database, cutoff):
            deleted += number
            # Pause, so that other transactions can use the database.
            if self._stopping.wait(self._conf.purge_pause):
                break
        return deleted

    def _loop(self) -> None:
        while True:
            try:
                if self._is_first():
                    deleted = self.purge()
                    if any(deleted):
                        LOG.info('Purged %d actions and %d events', *deleted)
            except Exception as error:  # noqa: BLE001 - reported
                database.log_failure(LOG, error, 'Could not purge')
            if self._stopping.wait(self._conf.purge_interval):
                return
