# SPDX-License-Identifier: Apache-2.0
"""What tests of versioned types need.

::

    emulation.py   `emulate`: speak as an older release did
    peers.py       an old peer, built from the lock alone
    laws.py        what must hold of every type at every locked version
    matrix.py      every microversion with every release
    versus.py      two installed releases of a service send to each other
    exchange.py    one side of that, in its own environment
    page.py        the matrix as a page
    upgrade/       plans of upgrades, drawn, run and shrunk
    plugin.py      the pytest plugin: the fixture `vobjects_laws`
    plans.py       its fixture `vobjects_upgrade`
    promises.py    a registry of what is promised at each microversion
    strategies.py  hypothesis strategies of instances
    comparing.py   in what an object differs from what was expected
    api_sig.py     the documents of the API-SIG guidelines
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vobjects.testing.emulation import emulate

__all__ = ['emulate']


def __getattr__(name: str) -> Any:
    # Late: pytest loads this package for its plugin, in every project.
    if name == 'emulate':
        from vobjects.testing.emulation import emulate

        return emulate
    raise AttributeError(name)
