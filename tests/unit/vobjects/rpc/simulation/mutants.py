# SPDX-License-Identifier: Apache-2.0
"""Weaker variants of the protocol: a row replaces a line of a function."""

from __future__ import annotations

import contextlib
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest import mock

from vobjects.rpc import (
    client,
    expiry,
    fleet,
    join_barrier,
    membership,
    serializer,
)
from vobjects_sql.ledger.statements import LedgerStatements
from vobjects_sql.ledger.step_detector import StepDetector


class Mutant(NamedTuple):
    """A weaker variant.

    :ivar owner: the module or class that has the function
    :ivar old: text of the function, replaced by ``new``
    :ivar schedule: seed of the first schedule that violates an invariant
    :ivar in_sql: whether only a ledger in SQL has it
    """

    owner: Any
    function: str
    old: str
    new: str
    schedule: int
    in_sql: bool = False

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Replace the function in a block."""
        function = inspect.getattr_static(self.owner, self.function)
        source = textwrap.dedent(inspect.getsource(function))
        assert self.old in source, f'{self.function} lacks {self.old}'
        namespace: dict[str, Any] = {}
        code = 'from __future__ import annotations\n' + source.replace(
            self.old, self.new
        )
        exec(code, function.__globals__, namespace)
        with mock.patch.object(
            self.owner, self.function, namespace[self.function]
        ):
            yield


_Membership = membership.Membership
_Server = join_barrier.ServerMembership

MUTANTS = {
    'lease from the response': Mutant(
        _Membership, 'refresh', 'd = start\n', 'd = self._monotonic()\n', 0
    ),
    'endless lease': Mutant(
        _Membership, '_leased_view', 'is_valid = self.age', 'is_valid = 0', 51
    ),
    'no barrier': Mutant(
        _Server, 'join', 'self._lowers_cap(view)', 'False', 0
    ),
    'barrier ends early': Mutant(
        _Server, '_wait_at_barrier', 'LONGEST_LEASE_PERIODS', '0.5', 49
    ),
    'endless barrier': Mutant(
        _Server, '_wait_at_barrier', '- start >= lease', '< 0', 37
    ),
    'barrier trusts joining servers': Mutant(
        _Server, '_lowers_cap', "if group.state == 'up'", 'if True', 0
    ),
    'cap of servers that are up': Mutant(
        fleet.View,
        'cap',
        'self.servers(topic)]',
        "self.servers(topic) if group.state == 'up']",
        0,
    ),
    'hold ignored': Mutant(
        fleet.View, 'limited', 'self.held, ', 'None, ', 189
    ),
    'dead after one period': Mutant(
        expiry.Expiry, 'sweep', 'self._dead_after', '0.7', 1
    ),
    'steps of the clock ignored': Mutant(
        StepDetector, 'is_steady', 'return', 'return True or', 6, in_sql=True
    ),
    'steps of the clock not told': Mutant(
        StepDetector, 'untold', 'return', 'return None and', 267, in_sql=True
    ),
    'repeated call has a new id': Mutant(
        client.Client,
        '_call',
        'lost = self._get_view(), error',
        'lost, reader["call"] = self._get_view(), error, uuid.uuid4().hex',
        0,
    ),
    'generation without token': Mutant(
        LedgerStatements,
        'report',
        'known.revision == revision',
        'known.generation == pulse.generation',
        52,
        in_sql=True,
    ),
    'capable servers not addressed': Mutant(
        client.Client, '_write', 'server=chosen.digest', 'server=None', 0
    ),
    'joining servers addressed': Mutant(
        fleet.View, 'capable', "group.state == 'up'", 'True', 33
    ),
    'no barrier before a server stops': Mutant(
        _Server, 'withdraw', 'and is_last', 'and False', 233
    ),
    'server reads newer versions': Mutant(
        serializer, 'check_supported', '> newest', '> Version(9, 9)', 54
    ),
}
