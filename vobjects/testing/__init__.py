# SPDX-License-Identifier: Apache-2.0
"""Tools for testing versioned types.

::

    emulation.py   `emulate`: use the versions of an older release
    peers.py       an old peer, built from the lock alone
    laws.py        invariants of every type at every locked version
    matrix.py      every microversion with every release
    versus.py      transfers objects between two installed releases
    exchange.py    one side of a transfer, in its own environment
    page.py        the matrix as an HTML page
    upgrade/       upgrade plans: drawn, run and shrunk
    plugin.py      the pytest plugin: the fixture `vobjects_invariants`
    plans.py       its fixture `vobjects_upgrade`
    promises.py    checks responses against the contract
    strategies.py  hypothesis strategies of instances
    comparing.py   the differences between an object and expected values
    versions.py    `set_version`: the microversion of a test client
    api_sig.py     the documents of the API-SIG guidelines
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vobjects.testing.emulation import emulate

__all__ = ['emulate']


def __getattr__(name: str) -> Any:
    # Imported late: pytest loads this package for its plugin, in every
    # project.
    if name == 'emulate':
        from vobjects.testing.emulation import emulate

        return emulate
    raise AttributeError(name)
