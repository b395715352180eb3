# SPDX-License-Identifier: Apache-2.0
"""Join the fleet as a server, behind a barrier.

A server that would lower the cap of the servers that are ``up`` first reports
itself as ``joining``. It starts to consume when every other live process has
seen the generation that contains it, or when their leases have expired. While
it consumes, nothing is therefore sent above the new cap. It rejects messages
that were sent just before, and their senders send them again
(:mod:`vobjects.rpc.client`).

Senders address a call to the servers of one manifest while the ledger lists
one that is ``up``: from the time at which it consumes, to the time at which it
begins to stop. The last of them passes the same barrier before it stops.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from typing import Any

from vobjects import exceptions
from vobjects.objects.manifest import minimum
from vobjects.rpc.fleet import (
    DRAINING,
    LONGEST_LEASE_PERIODS,
    Member,
    State,
    View,
    supports,
)
from vobjects.rpc.ledger import LedgerStore
from vobjects.rpc.membership import Membership

LOG = logging.getLogger(__name__)

#: Seconds between looks at the ledger during the join barrier.
BARRIER_INTERVAL = 0.1


class ServerMembership(Membership):
    """The membership of a server.

    :param member: the member that this process reports
    :param ledger: the ledger to report to
    :param options: see :class:`vobjects.rpc.membership.Membership`
    """

    def __init__(
        self, member: Member, ledger: LedgerStore, **options: Any
    ) -> None:
        super().__init__(member, ledger, **options)
        self._store = ledger

    def join(
        self,
        wait: Callable[[float], Any] | None = None,
        *,
        consume: Callable[[], None] = lambda: None,
    ) -> None:
        """Pass the join barrier, consume, and change the state to ``up``.

        Call it after ``start()``.

        :param wait: sleeps for a number of seconds; a true result aborts
        :param consume: starts to consume messages
        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond;
            during the barrier, it may fail for up to the longest lease
        """
        wait = wait or self._stopping.wait
        absence = self._last_absence
        view = self.refresh()
        self._announce_changes()
        must_wait, is_consuming = self._lowers_cap(view), False
        generation: int | None = view.generation
        while True:
            if must_wait:
                absence = self._wait_at_barrier(generation, wait)
            if self._stopping.is_set():
                return
            if not is_consuming:
                consume()
                is_consuming = True
            self._report_state('up')
            if absence == self._last_absence:
                return
            # The ledger may have removed this process before it received the
            # report. Senders then ignored its versions, and servers that had
            # the same cap may have left.
            self._set_state('joining')
            must_wait, generation = True, None

    def withdraw(self, wait: Callable[[float], Any] | None = None) -> None:
        """Let no sender address a call to this server's manifest any more.

        Call it before you stop consuming. It waits, if no other server has the
        manifest, until all senders know.

        :param wait: see :meth:`join`
        """
        member = self.member
        if member.state != 'up':
            return
        known = self.view
        is_readable = known is not None and _can_read_draining(known)
        view = self._report_state('draining' if is_readable else 'joining')
        is_last = view is not None and not any(
            group.manifest == member.manifest and group.state == 'up'
            for group in view.servers(member.topic)
        )
        if view is not None and is_last:
            try:
                self._wait_at_barrier(
                    view.generation, wait or self._stopping.wait
                )
            except (exceptions.FleetError, exceptions.Unreachable) as error:
                LOG.warning('Stopping without a barrier: %s', error.message)

    def refresh(self) -> View:
        """Report to the ledger now; see the base class."""
        view = super().refresh()
        if self.member.state == 'draining' and not _can_read_draining(view):
            # An older process has started since; the next heartbeat tells it.
            self._set_state('joining')
        return view

    def _report_state(self, state: State) -> View | None:
        """Report a new state; without the ledger, the next heartbeat does."""
        self._set_state(state)
        view = None
        try:
            view = self.refresh()
        except (exceptions.FleetError, exceptions.Unreachable) as error:
            LOG.warning('The fleet is out of reach: %s', error.message)
        self._announce_changes()
        return view

    def _set_state(self, state: State) -> None:
        with self._refreshing:
            self.member = dataclasses.replace(self.member, state=state)

    def _lowers_cap(self, view: View) -> bool:
        """Return whether senders may use more than this server supports.

        Senders may not know yet what servers that are joining support, nor
        that a hold has begun.
        """
        up = [
            group.manifest
            for group in view.servers(self.member.topic)
            if group.state == 'up'
        ]
        own = self.member.manifest
        return bool(up) and minimum(up) != minimum([*up, own])

    def _wait_at_barrier(
        self, generation: int | None, wait: Callable[[float], Any]
    ) -> float:
        """Wait until all senders know what this process has reported.

        :param generation: the generation that contains this process; None:
            that of a new report
        :returns: the instant of the last absence before the wait
        :raises vobjects.exceptions.NoLivePeer: the ledger has not responded
            for the longest lease
        """
        start = responded = self._monotonic()
        lease = self.period * LONGEST_LEASE_PERIODS
        absence = self._last_absence
        while True:
            try:
                if generation is None or absence != self._last_absence:
                    # The ledger may have removed this process as dead. Senders
                    # then ignore its versions, so the wait starts over.
                    generation = self.refresh().generation
                    start = self._monotonic()
                    absence = self._last_absence
                unaware = self._store.unaware(generation, self.member.id)
                responded = self._monotonic()
                if not unaware.count or responded - start >= lease:
                    # Detect an absence that no heartbeat has detected yet.
                    self.refresh()
                    if absence == self._last_absence:
                        return absence
                    continue
            except (exceptions.FleetError, exceptions.Unreachable) as error:
                if self._monotonic() - responded >= lease:
                    raise
                LOG.warning('Cannot join the fleet yet: %s', error.message)
                generation = None
            else:
                LOG.info(
                    'Waiting for %d processes to learn about %s: %s%s',
                    unaware.count,
                    self.member.label,
                    ', '.join(process.label for process in unaware.examples),
                    ', ...' * (unaware.count > len(unaware.examples)),
                )
            if wait(BARRIER_INTERVAL):
                return absence


def _can_read_draining(view: View) -> bool:
    """Return whether all processes can read the state ``draining``.

    The servers of an earlier release, on any topic, fail to read it.
    """
    return all(supports(group.manifest, DRAINING) for group in view.groups)
