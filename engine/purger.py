# SPDX-License-Identifier: Apache-2.0
"""Delete old actions and events regularly, if configured.

Every engine has a purger, but only the engine that the ledger lists first
deletes. If two engines both consider themselves first for a while, each
deletes a part.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from oslo_config import cfg

from engine import periodic
from engine.db import database, models, purge

LOG = logging.getLogger(__name__)

DAY = 86400.0


class Purger(periodic.Periodic):
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
        super().__init__(
            'purger',
            self._purge_if_first,
            conf.engine.purge_interval,
            'Could not purge',
        )
        # It purges right when it starts.
        self.wake()

    def start(self) -> None:
        """Start the thread, if a retention time is set."""
        if self._conf.action_retention or self._conf.event_retention:
            super().start()

    def purge(self) -> tuple[int, int]:
        """Delete expired actions and events once.

        :returns: the numbers of deleted actions and events
        """
        return (
            self._purge(models.Action, self._conf.action_retention),
            self._purge(models.Event, self._conf.event_retention),
        )

    def _purge(
        self, model: type[models.Action | models.Event], days: float
    ) -> int:
        if not days:
            return 0
        cutoff = purge.cutoff_time(self._database, days * DAY)
        deleted = 0
        for number in purge.delete(self._database, model, cutoff):
            deleted += number
            # Pause, so that other transactions can use the database.
            if self.stopping.wait(self._conf.purge_pause):
                break
        return deleted

    def _purge_if_first(self) -> None:
        if self._is_first():
            deleted = self.purge()
            if any(deleted):
                LOG.info('Purged %d actions and %d events', *deleted)
