# SPDX-License-Identifier: Apache-2.0
"""A shop in memory: two workers share a queue, and may have their faults."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from vobjects.testing import upgrade

CONFIG = upgrade.PlanConfig(
    processes=(
        upgrade.Process('one', ('1.0', '2.0'), 'worker'),
        upgrade.Process('two', ('1.0', '2.0'), 'worker'),
        upgrade.Process('door', ('1.0', '2.0'), 'door', frozenset()),
    ),
    redeliver=True,
)

Fault = Callable[['Shop', str, str], None]


class Shop(upgrade.Fleet):
    """Sells a thing after each step.

    :param fault: called with each thing that is done, and to whom
    """

    def __init__(self, fault: Fault = lambda shop, what, whom: None) -> None:
        self.up: dict[str, str] = {}
        self.done: list[str] = []
        self.asked = self.sold = 0
        self._fault = fault

    def start(self, process: str, release: str) -> None:
        assert process not in self.up
        self.up[process] = release
        self._do('start', f'{process} {release}')

    def stop(self, process: str) -> None:
        del self.up[process]
        self._do('stop', process)

    def kill(self, process: str) -> None:
        del self.up[process]
        self._do('kill', process)

    def pause(self, process: str, seconds: float) -> None:
        assert process in self.up
        self._do('pause', process)

    def redeliver(self, which: int) -> None:
        self._do('redeliver', '')

    def before(self) -> None:
        self._do('before', '')

    def mixed(self) -> None:
        assert {'one', 'two'} & self.up.keys(), 'nobody works'
        self._sell()
        self._do('mixed', '')

    def after(self) -> None:
        assert set(self.up.values()) == {'2.0'}
        self._do('after', '')

    def invariants(self) -> Mapping[str, Callable[[], None]]:
        return {'everything asked for is sold': self._check}

    def _sell(self) -> None:
        self.asked += 1
        self.sold += 1

    def _check(self) -> None:
        assert self.sold == self.asked, f'{self.sold} of {self.asked}'

    def _do(self, what: str, whom: str) -> None:
        self.done.append(f'{what} {whom}'.strip())
        self._fault(self, what, whom)


def open_shop(fault: Fault | None = None) -> upgrade.OpenFleet:
    """Return what opens shops that have a fault."""

    @contextlib.contextmanager
    def opened() -> Iterator[upgrade.Fleet]:
        yield Shop(fault) if fault else Shop()

    return opened


def loses_when_killed(shop: Shop, what: str, whom: str) -> None:
    """Lose what a worker had in its hands when it was killed."""
    if what == 'kill':
        shop.sold -= 1


def sells_twice_after_rollback(shop: Shop, what: str, whom: str) -> None:
    """Take a message for a new one, where there was a newer release."""
    ran = [done for done in shop.done if done.endswith(' 2.0')]
    old = '1.0' in (shop.up.get('one'), shop.up.get('two'))
    if what == 'redeliver' and ran and old:
        shop.sold += 1
