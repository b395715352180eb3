# SPDX-License-Identifier: Apache-2.0
"""Where the live processes are recorded: a protocol of five methods.

An engine keeps the ledger in its database; an API process, which has none,
asks an engine (:class:`vobjects.rpc.membership.RemoteLedger`).
"""

from __future__ import annotations

from typing import Protocol

from vobjects.rpc.fleet import Member, View


class Ledger(Protocol):
    """What keeps the record. Every method is safe to repeat."""

    def report(self, member: Member) -> View:
        """Record a heartbeat and return the whole ledger.

        A member that is new, or whose manifest, topic or state differs from
        the record, raises the generation in the same transaction; so a view
        of that generation or a later one contains the change.
        """

    def get(self) -> View:
        """Return the whole ledger, and record nothing."""

    def leave(self, member_id: str) -> None:
        """Forget a member and raise the generation, if it was there."""

    def hold(self, topic: str) -> View:
        """Keep the cap of a topic from rising above what it is now."""

    def finalize(self) -> View:
        """End a hold: the cap follows the live members again."""
