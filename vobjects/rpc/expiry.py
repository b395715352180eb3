# SPDX-License-Identifier: Apache-2.0
"""Remove dead members from the ledger.

Every server process does this, so that a killed process neither keeps the cap
low nor delays joining processes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from vobjects import exceptions
from vobjects.rpc.fleet import BEATS_PER_PERIOD, DEAD_AFTER_PERIODS, Member
from vobjects.rpc.ledger import LedgerStore
from vobjects.rpc.membership import Membership
from vobjects.rpc.suspend_detector import SuspendDetector

LOG = logging.getLogger(__name__)


class Expiry:
    """Remove the members that no longer send heartbeats.

    The last view of this process tells whether a member may be dead, so a
    sweep of a healthy fleet does not read the ledger.

    :param ledger: the ledger
    :param membership: the membership of this process
    :param announce: called after a sweep removed members
    :param on_expired: called with the members that a sweep removed, in the
        thread of the sweeps
    """

    def __init__(
        self,
        ledger: LedgerStore,
        membership: Membership,
        *,
        announce: Callable[[], None] = lambda: None,
        on_expired: Callable[[list[Member]], None] = lambda members: None,
    ) -> None:
        self._ledger = ledger
        self._membership = membership
        self._announce = announce
        self._on_expired = on_expired
        period = membership.period
        self._dead_after = period * DEAD_AFTER_PERIODS
        self._interval = period / BEATS_PER_PERIOD
        self._suspend_detector = SuspendDetector(
            longest_pause=period, memory=period
        )
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name='fleet-expiry', daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current sweep."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def sweep(self) -> list[Member]:
        """Remove the dead members once.

        :returns: the members that this call removed
        :raises vobjects.exceptions.Unreachable: the ledger does not respond
        """
        age = self._membership.age
        allowed = self._dead_after + self._suspend_detector.allowed_silence(
            age
        )
        view = self._membership.view
        # No member is silent for longer than in the view, plus its age.
        if view is None or not any(
            member.age + age > allowed for member in view.members
        ):
            return []
        dead = self._ledger.expire(allowed)
        for member in dead:
            LOG.warning('%s died: no heartbeat', member.label)
        if dead:
            self._announce()
            self._on_expired(dead)
        return dead

    def _loop(self) -> None:
        while not self._stopping.wait(self._interval):
            try:
                self.sweep()
            except (exceptions.FleetError, exceptions.Unreachable) as error:
                # The heartbeat logs it.
                LOG.debug('Could not look for dead members: %s', error)
            except Exception:
                LOG.exception('Could not look for dead members')
