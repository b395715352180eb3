# SPDX-License-Identifier: Apache-2.0
"""A ledger in memory, for tests.

Server processes of one Python process share it; client processes use it over
RPC, as they use any ledger.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable

from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import Member, View


class MemoryLedger:
    """A :class:`vobjects.rpc.ledger.LedgerStore` in memory.

    :param clock: returns seconds since 1970
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._generation = 0
        self._members: dict[str, Member] = {}
        self._heartbeats: dict[str, float] = {}
        self._held: Manifest | None = None

    def report(self, member: Member) -> View:
        """Record a heartbeat and return the whole ledger."""
        with self._lock:
            known = self._members.get(member.id)
            if known is None or _identity(known) != _identity(member):
                self._generation += 1
            self._members[member.id] = member
            self._heartbeats[member.id] = self._clock()
            return self._view()

    def get(self) -> View:
        """Return the whole ledger."""
        with self._lock:
            return self._view()

    def leave(self, member_id: str) -> None:
        """Remove a member, and increment the generation if it existed."""
        with self._lock:
            self._remove(member_id)

    def expire(self, older_than: float) -> list[Member]:
        """Remove the members that have not reported for too long.

        :param older_than: seconds
        :returns: the members that this call removed
        """
        with self._lock:
            dead = [m for m in self._view().members if m.age > older_than]
            for member in dead:
                self._remove(member.id)
            return dead

    def hold(self, topic: str) -> View:
        """Keep the cap of a topic from rising above its current value."""
        with self._lock:
            return self._hold(self._view().cap(topic))

    def finalize(self) -> View:
        """End a hold, so that the cap follows the live members again."""
        with self._lock:
            return self._hold(None)

    def _hold(self, manifest: Manifest | None) -> View:
        self._held = manifest
        self._generation += 1
        return self._view()

    def _remove(self, member_id: str) -> None:
        if self._members.pop(member_id, None) is not None:
            del self._heartbeats[member_id]
            self._generation += 1

    def _view(self) -> View:
        now = self._clock()
        members = tuple(
            dataclasses.replace(
                member, age=max(0.0, now - self._heartbeats[id_])
            )
            for id_, member in self._members.items()
        )
        return View(self._generation, members, self._held, now=now)


def _identity(member: Member) -> tuple[str, str, Manifest]:
    return member.topic, member.state, member.manifest
