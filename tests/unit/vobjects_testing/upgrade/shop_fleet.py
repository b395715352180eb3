# SPDX-License-Identifier: Apache-2.0
"""A fleet in memory: two workers share a queue and may have faults."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from vobjects_testing import upgrade
from vobjects_testing.upgrade.runner import OpenFleet

CONFIG = upgrade.PlanConfig(
    processes=(
        upgrade.Process('one', ('1.0', '2.0'), 'worker'),
        upgrade.Process('two', ('1.0', '2.0'), 'worker'),
        upgrade.Process('api', ('1.0', '2.0'), 'api', frozenset()),
    ),
    redeliver=True,
)

Fault = Callable[['Shop', str, str], None]


class Shop(upgrade.Fleet):
    """Handle an order after each step.

    :param fault: called with each action and its process
    """

    def __init__(
        self, fault: Fault = lambda shop, action, process: None
    ) -> None:
        self.up: dict[str, str] = {}
        self.sales: list[str] = []
        self.ordered = self.sold = 0
        self._fault = fault

    def start(self, process: str, release: str) -> None:
        assert process not in self.up
        self.up[process] = release
        self._record('start', f'{process} {release}')

    def stop(self, process: str) -> None:
        del self.up[process]
        self._record('stop', process)

    def kill(self, process: str) -> None:
        del self.up[process]
        self._record('kill', process)

    def pause(self, process: str, seconds: float) -> None:
        assert process in self.up
        self._record('pause', process)

    def redeliver(self, message: int) -> None:
        self._record('redeliver', '')

    def before(self) -> None:
        self._record('before', '')

    def mixed(self) -> None:
        assert {'one', 'two'} & self.up.keys(), 'no worker is up'
        self._sell()
        self._record('mixed', '')

    def after(self) -> None:
        assert set(self.up.values()) == {'2.0'}
        self._record('after', '')

    def invariants(self) -> Mapping[str, Callable[[], None]]:
        return {'every order is sold': self._check}

    def _sell(self) -> None:
        self.ordered += 1
        self.sold += 1

    def _check(self) -> None:
        assert self.sold == self.ordered, f'{self.sold} of {self.ordered}'

    def _record(self, action: str, process: str) -> None:
        self.sales.append(f'{action} {process}'.strip())
        self._fault(self, action, process)


def open_shop(fault: Fault | None = None) -> OpenFleet:
    """Return a function that opens shops with a fault."""

    @contextlib.contextmanager
    def opened() -> Iterator[upgrade.Fleet]:
        yield Shop(fault) if fault else Shop()

    return opened


def loses_when_killed(shop: Shop, action: str, process: str) -> None:
    """Lose the order of a killed worker."""
    if action == 'kill':
        shop.sold -= 1


def sells_twice_after_rollback(shop: Shop, action: str, process: str) -> None:
    """Sell a redelivered order twice after a rollback."""
    newer = [sale for sale in shop.sales if sale.endswith(' 2.0')]
    old = '1.0' in (shop.up.get('one'), shop.up.get('two'))
    if action == 'redeliver' and newer and old:
        shop.sold += 1
