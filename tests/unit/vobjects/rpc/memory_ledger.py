# SPDX-License-Identifier: Apache-2.0
"""A ledger in memory, without a database and its clock."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable

from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import (
    EXACT_COUNT,
    EXAMPLES,
    HoldOrigin,
    Member,
    Report,
    Unaware,
    View,
    group_members,
)


class MemoryLedger:
    """A :class:`vobjects.rpc.ledger.LedgerStore` in memory.

    :param clock: returns seconds since 1970
    :param monotonic: returns monotonic seconds, which measure ages
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._generation = 0
        self._members: dict[str, Member] = {}
        self._heartbeats: dict[str, float] = {}
        self._held: Manifest | None = None
        self._hold_origin: HoldOrigin | None = None
        self._swept: float | None = None
        #: The view of the current generation, once a process has needed it.
        self._view: View | None = None

    def report(self, member: Member, known: View | None = None) -> Report:
        """Record a heartbeat, and return the view if it has changed."""
        with self._lock:
            previous = self._members.get(member.id)
            self._members[member.id] = member
            now = self._heartbeats[member.id] = self._monotonic()
            has_changed = False
            if previous is None or _key(previous) != _key(member):
                has_changed = self._note_changes(
                    [m for m in (previous, member) if m is not None]
                )
            if self._view is None or self._view.generation != self._generation:
                self._view = self._exact_view()
            is_known = (
                known is not None and known.revision == self._view.revision
            )
            return Report(
                None if is_known else self._view,
                self._clock(),
                has_changed,
                None if self._swept is None else now - self._swept,
            )

    def get(self) -> View:
        """Return the view with exact counts."""
        with self._lock:
            return self._exact_view()

    def members(self, limit: int) -> list[Member]:
        """Return the members with the oldest heartbeats, oldest first."""
        with self._lock:
            members = self._aged_members()
        return sorted(members, key=lambda member: -member.age)[:limit]

    def manifest(self, digest: str) -> Manifest | None:
        """Return the manifest with a digest, if a live member has it."""
        with self._lock:
            for member in self._members.values():
                if member.manifest.digest == digest:
                    return member.manifest
            return None

    def now(self) -> float:
        """Return the time of the clock."""
        return self._clock()

    def is_first(self, member_id: str) -> bool:
        """Return whether a member has the lowest id of its topic."""
        with self._lock:
            member = self._members.get(member_id)
            return member is not None and member_id == min(
                m.id for m in self._members.values() if m.topic == member.topic
            )

    def unaware(self, generation: int, member_id: str) -> Unaware:
        """Return the members that have not seen a generation."""
        with self._lock:
            unaware = [
                member.process
                for member in self._members.values()
                if member.seen < generation and member.id != member_id
            ]
        return Unaware(len(unaware), tuple(unaware[:EXAMPLES]))

    def leave(self, member_id: str) -> bool:
        """Remove a member."""
        with self._lock:
            return self._remove([member_id])

    def expire(self, older_than: float, interval: float = 0.0) -> list[Member]:
        """Remove the members that have not reported for too long."""
        with self._lock:
            now = self._monotonic()
            if self._swept is not None and now - self._swept < interval:
                return []
            self._swept = now
            dead = [m for m in self._aged_members() if m.age > older_than]
            self._remove([member.id for member in dead])
            return dead

    def hold(self, topic: str, owner: str = '', reason: str = '') -> View:
        """Keep the cap of a topic from rising above its current value."""
        with self._lock:
            origin = HoldOrigin(owner, reason, self._clock())
            return self._hold(self._exact_view().cap(topic), origin)

    def finalize(self) -> View:
        """End a hold, so that the cap follows the live members again."""
        with self._lock:
            return self._hold(None, None)

    def _hold(
        self, manifest: Manifest | None, origin: HoldOrigin | None
    ) -> View:
        self._held, self._hold_origin = manifest, origin
        self._generation += 1
        return self._exact_view()

    def _remove(self, member_ids: list[str]) -> bool:
        removed = [
            self._members.pop(id_)
            for id_ in member_ids
            if id_ in self._members
        ]
        for member in removed:
            del self._heartbeats[member.id]
        return self._note_changes(removed)

    def _note_changes(self, changed: list[Member]) -> bool:
        """Increase the generation if a group of these members is small."""
        ids = {member.id for member in changed}
        has_changed = any(
            sum(
                (other.topic, other.manifest)
                == (member.topic, member.manifest)
                and other.id not in ids
                and other.state in (member.state, 'up')
                for other in self._members.values()
            )
            < EXACT_COUNT
            for member in changed
        )
        self._generation += has_changed
        return has_changed

    def _exact_view(self) -> View:
        return View(
            self._generation,
            group_members(self._members.values()),
            self._held,
            hold_origin=self._hold_origin,
        )

    def _aged_members(self) -> tuple[Member, ...]:
        now = self._monotonic()
        return tuple(
            dataclasses.replace(member, age=now - self._heartbeats[id_])
            for id_, member in self._members.items()
        )


def _key(member: Member) -> tuple[str, str, Manifest]:
    return member.topic, member.state, member.manifest
