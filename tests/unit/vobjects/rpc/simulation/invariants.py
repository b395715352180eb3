# SPDX-License-Identifier: Apache-2.0
"""The guarantees of doc/source/protocol.rst, checked after each event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vobjects.rpc.fleet import LONGEST_LEASE_PERIODS

if TYPE_CHECKING:
    from tests.unit.vobjects.rpc.simulation.fleet import (
        Fleet,
        Message,
        Sender,
        Server,
    )

#: Longest lease, in periods. Not the constant of the code: a longer lease
#: would be an error.
LEASE = 1.5

#: The lease in virtual time, if the clock of the sender is slow.
LEASE_BOUND = LEASE / 0.99 + 0.001

#: Silence for which the ledger keeps a member, in seconds of virtual time.
KEPT = 1.5 * 0.98

#: The longest join barrier without failures, in seconds of virtual time: the
#: longest lease, a few responses of the ledger, and requests in between.
BARRIER_BOUND = LONGEST_LEASE_PERIODS / 0.99 + 1.0

#: Values of the fields that a client does not specify.
DEFAULTS = {'force': False, 'level': 0}

#: Versions in which the fields were added.
_ADDED = {'force': 1, 'level': 2}


class Violation(AssertionError):
    """A schedule violates an invariant."""


class Invariants:
    """What the guarantees of one schedule depend on."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._kernel = fleet.kernel
        #: Name of a request -> values that the client specified.
        self._requested: dict[str, dict[str, Any]] = {}
        self._executed: set[str] = set()
        #: Id of a server -> time since which the ledger lists it.
        self._listed: dict[str, float] = {}
        #: Servers that consume and have not passed a join barrier since they
        #: were listed -> the time; senders know them only after a lease.
        self._exempt: dict[str, float] = {}
        self._held: tuple[int | None, float] = None, 0.0
        self._failover = float('-inf')
        #: Id of a process -> time of its last report.
        self._reported: dict[str, float] = {}
        #: Lowest version that a listed server supports, or that is held.
        self._lowest = 99
        #: Digest of a manifest -> its servers that no longer consume although
        #: senders may not know, and the time at which the last was unlisted.
        self._missing: dict[str, set[str]] = {}
        self._unlisted: dict[str, float] = {}
        #: A violation that the code may have caught.
        self._violation: Violation | None = None
        self.executed = 0

    # Events

    def note_requested(self, name: str, values: dict[str, Any]) -> None:
        """Note a request of a client."""
        self._requested[name] = values

    def note_sent(self, sender: Sender, message: Message) -> None:
        """Check the version and the target of a message of a client."""
        if message.minor is None:
            return
        if message.target:
            self._check_held(sender, message.minor, 'sends')
            self._check_target(sender, message)
        else:
            self._check_version(sender, message.minor, 'sends')

    def note_missing(self, server: Server) -> None:
        """Note that a server stops without a barrier."""
        self._missing.setdefault(server.digest, set()).add(server.name)
        self._unlisted[server.digest] = self._kernel.now

    def note_executed(
        self, server: Server, name: str, values: dict[str, Any], minor: int
    ) -> None:
        """Check a request that a server executes."""
        self._kernel.log(f'{server.name} executes {name} 1.{minor}')
        if minor > server.release:
            self._fail(f'{server.name} executes {name} in 1.{minor}')
        if values != {**DEFAULTS, **self._requested[name]}:
            self._fail(f'{server.name} executes {name} with {values}')
        for field, value in values.items():
            if value != DEFAULTS[field] and _ADDED[field] > server.release:
                self._fail(f'{server.name} executes {name} with {field}')
        if name in self._executed:
            self._fail(f'{server.name} executes {name} again')
        self._executed.add(name)
        self.executed += 1

    def note_response(self, name: str, response: str) -> None:
        """Check the response that a client receives."""
        if name not in self._executed or response != name:
            self._fail(f'{name} receives the response to {response}')

    def note_joined(self, server: Server) -> None:
        """Note that a server begins to consume.

        Without a server that is up there is no barrier. After a failover,
        senders may believe that they have seen later generations. A server
        does not wait after an older one without a barrier.
        """
        now = self._kernel.now
        for name, since in self._exempt.items():
            older = self._fleet.servers[name].release <= server.release
            if older and now - since < LEASE_BOUND:
                self._exempt[server.name] = since
                return
        listed = self._listed.get(server.name)
        if (
            listed is None
            or server.saw_no_server
            or server.paused
            or now - self._failover < 2 * LEASE_BOUND
        ):
            self._exempt[server.name] = now

    def note_report(self, name: str) -> None:
        """Note that the ledger has recorded a heartbeat."""
        self._reported[name] = self._kernel.now

    def note_failover(self) -> None:
        """Note that the ledger has lost its last commits."""
        self._failover = self._kernel.now
        self._reported.clear()
        self._listed.clear()
        self._held = None, self._kernel.now

    def note_ledger(self, states: dict[str, str], held: int | None) -> None:
        """Note the content of the ledger after a change.

        :param states: ID -> state of each process
        :param held: version at which a hold keeps the cap
        """
        servers = {
            name: state
            for name, state in states.items()
            if name in self._fleet.servers
        }
        for name in sorted(self._listed.keys() - servers.keys()):
            del self._listed[name]
            self._unlisted[self._fleet.servers[name].digest] = self._kernel.now
            self._kernel.log(f'the ledger lists {name} no longer')
            self._check_removal(name)
        for name in sorted(servers.keys() - self._listed.keys()):
            self._listed[name] = self._kernel.now
            self._kernel.log(f'the ledger lists {name}')
            # Also one that stops, and has been silent for too long.
            is_consuming = self._fleet.servers[name].is_consuming
            if servers[name] == 'up' or is_consuming:
                self._exempt[name] = self._kernel.now
        if held != self._held[0]:
            self._held = held, self._kernel.now
        self._lowest = min(
            [self._fleet.servers[name].release for name in servers],
            default=99,
        )
        if held is not None:
            self._lowest = min(self._lowest, held)

    # Checks

    def check(self) -> None:
        """Check the views of all senders, and the join barriers."""
        if self._violation is not None:
            raise self._violation
        for sender in self._fleet.senders.values():
            cap = sender.cap
            if (
                cap is not None
                and cap > self._lowest
                and sender.process.is_alive
                and sender.membership.age < LEASE
            ):
                self._check_version(
                    sender, min(cap, sender.release), 'may send'
                )
        now = self._kernel.now
        for server in self._fleet.servers.values():
            deadline = server.join_deadline
            if (
                deadline
                and now > deadline
                and now > deadline + server.delays()
            ):
                self._fail(f'{server.name} waits at the join barrier')

    def check_end(self) -> None:
        """Check that the fleet has recovered from all faults."""
        alive = [s for s in self._fleet.servers.values() if s.process.is_alive]
        for server in alive:
            if not server.is_consuming:
                self._fail(f'{server.name} has not joined')
        for sender in self._fleet.senders.values():
            if not (alive and sender.process.is_alive):
                continue
            cap = sender.cap if sender.membership.age < LEASE else None
            limits = [server.release for server in alive]
            if self._held[0] is not None:
                limits.append(self._held[0])
            if cap != min(limits):
                self._fail(
                    f'{sender.name} has cap {cap} instead of {min(limits)}'
                )
            best = max(server.release for server in alive)
            if self._held[0] is None and sender.capable != best:
                self._fail(
                    f'{sender.name} may send at most 1.{sender.capable} to'
                    f' capable servers instead of 1.{best}'
                )

    def _check_removal(self, name: str) -> None:
        """Check that a server has left, or was silent for too long."""
        now = self._kernel.now
        if (
            self._fleet.servers[name].is_consuming
            and now - self._reported.get(name, float('-inf')) < KEPT
        ):
            self._violation = Violation(
                f'the ledger removes {name}, which reported'
                f' {now - self._reported[name]:.3f} s ago'
            )

    def _check_version(self, sender: Sender, minor: int, verb: str) -> None:
        now = self._kernel.now
        for name, since in self._listed.items():
            server = self._fleet.servers[name]
            if server.release < minor and (
                now - since > LEASE_BOUND
                or (server.is_consuming and name not in self._exempt)
            ):
                self._fail(
                    f'{sender.name} {verb} 1.{minor}, but {name} supports'
                    f' 1.{server.release}'
                )
        self._check_held(sender, minor, verb)

    def _check_held(self, sender: Sender, minor: int, verb: str) -> None:
        held, since = self._held
        is_known = self._kernel.now - since > LEASE_BOUND
        if held is not None and held < minor and is_known:
            self._fail(f'{sender.name} {verb} 1.{minor} despite a hold')

    def _check_target(self, sender: Sender, message: Message) -> None:
        """Check that a server receives what is sent to servers like it."""
        digest, missing = message.target, self._missing.get(message.target)
        unlisted = self._unlisted.get(digest, float('-inf'))
        is_excused = missing and (
            not missing.isdisjoint(self._listed)
            or self._kernel.now - unlisted < LEASE_BOUND
        )
        if (
            not is_excused
            and self._kernel.now - self._failover > 2 * LEASE_BOUND
            and not any(
                server.is_consuming and server.digest == digest
                for server in self._fleet.servers.values()
            )
        ):
            self._fail(f'{sender.name} sends 1.{message.minor} to no server')

    def _fail(self, text: str) -> None:
        raise Violation(text)
