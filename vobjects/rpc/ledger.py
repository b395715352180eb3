# SPDX-License-Identifier: Apache-2.0
"""The ledger of live processes: a protocol of five methods.

An engine keeps the ledger in its database. An API process has no database and
uses the ledger of an engine (:class:`vobjects.rpc.membership.RemoteLedger`).
"""

from __future__ import annotations

from typing import Protocol

from vobjects.rpc.fleet import Member, View


class Ledger(Protocol):
    """A store for the live members. Every method may be repeated."""

    def report(self, member: Member) -> View:
        """Record a heartbeat and return the whole ledger.

        If the member is new, or its manifest, topic or state differs from the
        record, the generation increases in the same transaction. A view of
        that generation or a later one therefore contains the change.
        """

    def get(self) -> View:
        """Return the whole ledger without recording a heartbeat."""

    def leave(self, member_id: str) -> None:
        """Remove a member, and increase the generation if it was present."""

    def hold(self, topic: str) -> View:
        """Keep the cap of a topic from rising above its current value."""

    def finalize(self) -> View:
        """End a hold: the cap follows the live members again."""
